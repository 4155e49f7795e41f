/**
 * Says what a reply is about: who or what words such as "unknown", "not found" or "disabled" are said of. They
 * blame the recipient only in a clause that names it and in which every other word is known to be harmless.
 */
import { type Clause, clausesOf, type EnvelopeFacts, NO_FACTS } from './clauses.ts'
import { closedScriptFinding } from './closed-scripts.ts'
import { AGAIN, type Assertion, CHECKED, HARMLESS, PASSING, PREDICATES } from './predicates.ts'
import { type Finding, MARKS, type Role, roleOf } from './roles.ts'

export type Findings = ReadonlySet<Finding>

/**
 * The first of these that a clause names is what it is about. A word without a role is `other`: a clause that is
 * not understood as a whole blames nobody.
 */
const ORDER: readonly Role[] = ['sender', 'host', 'content', 'other', 'domain', 'recipient']

/** Returns all that the clauses of a text say. */
export function findingsIn(text: string, facts: EnvelopeFacts = NO_FACTS): Findings {
  const clauses = clausesOf(text, facts)
  const found = new Set<Finding>()
  let heading: Role | undefined
  for (const { text: clause, announces } of clauses) {
    const closed = closedScriptFinding(clause)
    if (closed) found.add(closed)
    const { claims, party, words } = readClause(clause)
    const finding =
      claims.size > 0
        ? findingOf(claims, party ?? (heading === 'host' ? undefined : heading), heading, words)
        : undefined
    if (finding) found.add(finding)
    heading = announces && ![...claims].some(saysWhat) ? headingOf(party, words, clause) : undefined
  }
  if (isPassing(clauses)) found.add('passing')
  return found
}

function isPassing(clauses: readonly Clause[]): boolean {
  const text = clauses.map(clause => clause.text).join(' ; ')
  return has(PASSING, text) || (has(AGAIN, text) && !has(CHECKED, text))
}

function has(words: RegExp, text: string): boolean {
  words.lastIndex = 0
  return words.test(text)
}

/** A longer clause is no heading of the next one. */
const HEADING_WORDS_MAX = 6
/** Words for the sender other than pronouns. */
const NAMED = /^(?:senders?|absender|expediteur|remitente|remetente|mittente|afzender)$/
/** Names of what a server checks of its client. */
const LOOKED_UP = /^(?:dns|rdns|ptr|helo|ehlo)$/

function saysWhat(claim: Assertion): boolean {
  return claim !== 'failed' && claim !== 'negated'
}

/** What a clause that announces the next one says of its subject. */
function headingOf(party: Role | undefined, words: readonly string[], clause: string): Role | undefined {
  if (LOOKED_UP.test(clause)) return 'sender'
  const isLong = words.length > HEADING_WORDS_MAX && !words.includes(MARKS.ours)
  const isSentence = isLong || words.some(word => roleOf(word) === 'content')
  return isSentence ? undefined : party
}

interface Read {
  claims: ReadonlySet<Assertion>
  /** What the clause is about; undefined if it names nothing. */
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
    rest = rest.replace(phrase, () => {
      claims.add(claim)
      return ' '
    })
  }
  const words = rest.split(' ').filter(word => word !== '')
  const roles = new Set(words.map(word => roleOf(word) ?? 'other'))
  if (claims.has('nobody') || claims.has('left')) roles.add('recipient')
  return { claims, party: ORDER.find(role => roles.has(role)), words }
}

function findingOf(
  claims: ReadonlySet<Assertion>,
  party: Role | undefined,
  heading: Role | undefined,
  words: readonly string[],
): Finding | undefined {
  const isGone = claims.has('gone') || claims.has('left')
  const isAbsent = claims.has('absent') || claims.has('nobody')
  switch (heading === 'sender' && party !== 'content' ? heading : party) {
    case 'sender':
      // "You are not allowed" and "your message was refused" name a policy or the message.
      if (!isGone && !isAbsent && words.some(word => word === 'you' || roleOf(word) === 'content'))
        return undefined
      return claims.size > 1 || !claims.has('negated') || words.some(word => NAMED.test(word))
        ? 'sender'
        : undefined
    case 'host':
      return isGone || isAbsent ? 'host' : undefined
    case 'content':
      return claims.has('absent') ? 'content' : undefined
    case 'domain':
      return (isGone || isAbsent) && words.includes(MARKS.recipientDomain) ? 'domain-absent' : undefined
    case 'recipient':
      if (claims.has('failed') || claims.has('negated')) return undefined
      return isGone
        ? 'recipient-gone'
        : isAbsent || claims.has('undelivered')
          ? 'recipient-absent'
          : undefined
    default:
      return undefined
  }
}
