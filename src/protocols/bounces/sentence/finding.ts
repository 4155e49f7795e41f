/**
 * Says what a reply is about: who or what is the subject of words such as "unknown", "not found" or
 * "disabled". Such words blame the recipient only where the recipient is their subject.
 */
import { type Clause, clausesOf, type EnvelopeFacts, NO_FACTS } from './clauses.ts'
import { closedScriptFinding } from './closed-scripts.ts'
import { AGAIN, type Assertion, CHECKED, PASSING, PREDICATES, type Predicate } from './predicates.ts'
import { type Finding, GENITIVE, MARKS, type Role, roleOf, WITHIN } from './roles.ts'

export type Findings = ReadonlySet<Finding>

/** Words behind "no user" by which the sentence is about what users may do. */
const MODAL = /^(?:may|can|must|shall|should|will|accepts?|takes?|receives?|gets?|wants?|wishes|is|are)$/
/** Verbs of what users do, or may do. */
const ACTS = /^(?:may|can|must|accepts?|takes?|receives?|gets?|reads?|wants?|writes?|sends?)$/
/** Pronouns for us as the first word of a clause. */
const YOU = /^(?:you|sie|vous|usted|ustedes|voce|voces|lei|вы|вам)$/
const YOUR = /^(?:yours?|ihre?[rnsm]?|votre|vos|uw|su|seu|sua|tu|tuo|tua|ваш\p{L}*|tw[oo]j\p{L}*)$/u
/** Prepositions by which the noun behind them is where mail comes from. */
const SOURCE = /^(?:from|by|von|vom|van|от|od|da|dai|dal|door|durch|par|pelo|por|przez)$/
/** Plurals for people in general. */
const ANYBODY =
  /^(?:users|persons|people|guests|members|subscribers|addresses|recipients|mailboxes|accounts|aliases|customers|employees|benutzern|personen|utilisateurs|usuarios|utenti|gebruikers)$/
/** Words that can follow an adjective that is not beside a noun. */
const SMALL =
  /^(?:at|in|on|here|by|to|or|and|for|from|with|within|as|of|please|@\p{L}+|hier|bei|auf|im|in|und|oder|bitte|ici|dans|sur|chez|ou|et|aqui|en|o|y|em|e|su|qui|presso|op|of|bij|на|в|у|или|w|na|u|lub)$/u
/** Verbs whose subject the recipient is as a person, and whose object is somebody else. */
const FINITE =
  /^(?:accepts?|takes?|receives?|refuses?|rejects?|wants?|wishes|allows?|blocks?|gets?|demands?|forbids?|denies|filters?|bounces|lehnt|blockiert|blokkeert|weigert|bloque|rechaza|bloquea|recusa|bloqueia|rifiuta|blocca|блокирует|отклоняет|отвергает|blokuje|odrzuca|accept|take|receive|allow|want|nimmt|akzeptiert|erlaubt|accepte|acceptent|recoit|refuse|acepta|recibe|recebe|aceita|accetta|riceve|ontvangt|accepteert|принимает|przyjmuje)$/
const AFTER_MAX = 4
/** Roles of nouns that can be those of the party named before a colon. */
const OF_A_PARTY: ReadonlySet<Role | undefined> = new Set(['recipient', 'domain', 'host'])
/** A longer clause is no heading of the next one. */
const HEADING_WORDS_MAX = 6

interface Place {
  before: readonly string[]
  after: readonly string[]
}

/** Returns all that the clauses of a text say. */
export function findingsIn(text: string, facts: EnvelopeFacts = NO_FACTS): Findings {
  const clauses = clausesOf(text, facts)
  const found = new Set<Finding>()
  let heading: Role | undefined
  for (const { text: clause, announces } of clauses) {
    const closed = closedScriptFinding(clause)
    if (closed) found.add(closed)
    const said = claimsOf(clause, heading)
    for (const finding of said) found.add(finding)
    const words = clause.split(' ')
    heading = announces && said.length === 0 ? headingOf(words) : undefined
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

/** Names of what a server checks of its client. */
const LOOKED_UP = /^(?:dns|rdns|ptr|helo|ehlo)$/

/** Role of a clause that announces the next one: an address, a field, or a short phrase. */
function headingOf(words: readonly string[]): Role | undefined {
  if (words.length > HEADING_WORDS_MAX) return undefined
  if (words.includes(MARKS.ours) || (words.length === 1 && LOOKED_UP.test(words[0]!))) return 'sender'
  return subjectOf(words)
}

/** @param heading role of a short clause before, such as an address before a colon */
function claimsOf(clause: string, heading: Role | undefined): Finding[] {
  if (NOBODY.test(clause)) return ['recipient-absent']
  const findings: Finding[] = []
  for (const predicate of PREDICATES)
    for (const match of clause.matchAll(predicate.phrase)) {
      const place = {
        before: wordsIn(clause.slice(0, match.index)),
        after: wordsIn(clause.slice(match.index + match[0].length)),
      }
      const role = partyOf(predicate, place, heading)
      const finding = role && findingOf(predicate.claim, role, place)
      if (finding) findings.push(finding)
    }
  return findings
}

const NOBODY =
  /(?<!\p{L})(?:nobody|no ?one) (?:here |there )?(?:is )?(?:called|named|by|with|of that|of this|known|at|works)(?!\p{L})/u

function wordsIn(text: string): string[] {
  return text.split(' ').filter(word => word !== '')
}

function findingOf(claim: Assertion, role: Role, { before }: Place): Finding | undefined {
  if (role === 'sender') return claim === 'undelivered' ? undefined : 'sender'
  if (claim === 'failed') return undefined
  if (role === 'recipient') return claim === 'gone' ? 'recipient-gone' : 'recipient-absent'
  if (claim === 'undelivered') return undefined
  if (role === 'content') return claim === 'absent' ? role : undefined
  if (role === 'host') return role
  return role === 'domain' && before.includes(MARKS.recipientDomain) ? 'domain-absent' : undefined
}

function partyOf(predicate: Predicate, place: Place, heading: Role | undefined): Role | undefined {
  const { before, after } = place
  const { claim, side } = predicate
  if (claim === 'gone' && side === 'around' && isOtherwise(after)) return undefined
  const found = isActive(predicate, before) ? objectOfPerfect(after, before) : roleBy(side, place, heading)
  // What stands behind our address and a colon is about us.
  const own = heading === 'sender' && OF_A_PARTY.has(found) ? heading : found
  if (own !== 'recipient' && own !== 'domain') return own
  if (claim === 'failed') return undefined
  if (before.length > 0 && YOU.test(before[0]!)) return 'sender'
  return qualifierBehind(after) ?? own
}

function roleBy(side: Predicate['side'], place: Place, heading: Role | undefined): Role | undefined {
  const { before, after } = place
  const own = side === 'before' ? undefined : nextTo(after)
  switch (side) {
    case 'after':
      return own && objectOf(own, place, heading)
    case 'clause':
      return subjectOf(before) ?? subjectOf(after.slice(0, AFTER_MAX + 2))
    case 'around':
      if (own === undefined && belongsToNext(before, after)) return undefined
      if (own && own.role !== 'thing') return objectOf(own, place, heading)
      if (isBehindPreposition(before)) return 'sender'
      return adjacentTo(before) ?? subjectOrHeading(place, heading)
    default:
      return subjectOrHeading(place, heading)
  }
}

function subjectOrHeading({ before, after }: Place, heading: Role | undefined): Role | undefined {
  // The object of a German perfect stands before the participle: "hat den Empfang gesperrt".
  if (before.some((word, i) => /^(?:hat|haben|heeft)$/.test(word) && i < before.length - 1)) return undefined
  const subject = subjectOf(before)
  if (subject === 'thing') return heading ?? subject
  if (subject !== undefined) return subject
  if (before.length <= 2 && heading !== undefined) return heading
  if (before.length > 2) return undefined
  const behind = nextTo(after)
  return behind?.role === 'thing' ? (subjectOf(after.slice(behind.end)) ?? 'thing') : behind?.role
}

/** Role of the noun phrase behind an adjective, a determiner or a verb. */
function objectOf(
  { role, end }: Phrase,
  { before, after }: Place,
  heading: Role | undefined,
): Role | undefined {
  const last = before.at(-1)
  if (role === 'recipient' && last !== undefined && SOURCE.test(last)) return 'sender'
  if (role === 'recipient' && ANYBODY.test(after[end - 1]!)) return undefined
  if (role === 'recipient' && last !== 'for' && before.some(word => FINITE.test(word))) return undefined
  if (role === 'recipient' && isOfList(after, end)) return 'sender'
  if (role === 'recipient' && isCompound(after[end - 1]!, after[end])) return undefined
  if (role === 'recipient' && after.slice(end, end + 6).some(word => ACTS.test(word))) return undefined
  if (role === 'recipient' && MODAL.test(after[end] ?? '')) return isCopula(after, end) ? role : undefined
  if (role === 'thing') return heading ?? subjectOf(after.slice(end)) ?? subjectOf(before)
  if (role === 'recipient' && before.some(word => word === MARKS.ours || word === 'originator'))
    return 'sender'
  return role
}

/** Tells whether "no member" and the like are about us, who are not on a list. */
function isOfList(words: readonly string[], end: number): boolean {
  return (
    /^(?:members?|subscribers?)$/.test(words[end - 1]!) &&
    words.slice(end).some(word => /^(?:lists?|groups?)$/.test(word))
  )
}

const DETERMINER = /^(?:the|a|an|his|her|its|their|your|my|our|this|that)$/

/**
 * Tells whether a participle is said of something else than the subject: of an object, or of others alone.
 */
function isOtherwise(after: readonly string[]): boolean {
  const object = nextTo(after)
  if (object === undefined) return DETERMINER.test(after[0] ?? '') || isForOthers(after)
  return object.role === 'recipient' && isForOthers(after.slice(object.end))
}

/** Tells whether something is closed to others alone: "closed to the public", "disabled for external use". */
function isForOthers([first, ...rest]: readonly string[]): boolean {
  if (first === 'to') return roleOf(rest.find(word => roleOf(word) !== 'link') ?? '') !== 'recipient'
  if (first === 'by') return /^(?:policy|policies|your?|rules?|filters?|local|our)$/.test(rest[0] ?? '')
  return (
    first === 'for' &&
    /^(?:external|outside|foreign|public|internet|guests?|incoming|bulk|unknown|e?mails?|messages?|all|every|other|internal|members|employees)$/.test(
      rest[0] ?? '',
    )
  )
}

const PERFECT = /^(?:has|have|had|hat|hatte|ha|habia|tem)$/

/** Tells whether the subject has done something to an object: "the user has disabled forwarding". */
function isActive({ claim, side }: Predicate, before: readonly string[]): boolean {
  return claim === 'gone' && side === 'around' && PERFECT.test(before.at(-1) ?? '')
}

/**
 * Without an object, the mailbox has expired or moved; with one, it is gone if that is the account itself.
 */
function objectOfPerfect(after: readonly string[], before: readonly string[]): Role | undefined {
  const object = nextTo(after)
  if (object !== undefined) return object.role === 'recipient' ? subjectOf(before) && 'recipient' : undefined
  return after.length === 0 || SMALL.test(after[0]!) ? subjectOf(before) : undefined
}

const COPULA =
  /^(?:is|was|are|were|been|be|being|now|permanently|ist|sind|war|wurde|wurden|est|sont|ete|etait|es|son|esta|fue|sido|e|foi|foram|stato|stata|risulta|werd|wordt|jest|zostal|zostala|zostalo|byl|byla|была?|было|были)$/

/** Tells whether an adjective stands before a noun that we do not know: "blocks unknown numbers". */
function belongsToNext(before: readonly string[], after: readonly string[]): boolean {
  if (after.length === 0 || SMALL.test(after[0]!)) return false
  const last = before.at(-1)
  return last === undefined || !(isNoun(last) || COPULA.test(last))
}

/** Tells whether "is" behind "unknown user" is no more than the copula of a sentence about that user. */
function isCopula(words: readonly string[], at: number): boolean {
  return (
    /^(?:is|are)$/.test(words[at]!) &&
    !/^(?:allowed|permitted|entitled|welcome|authori[sz]ed)$/.test(words[at + 1] ?? '')
  )
}

interface Phrase {
  role: Role
  /** Index behind its last word. */
  end: number
}

/** Reads the noun phrase with which words begin, behind articles and adjectives. */
function nextTo(words: readonly string[]): Phrase | undefined {
  let start = 0
  while (start < words.length && start < AFTER_MAX && roleOf(words[start]!) === 'link') start++
  return phraseAt(words, start)
}

/** Tells whether an adjective stands for those who have the property: "mail from unknown". */
function isBehindPreposition(before: readonly string[]): boolean {
  const last = before.at(-1)
  return (
    last !== undefined &&
    (SOURCE.test(last) || /^(?:de|di|do|dos|des|for|to|fur|pour|para|per|voor|для|dla)$/.test(last))
  )
}

/** Reads the noun phrase with which words end, as before an adjective of Romance languages. */
function adjacentTo(words: readonly string[]): Role | undefined {
  let start = words.length
  while (start > 0 && isNoun(words[start - 1]!)) start--
  const phrase = start < words.length ? phraseAt(words, start) : undefined
  if (phrase === undefined) return undefined
  let at = start
  while (at > 0 && roleOf(words[at - 1]!) === 'link') at--
  // A noun behind a preposition is not the subject, but may say whose the subject is.
  const isBehind = at > 0 && (GENITIVE.test(words[at - 1]!) || WITHIN.test(words[at - 1]!))
  const isObject = words.slice(0, start).some(word => FINITE.test(word))
  if (isObject) return phrase.role === 'recipient' ? 'other' : phrase.role
  const isActiveObject = words.slice(0, at).some(word => PERFECT.test(word))
  if (isActiveObject) return phrase.role
  return isBehind || phrase.role === 'thing'
    ? subjectOf(words)
    : subjectOf(words) === 'sender'
      ? 'sender'
      : phrase.role
}

function isNoun(word: string): boolean {
  const role = roleOf(word)
  return role !== undefined && role !== 'link'
}

function phraseAt(words: readonly string[], start: number): Phrase | undefined {
  let end = start
  while (end < words.length && isNoun(words[end]!)) end++
  return end === start ? undefined : { role: headOf(words.slice(start, end)), end }
}

const ORDER: readonly Role[] = ['sender', 'host', 'content', 'other', 'domain', 'recipient', 'thing']
/** Nouns of the message that only say what kind of account or address is meant. */
const OF_MAIL = /^(?:mails?|emails?|messages?)$/

/** Role of nouns beside each other, any of which but a recipient decides what the phrase is about. */
function headOf(nouns: readonly string[]): Role {
  const roles = nouns.map(word => roleOf(word)!)
  const isRecipient = roles.includes('recipient')
  const counted = roles.filter((role, i) => !(role === 'content' && isRecipient && OF_MAIL.test(nouns[i]!)))
  if (nouns.length === 1 && /^emails?$/.test(nouns[0]!)) return 'recipient'
  // "Your recipient" is the recipient, "your message" the message, and "your access" no party.
  if (YOUR.test(nouns[0]!)) {
    if (nouns.length === 1) return 'other'
    const rest = headOf(nouns.slice(1))
    if (rest === 'content' || /^(?:recipient|addressee|empfanger|destina)/.test(nouns[1]!)) return rest
  }
  return ORDER.find(role => counted.includes(role)) ?? 'thing'
}

/** Role of the subject of a clause: its first noun phrase, unless what belongs to it is somebody else's. */
function subjectOf(words: readonly string[]): Role | undefined {
  if (words.length > 0 && YOU.test(words[0]!)) return 'sender'
  let at = 0
  while (at < words.length && !isNoun(words[at]!)) at++
  const first = phraseAt(words, at)
  if (first === undefined) return undefined
  if (first.role === 'recipient' && isBelow(words, at)) return 'other'
  if (at > 0 && SOURCE.test(words[at - 1]!) && first.role === 'recipient') return 'sender'
  if (first.role === 'sender' || first.role === 'host' || first.role === 'other') return first.role
  const rest = words.slice(first.end)
  const owner = ownerIn(rest)
  if (first.role === 'content') return 'content'
  if (owner !== undefined) return owner
  if (isCompound(words[first.end - 1]!, rest[0])) return 'other'
  if (first.role !== 'thing') return first.role
  return subjectOf(rest) ?? 'thing'
}

/**
 * Tells whether a noun is only what a noun before belongs to, which we do not know: "the agent for this
 * mailbox".
 */
function isBelow(words: readonly string[], at: number): boolean {
  let last = at - 1
  while (last >= 0 && roleOf(words[last]!) === 'link') last--
  if (last < 1 || !/^(?:for|of|on|behind|beside|fur|pour|para|per|voor|для|dla)$/.test(words[last]!))
    return false
  return words
    .slice(0, last)
    .some(word => /\p{L}{3}/u.test(word) && roleOf(word) === undefined && !FOLLOWS.test(word))
}

/** Nouns that can be the first part of a compound, such as "mailbox cluster". */
const FIRST_PART =
  /^(?:user|username|recipient|mailbox|inbox|account|address|alias|customer|employee|person|login|subscriber|member|student|staff|owner|name|id)$/
/** Words that can follow such a noun without being a part of it. */
const FOLLOWS =
  /^(?:@\p{L}+|.|is|isnt|was|are|were|be|been|has|have|had|does|do|did|can|could|will|would|may|might|must|shall|should|not|no|never|also|either|still|already|just|simply|really|permanently|apparently|probably|seems?|appears?|that|which|who|whom|whose|you|we|i|it|he|she|they|with|without|at|in|on|of|for|from|to|by|under|within|named|called|known|specified|given|requested|entered|provided|supplied|above|below|here|there|this|the|and|or|as|than|after|before|since|due|account|status|tried|us|there|longer|currently|any|code|inactive|lives?|works?|exists?|resides|existiert|nicht|konnte|kann|\p{N}+\p{L}*)$/u

/** Tells whether a noun that we do not know makes the phrase about something else: "the mailbox cluster". */
function isCompound(noun: string, next: string | undefined): boolean {
  if (next === undefined || !FIRST_PART.test(noun)) return false
  return ![FOLLOWS, COPULA, PERFECT, GENITIVE, WITHIN, SOURCE].some(words => words.test(next))
}

/** Returns whose the noun before is, if it is not the recipient's. */
function ownerIn(words: readonly string[]): Role | undefined {
  for (let at = 0; at < words.length; at++) {
    const phrase = phraseAt(words, at)
    if (phrase === undefined) continue
    const before = words.slice(Math.max(0, at - 3), at)
    if (phrase.role === 'sender') return 'sender'
    if (phrase.role === 'host' && before.some(one => GENITIVE.test(one))) return 'host'
    if (phrase.role === 'content' && before.some(one => WITHIN.test(one)) && !OF_MAIL.test(words[at]!))
      return 'content'
    at = phrase.end - 1
  }
  return undefined
}

/** Returns what a phrase behind a claim adds: "in the header", "of your server", "to outsiders". */
function qualifierBehind(words: readonly string[]): Role | undefined {
  for (let i = 0; i < Math.min(words.length, 8); i++) {
    const phrase = nextTo(words.slice(i + 1))
    if (words[i] === 'at' && phrase?.role === 'sender') return 'sender'
    if (!WITHIN.test(words[i]!) && !GENITIVE.test(words[i]!)) continue
    if (YOU.test(words[i + 1] ?? '') || YOUR.test(words[i + 1] ?? '')) return 'sender'
    if (phrase?.role === 'sender') return 'sender'
    if (words[i] === 'for' && (phrase?.role === 'host' || phrase?.role === 'other')) return 'other'
    if (phrase?.role === 'content' && !OF_MAIL.test(words[i + 1] ?? '')) return 'content'
  }
  return undefined
}
