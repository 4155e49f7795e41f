/**
 * Says what a reply is about: who or what words such as "unknown", "not found" or "disabled" are said of.
 * They blame the recipient only in a clause that names it and has no other word that is not known.
 */
import { type Clause, clausesOf, type EnvelopeFacts, NO_FACTS } from './clauses.ts'
import { closedScriptFinding } from './closed-scripts.ts'
import {
  AGAIN,
  type Assertion,
  CHECKED,
  HARMLESS,
  LOOKED_UP_BY_SMTP,
  PASSING,
  PREDICATES,
} from './predicates.ts'
import { type Finding, MARKS, type Role, roleOf } from './roles.ts'

export type Findings = ReadonlySet<Finding>

/**
 * The first of these that a clause names is what it is about. A word without a role is `other`: a clause
 * that is not understood as a whole blames nobody.
 */
const ORDER: readonly Role[] = ['sender', 'host', 'content', 'other', 'domain', 'recipient']

/** Returns all that the clauses of a text say. */
export function findingsIn(text: string, facts: EnvelopeFacts = NO_FACTS): Findings {
  const clauses = clausesOf(text, facts)
  const found = new Set<Finding>()
  let heading: Role | undefined
  let isOfOurAddress = false
  for (const { text: clause, announces, asks } of clauses) {
    const closed = closedScriptFinding(clause)
    if (closed) found.add(closed)
    isOfOurAddress ||= isOurAddressLookedUp(clause)
    const { claims, party, words } = readClause(clause)
    const finding = findingOf(claims, party ?? (heading === 'host' ? undefined : heading), heading, words)
    if (finding && !asks) found.add(isOfOurAddress && isSaidOfMailbox(finding, clause) ? 'sender' : finding)
    heading = announces && (asks || ![...claims].some(saysWhat)) ? headingOf(party, words, clause) : undefined
  }
  if (isPassing(clauses)) found.add('passing')
  return found
}

/** Tells whether a host has looked up an address of ours: what it found there follows. */
function isOurAddressLookedUp(clause: string): boolean {
  return clause.split(' ').includes(MARKS.ours) && has(LOOKED_UP_BY_SMTP, clause)
}

/** Tells whether a clause says that a mailbox is absent, and does not name the recipient's. */
function isSaidOfMailbox(finding: Finding, clause: string): boolean {
  const isOfMailbox = finding === 'recipient-absent' || finding === 'recipient-gone'
  return isOfMailbox && !clause.split(' ').includes(MARKS.recipient)
}

function isPassing(clauses: readonly Clause[]): boolean {
  const text = clauses.map(clause => clause.text).join(' ; ')
  return has(PASSING, text) || (has(AGAIN, text) && !has(CHECKED, text))
}

function has(words: RegExp, text: string): boolean {
  words.lastIndex = 0
  return words.test(text)
}

/** Stands where a claim stood. */
const CLAIM = '#'
/** Prepositions behind which a place, a time or a reason follows. */
const ADJUNCT =
  /^(?:@here|in|on|at|by|due|because|since|after|under|as|within|without|im|am|auf|bei|wegen|durch|infolge|aufgrund|nach|seit|dans|sur|chez|par|depuis|suite|apres|en|por|desde|tras|debido|nel|nei|nella|presso|dal|da|dopo|per|em|no|na|nos|nas|pelo|pela|desde|bij|op|door|sinds|wegens|на|в|по|с|w|przez|od|po)$/u
const PARTIES: ReadonlySet<Role | undefined> = new Set(['sender', 'host', 'recipient'])
const COUNTED: ReadonlySet<Role | undefined> = new Set(['sender', 'content'])
/** Words by which an adjunct is about something else, such as a list of those who may write. */
const RESERVED =
  /^(?:\p{L}{0,12}lists?|groups?|polic(?:y|ies)|rules?|filters?|contacts?|reputation|allow\p{L}{0,4}|permi\p{L}{0,6}|trusted|access|quota|storage|space|\p{L}{0,10}speicher\p{L}{0,20}|may|if|whether|unless|until|when|only|not|or|than|incoming|outside|external|liste|lista|lijst|kontakt\p{L}{0,4}|oder|wenn|bis|ou|si|o|se|of|или|если|lub|jesli)$/u
/** A longer clause is no heading of the next one. */
const HEADING_WORDS_MAX = 6
/** Words for the sender other than pronouns. */
const NAMED = /^(?:senders?|absender|expediteur|remitente|remetente|mittente|afzender)$/
/** Names of what a server checks of its client. */
const LOOKED_UP =
  /^(?:dns|rdns|ptr|helo|ehlo)$|(?<!\p{L})(?:submission|auth\p{L}{0,20}|login|callback)(?!\p{L})/u

function saysWhat(claim: Assertion): boolean {
  return claim !== 'failed' && claim !== 'negated'
}

/** Returns the subject that a clause lends to the next one if it only announces it. */
function headingOf(party: Role | undefined, words: readonly string[], clause: string): Role | undefined {
  if (LOOKED_UP.test(clause) && words.length <= HEADING_WORDS_MAX) return 'sender'
  const isLong = words.length > HEADING_WORDS_MAX && !words.includes(MARKS.ours)
  const isSentence = isLong || words.some(word => roleOf(word) === 'content')
  return isSentence ? undefined : party
}

interface Read {
  claims: ReadonlySet<Assertion>
  /** Subject of the clause; undefined if it names nothing. */
  party: Role | undefined
  /** Words that are no part of a claim or of a harmless phrase. */
  words: readonly string[]
}

function readClause(clause: string): Read {
  let rest = clause
  for (const [phrase, mark] of HARMLESS)
    rest = rest.replace(phrase, ` ${mark} `).replace(/ {2,}/g, ' ').trim()
  const claims = new Set<Assertion>()
  for (const { claim, phrase } of PREDICATES) {
    rest = rest.replace(phrase, match => {
      claims.add(claim)
      return ` ${CLAIM} ${partiesIn(match)} `
    })
  }
  let words = withoutAdjunct(rest.split(' ').filter(word => word !== ''))
  const isOfRecipient = words.some(word => roleOf(word) === 'recipient')
  if (isOfRecipient) words = words.filter(word => word !== MARKS.recipientDomain && word !== MARKS.otherHost)
  const roles = new Set(words.map(word => roleOf(word) ?? 'other'))
  if (claims.has('nobody') || claims.has('left')) roles.add('recipient')
  return { claims, party: ORDER.find(role => roles.has(role)), words }
}

/** Returns the parties that stand within a claim, as in "existiert Ihr Konto nicht". */
function partiesIn(claim: string): string {
  return claim
    .split(' ')
    .filter(word => PARTIES.has(roleOf(word)))
    .join(' ')
}

/**
 * Leaves out what a preposition adds behind a claim about the recipient: "removed in the course of a
 * clean-up".
 */
function withoutAdjunct(words: readonly string[]): string[] {
  const at = words.lastIndexOf(CLAIM)
  const others = words.filter(word => word !== CLAIM)
  const behind = at < 0 ? [] : words.slice(at + 1)
  const isOfRecipient = words.slice(0, Math.max(at, 0)).some(word => roleOf(word) === 'recipient')
  if (!isOfRecipient || !ADJUNCT.test(behind[0] ?? '')) return others
  const counted = behind.filter(word => COUNTED.has(roleOf(word)) || RESERVED.test(word))
  return [...words.slice(0, at).filter(word => word !== CLAIM), ...counted]
}

/** Tells whether a clause says of us or of the recipient what we do not know. */
function isAboutUs(party: Role | undefined, words: readonly string[]): boolean {
  const has = (role: Role | undefined) => words.some(word => roleOf(word) === role)
  return party === 'sender' ? !has('content') || has(undefined) : has('recipient') && has(undefined)
}

function findingOf(
  claims: ReadonlySet<Assertion>,
  party: Role | undefined,
  heading: Role | undefined,
  words: readonly string[],
): Finding | undefined {
  const isGone = claims.has('gone') || claims.has('left')
  const isAbsent = claims.has('absent') || claims.has('nobody')
  if (claims.size === 0) return isAboutUs(party, words) ? 'unclear' : undefined
  switch (heading === 'sender' && party !== 'content' ? heading : party) {
    case 'sender':
      // "You are not allowed" and "your message was refused" name a policy or the message.
      if (!isGone && !isAbsent && words.some(word => roleOf(word) === 'content'))
        return isAboutUs(party, words) ? 'unclear' : undefined
      if (!isGone && !isAbsent && words.includes('you')) return 'unclear'
      return claims.size > 1 || !claims.has('negated') || words.some(word => NAMED.test(word))
        ? 'sender'
        : 'unclear'
    case 'host':
      return isGone || isAbsent || claims.has('down') ? 'host' : undefined
    case 'content':
      return claims.has('absent') ? 'content' : undefined
    case 'domain':
      return (isGone || isAbsent) && words.includes(MARKS.recipientDomain) ? 'domain-absent' : undefined
    case 'recipient':
      if (claims.has('failed') || claims.has('negated') || claims.has('down')) return undefined
      return isGone
        ? 'recipient-gone'
        : isAbsent || claims.has('undelivered')
          ? 'recipient-absent'
          : undefined
    default:
      return isAboutUs(party, words) ? 'unclear' : undefined
  }
}
