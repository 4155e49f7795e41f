/**
 * Classifies a negative SMTP reply: whether to retry, the bounce class, whether the address is at fault, and
 * what it says about the destination and the sender. The SMTP phase is considered first: a refused connection
 * says nothing about a recipient.
 */
import type { SmtpReply } from '../smtp/reply.ts'
import { type BounceClass, isAddressFault } from './bounce-class.ts'
import { retryHintMs } from './hint.ts'
import { type ReplyPhase, type ReplyReading, readReplyText } from './reading.ts'
import { RULES } from './rules/index.ts'
import { holds, type Rule, type RuleAlert } from './rules/rule.ts'

/**
 * What a reply tells of sending to this site at all. `congestion`: less or later would get through.
 * `reputation`: our address or name is not wanted there. `none`: it is about one recipient, message or
 * sender.
 */
type SitePressure = 'none' | 'congestion' | 'reputation'

export interface Meaning {
  action: 'bounce' | 'defer'
  class: BounceClass
  /** No further mail should go to the address. */
  blamesAddress: boolean
  pressure: SitePressure
  alert: RuleAlert | undefined
  /** Of a deferral: how long the server asks us to wait, 30 s to 4 h. */
  hintMs: number | undefined
  /** Name of the rule that held. */
  rule: string
}

/** These say by their status code that the recipient is at fault, in whatever phase they come. */
const RECIPIENT_STATUSES: ReadonlySet<string> = new Set(['1.1', '1.2', '1.3', '1.6', '1.10', '2.1', '4.1'])
/**
 * Classes of permanent replies to the connection that are worth another attempt, later or from another
 * source address.
 */
const PASSING: ReadonlySet<BounceClass> = new Set(['blocked', 'rate-limited', 'greylisted'])
/** Before RCPT such a transient reply is the site's way to say: not so much. */
const PRESSING: ReadonlySet<BounceClass> = new Set(['unknown', 'policy'])

/**
 * @param reply one with a code of 400 or more
 * @param provider of the host that gave it, as `pipeline/delivery/providers.ts` calls it
 * @param rules the last of which always holds
 */
export function classify(
  phase: ReplyPhase,
  reply: SmtpReply,
  provider?: string,
  rules: readonly Rule[] = RULES,
): Meaning {
  const reading = readReplyText(phase, reply, provider)
  const found = rules.find(candidate => holds(candidate, reading))!
  // No message has been seen: what is called spam there is our address.
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
  }
}

/** By the reply code (RFC 5321 §4.2.1), unless the rule knows better. */
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
 * Where the message itself has been seen, words are not enough: filters speak of users and mailboxes, too.
 */
function blamesAddress(bounceClass: BounceClass, rule: Rule, { phase, status, contradicts }: ReplyReading) {
  if (!isAddressFault(bounceClass) || contradicts || phase === 'host' || phase === 'mail') return false
  if (phase === 'rcpt' || rule.namesRecipient) return true
  return status !== undefined && RECIPIENT_STATUSES.has(status)
}

function pressureOf(bounceClass: BounceClass, rule: Rule, { phase, code }: ReplyReading): SitePressure {
  if (bounceClass === 'greylisted' || rule.oneRecipient) return 'none'
  if (bounceClass === 'rate-limited' || code === '421') return 'congestion'
  if (bounceClass === 'blocked') return 'reputation'
  const early = phase === 'host' || phase === 'mail'
  return early && code < '500' && PRESSING.has(bounceClass) ? 'congestion' : 'none'
}
