/**
 * Classifies a negative SMTP reply: whether to retry, the bounce class, whether the address is at fault, and
 * what it says about the destination and the sender. The SMTP phase is considered first: a refused connection
 * says nothing about a recipient.
 */

import { retryHintMs } from './hint.ts'
import { blocklistIn } from './rules/blocklists.ts'
import { type BounceClass, isAddressFault } from './rules/bounce-class.ts'
import { RULES } from './rules/index.ts'
import { holds, type Rule, type RuleAlert, type RuleDetail } from './rules/rule.ts'
import { type FailedReply, type ReplyReading, readReplyText } from './sentence/reading.ts'

/**
 * What a reply says about sending to this destination:
 * - `congestion`: fewer or later messages would be accepted.
 * - `reputation`: the source address or the name of this host is not welcome.
 * - `none`: the reply concerns one recipient, message or sender.
 */
type DestinationPressure = 'none' | 'congestion' | 'reputation'

export interface Meaning {
  action: 'bounce' | 'defer'
  class: BounceClass
  /** True if no further mail should be sent to the address. */
  blamesAddress: boolean
  pressure: DestinationPressure
  alert: RuleAlert | undefined
  /** Delay that the server of a deferral asks for, 30 s to 4 h, in ms. */
  hintMs: number | undefined
  /** Name of the rule that matched. */
  rule: string
  detail: RuleDetail | undefined
  /** Blocklist that a reply of class `blocked` names. */
  list: string | undefined
}

/** Subjects and details of status codes that blame the recipient, also in a reply after DATA. */
const RECIPIENT_STATUSES: ReadonlySet<string> = new Set(['1.1', '1.2', '1.3', '1.6', '1.10', '2.1', '4.1'])
/**
 * Classes of permanent replies to the connection that justify another attempt, later or from another source
 * address.
 */
const PASSING: ReadonlySet<BounceClass> = new Set(['blocked', 'rate-limited', 'greylisted'])
/** Classes of transient replies by which a destination asks for less mail if they precede RCPT. */
const PRESSING: ReadonlySet<BounceClass> = new Set(['unknown', 'policy'])

/** Classifies a reply of a host, or one that a report quotes: both by the same rules. */
export function classify(reply: FailedReply): Meaning {
  const { phase } = reply
  const reading = readReplyText(reply)
  const found = RULES.find(candidate => holds(candidate, reading))!
  // The server has seen no message, so `spam` refers to the source address.
  const rule: Rule = phase === 'host' && found.class === 'spam' ? { ...found, class: 'blocked' } : found
  const action = actionOf(rule, reading)
  const bounceClass = action === 'defer' ? rule.class : permanentClass(rule, reading)
  return {
    action,
    class: bounceClass,
    blamesAddress: action === 'bounce' && blamesAddress(bounceClass, rule, reading),
    pressure: pressureOf(bounceClass, rule, reading),
    alert: rule.alert ?? (bounceClass === 'blocked' ? 'ip-reputation' : undefined),
    hintMs: action === 'defer' ? retryHintMs(reply.text) : undefined,
    rule: rule.name,
    detail: rule.detail ?? (rule.class === 'policy' ? 'policy' : undefined),
    list: bounceClass === 'blocked' ? blocklistIn(reading.words) : undefined,
  }
}

/** Tells whether to retry, by the reply code (RFC 5321 §4.2.1), unless the rule decides otherwise. */
function actionOf(rule: Rule, { code, phase }: ReplyReading): 'bounce' | 'defer' {
  if (code < '500' || rule.tryAgain) return 'defer'
  return phase === 'host' && PASSING.has(rule.class) ? 'defer' : 'bounce'
}

function permanentClass({ class: found }: Rule, { phase, code }: ReplyReading): BounceClass {
  switch (phase) {
    case 'host':
      return code === '521' || code === '556' ? 'no-route' : 'policy'
    case 'mail':
      return isAddressFault(found) ? 'sender' : found
    case 'rcpt':
      return found
    default:
      return found === 'unknown' || found === 'policy' ? 'content' : found
  }
}

/**
 * Tells whether the address is at fault. After DATA, words are not enough evidence, since content filters
 * speak of users and mailboxes, too.
 */
function blamesAddress(bounceClass: BounceClass, rule: Rule, { phase, status, contradicts }: ReplyReading) {
  if (!isAddressFault(bounceClass) || contradicts || phase === 'host' || phase === 'mail') return false
  if (phase === 'rcpt' || rule.namesRecipient) return true
  return status !== undefined && RECIPIENT_STATUSES.has(status)
}

function pressureOf(
  bounceClass: BounceClass,
  rule: Rule,
  { phase, code }: ReplyReading,
): DestinationPressure {
  if (bounceClass === 'greylisted' || rule.oneRecipient) return 'none'
  if (bounceClass === 'rate-limited' || code === '421') return 'congestion'
  if (bounceClass === 'blocked') return 'reputation'
  const early = phase === 'host' || phase === 'mail'
  return early && code < '500' && PRESSING.has(bounceClass) ? 'congestion' : 'none'
}
