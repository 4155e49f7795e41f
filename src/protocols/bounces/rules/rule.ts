/** Types of the rules for replies, and their matching. The first rule that matches gives the class. */

import type { ReplyPhase, ReplyReading } from '../sentence/reading.ts'
import type { Finding } from '../sentence/roles.ts'
import { type BounceClass, isAddressFault } from './bounce-class.ts'

/** Kind of alert that a reply raises for the operator. */
export type RuleAlert = 'ip-reputation' | 'authentication' | 'smart-host-login'

/** What a rule knows beyond its class. */
export type RuleDetail = 'policy' | 'relay_denied' | 'tls_required' | 'no_reverse_dns' | 'mail_loop'

export interface Rule {
  /** Unique name in logs and tests. */
  name: string
  class: BounceClass
  /** Provider to whose hosts the rule applies, by its name in `pipeline/delivery/destinations/providers.ts`. */
  provider?: string
  /** Phases in which the rule applies. */
  phases?: readonly ReplyPhase[]
  /** Reply code or its beginning: `5` matches every permanent reply. */
  codes?: readonly string[]
  /**
   * Subject and detail of the enhanced status code. `7.` matches every detail of that subject, `none` a reply
   * without a code.
   */
  statuses?: readonly string[]
  /** Matches the text that `readReply` returns: lower case, without accents. Every quantifier is bounded. */
  words?: RegExp
  /** Matches words with which the rule does not apply. */
  unless?: RegExp
  /** What one of the sentences of the reply must be about. */
  finding?: Finding
  /** True if the rule needs a sign that the recipient's domain is meant, and not another host. */
  ofRecipientDomain?: true
  /** True if the text of a permanent reply asks to be retried. */
  tryAgain?: true
  /**
   * True if the text identifies the recipient as reliably as a status code, in any phase of the transaction.
   */
  namesRecipient?: true
  /** True if the reply concerns limits of one recipient and not of the destination. */
  oneRecipient?: true
  detail?: RuleDetail
  /** Alert that each reply of this rule raises. Rules of class `blocked` always raise `ip-reputation`. */
  alert?: RuleAlert
  /** Phase, code and text of a reply that this rule matches, and no rule before it. */
  sample: string
}

export function holds(rule: Rule, reading: ReplyReading): boolean {
  const { provider, phases, codes, statuses, words, finding, ofRecipientDomain, unless } = rule
  return (
    (provider === undefined || provider === reading.provider) &&
    (phases === undefined || phases.includes(reading.phase)) &&
    (codes === undefined || codes.some(code => reading.code.startsWith(code))) &&
    (statuses === undefined || statuses.some(status => fits(status, reading.status))) &&
    (!ofRecipientDomain || reading.meansRecipientDomain) &&
    (finding === undefined || reading.findings.has(finding)) &&
    !unless?.test(reading.words) &&
    (words === undefined || words.test(blamesByWords(rule) ? reading.prose : reading.words))
  )
}

/**
 * Tells whether the rule blames the address by words. Such a rule is matched without links, since the name of
 * a link does not blame anybody.
 */
function blamesByWords({ class: found, namesRecipient }: Rule): boolean {
  return isAddressFault(found) && !namesRecipient
}

function fits(wanted: string, status: string | undefined): boolean {
  if (status === undefined) return wanted === 'none'
  return wanted.endsWith('.') ? status.startsWith(wanted) : status === wanted
}

/**
 * Matches words of one kind and words of another kind within one sentence, except about objects of the
 * client.
 */
export function near(things: string, faults: string): RegExp {
  return new RegExp(`${NOT_OURS}(?:${things})${NO_IP}(?:[^.]|\\.\\b){0,60}?(?:${faults})`)
}

/** Variant for languages without blanks between words. */
export function close(things: string, faults: string): RegExp {
  return new RegExp(`${NOT_OURS_CLOSE}(?:${things})[^。.]{0,20}?(?:${faults})`)
}

/** Returns an expression that matches whatever one of the given expressions matches. */
export function any(...parts: readonly RegExp[]): RegExp {
  return new RegExp(parts.map(({ source }) => source).join('|'))
}

const NOT_OURS =
  '(?<!\\b(?:your|your e-?mail|your sending|ip|sender|client|host|network|from|reply-to|ihre?|votre|su|sua|seu|suo|tuo|twoj) )(?<!ip-)(?<!sender.s )(?<!absender)(?<!ваш )'
/** Excludes phrases about the IP address, for example `Seu endereço IP`. */
const NO_IP = '(?!\\S{0,6} ip\\b)'
/** `NOT_OURS` for scripts that do not separate words by blanks. */
const NOT_OURS_CLOSE = '(?<!ip)(?<!送信元)(?<!発信元)(?<!发信)(?<!發信)'
