/** Evaluates a report for one recipient: bounce class, and whether the address is at fault. */
import { cleanText } from '../smtp/reply.ts'
import { classify, type Meaning } from './classify.ts'
import type { ReportAction } from './report.ts'
import type { BounceClass } from './rules/bounce-class.ts'
import { CONNECTION_RULES, GIVEN_UP_RULE, PASSING_RULE, UNCLEAR_RULE, VAGUE_RULES } from './rules/index.ts'
import type { EnvelopeFacts } from './sentence/clauses.ts'
import { type ReplyPhase, statusIn } from './sentence/reading.ts'

interface Evidence {
  action: ReportAction
  /** Enhanced status code of the Status field; undefined without one. */
  status: string | undefined
  /** Texts about this recipient, best first. The first that matches a rule decides. */
  texts: readonly string[]
  provider: string | undefined
  facts: EnvelopeFacts
}

interface BounceVerdict {
  class: BounceClass
  isHard: boolean
  isTransient: boolean
  replyCode: number | undefined
  status: string | undefined
  rule: string
  /** The best text, or the one that decided if the best gives no reason. */
  diagnostic: string
}

/** Matches a reply code at a possible position, and not as a part of a number, an address or a date. */
const REPLY_CODE =
  /(?:^|[\s:;'"<([>=,])([45]\d\d)(?=[ \t]?[-:;,)\]][ \t]?(?:[#(]?[245]\.\d|[^\d\s])|[ \t]+(?:[#(<"']?[^\d\s]|[245]\.\d)|$)(?![ \t]+(?:more )?(?:messages?|days?|hours?|minutes?|bytes|kb|mb|reasons))/i
const ENHANCED = /(?<![\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/
/** Matches the words by which a reporting system introduces the reply of another host. */
const PREAMBLE =
  /(?:undeliverable address: host \S{1,300} said|(?:server|host|system|mta)s? (?:has )?(?:returned|responded|answered|replied|reported|issued)(?: with| was)?(?: the following| this)?(?: error| response| reply| message)?(?: was)?|(?:response|reply|answer|error|reason)(?: message)?(?: (?:from|of|by) [^:]{1,80})? (?:was|is)|(?:response|reply|answer) (?:from|of) [^:]{1,80})\s?:\s{0,3}["'<]{0,4}(?=[45]\d\d[ -])/gi
/** Matches a sentence before a reply with a status code. */
const SENTENCE_BEFORE =
  /^(?![\s<("']{0,4}[45]\d\d[ -])(?:[^\s@]{1,60} ){4,120}?[^\s@]{0,60}(?:: ?|\b(?:was|is|said|returned|with|response|reply|details?) )["'<]{0,4}(?=[45]\d\d[ -][#(]?[45]\.\d{1,3}\.\d{1,3}\b)/i
const REPEATED_CODE = /^([45]\d\d)[ -]\1(?=[ -])/
/** Matches the code of a further line of a reply whose lines were joined. */
const CONTINUED = /\s[45]\d\d-(?:[245]\.\d{1,3}\.\d{1,3})?[ \t]?/g
/** Words by which reports name the command that was refused; the first that match decide. */
const PHASES: readonly (readonly [ReplyPhase, RegExp])[] = [
  [
    'host',
    /my name was rejected|but greeting failed|(?:reply to|error for|after) (?:the )?(?:pipelined )?(?:HELO|EHLO|LHLO|STARTTLS|initial (?:connection|server greeting))\b/i,
  ],
  ['mail', /but sender was rejected|(?:reply to|error for|for|after) (?:the )?(?:pipelined )?MAIL[ _]?FROM/],
  [
    'final-dot',
    /failed after I sent the message|(?:reply to|after|error for) (?:the |sending )?(?:pipelined )?(?:end of data|DATA\b)/i,
  ],
]
const GENERAL_STATUS = /^[245]\.(?:0\.0|5\.0|3\.0|7\.0)$/

export function verdictOf({ texts, ...known }: Evidence): BounceVerdict {
  const { action, status } = known
  const cleaned = texts.map(text => cleanText(text)).filter(text => text !== '')
  // A diagnostic rarely says which command it answers; the sentence for people above it does.
  const phase = cleaned.map(phaseIn).find(named => named !== undefined) ?? 'rcpt'
  const read = (text: string) => readOne(text, phase, known)
  const readAll = (cleaned.length > 0 ? cleaned : ['']).map(read)
  const meanings = withoutConnections(readAll)
  const first = meanings.find(isSpecific) ?? meanings[0]!
  // If another text than the best one blames the address, all texts together must not contradict it.
  const all =
    first !== meanings[0] && first.meaning.blamesAddress
      ? read(meanings.map(({ text }) => text).join(' '))
      : first
  const contradicts = isSpecific(all) && !all.meaning.blamesAddress && all.meaning.rule !== UNCLEAR_RULE
  const chosen = contradicts ? all : first
  const replyCode = meanings.find(found => found.replyCode !== undefined)?.replyCode
  const decided = chosen.status ?? status
  const { class: bounceClass, blamesAddress, rule } = chosen.meaning
  const isTransient = isTransientFailure(decided, replyCode) || rule === GIVEN_UP_RULE
  return {
    class: bounceClass,
    isHard: action === 'failed' && blamesAddress && !isTransient,
    isTransient,
    replyCode,
    status: decided,
    rule,
    diagnostic: quotedReply((isReason(chosen, readAll[0]!) ? first : readAll[0]!).text),
  }
}

/** Tells whether the text that decided is a better reason than the first, which quotes no refusal. */
function isReason({ meaning }: ReadText, best: ReadText): boolean {
  const quotesNoRefusal = CONNECTION_RULES.has(best.meaning.rule) || /^\W{0,4}[23]\d\d[ -]/.test(best.text)
  return meaning.blamesAddress && best.replyCode === undefined && quotesNoRefusal
}

/**
 * Leaves out what the reporting system says of the connection if a reply of the other host says more: some
 * close it, or are cut off, after they have refused the recipient. /
 */
function withoutConnections(meanings: ReadText[]): ReadText[] {
  const hasReply = meanings.some(
    read => (read.replyCode ?? 0) >= 500 && read.meaning.blamesAddress && isSpecific(read),
  )
  const others = meanings.filter(
    ({ replyCode, meaning }) => replyCode !== undefined || !CONNECTION_RULES.has(meaning.rule),
  )
  return hasReply ? others : meanings
}

/**
 * Tells it by the class of the status, or else of the code, as for status 5.0.0, by which programs say no
 * more than that they gave up. Status x.4.7 says that time ran out (RFC 3463 §3.5).
 */
function isTransientFailure(status: string | undefined, replyCode: number | undefined): boolean {
  if (status === undefined || status === '5.0.0') return replyCode !== undefined && replyCode < 500
  return status.startsWith('4') || status === '5.4.7'
}

/** Returns the reply that a text quotes behind words of the reporting system, or else the text. */
function quotedReply(text: string): string {
  const last = [...text.matchAll(PREAMBLE)].at(-1) ?? SENTENCE_BEFORE.exec(text)
  if (!last) return text
  const reply = text.slice(last.index + last[0].length).replace(REPEATED_CODE, '$1')
  return /["'<]$/.test(last[0]) ? reply.replace(/["'>.]{1,4}$/, '') : reply
}

/** A refusal that is not understood decides; such words of the reporting system do not. */
function isSpecific({ meaning: { class: found, rule }, replyCode = 0 }: ReadText): boolean {
  if (rule === UNCLEAR_RULE) return replyCode >= 500
  return (found !== 'unknown' || rule === PASSING_RULE) && !VAGUE_RULES.has(rule)
}

/** A text, what it says, and the codes that it quotes. */
interface ReadText {
  text: string
  meaning: Meaning
  replyCode: number | undefined
  status: string | undefined
}

function readOne(
  whole: string,
  otherwise: ReplyPhase,
  { action, status: ownStatus, provider, facts }: Omit<Evidence, 'texts'>,
) {
  const text = quotedReply(whole)
  const found = REPLY_CODE.exec(text)
  const replyCode = found ? Number(found[1]) : undefined
  const [statusClass, detail] = statusIn(found ? text.slice(found.index) : text)
  const within = statusClass === undefined ? undefined : `${statusClass}.${detail}`
  const status =
    within !== undefined && (ownStatus === undefined || !GENERAL_STATUS.test(within)) ? within : ownStatus
  const code = replyCode ?? codeOf(action, status)
  const plain = text
    .replace(CONTINUED, ' ')
    .replace(ENHANCED, ' ')
    .replace(/^[\s;:,-]{0,10}[45]\d\d[\s:;-]{1,4}/, '')
  const fits = status !== undefined && status[0] === String(code)[0]
  // A status of another class than the code stays in the text, where it counts as a contradiction.
  const reply = {
    code,
    enhanced: fits && !/\.0\.0$/.test(status) ? status : null, // x.0.0 is what a system without a code writes
    text: fits || status === undefined ? plain : `${status} ${plain}`,
    isOwnWords: replyCode === undefined,
  }
  return {
    text: whole,
    meaning: classify({ ...reply, phase: phaseIn(whole) ?? otherwise, provider, facts }),
    replyCode,
    status,
  }
}

/** Returns the reply code that action and status imply, for a report that quotes none. */
function codeOf(action: ReportAction, status: string | undefined): number {
  const transient = status === undefined ? action === 'delayed' : status.startsWith('4')
  return transient ? 450 : 550
}

function phaseIn(text: string): ReplyPhase | undefined {
  return PHASES.find(([, words]) => words.test(text))?.[0]
}
