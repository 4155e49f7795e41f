/** Types of the rules for replies, and their matching. The first rule that matches gives the class. */
import { type BounceClass, isAddressFault } from '../bounce-class.ts'
import type { ReplyPhase, ReplyReading } from '../reading.ts'

/** Something of ours that the operator must see to. */
export type RuleAlert = 'ip-reputation' | 'authentication' | 'smart-host-login'

export interface Rule {
  /** Unique; logs and tests call it so. */
  name: string
  class: BounceClass
  /** Only for hosts of this provider, as `pipeline/delivery/providers.ts` calls it. */
  provider?: string
  /** Phases in which the rule applies. */
  phases?: readonly ReplyPhase[]
  /** The reply code, or how it begins: `5` fits every permanent one. */
  codes?: readonly string[]
  /**
   * Subject and detail of the enhanced status code. `7.` matches every detail of that subject, `none` a reply
   * without a code.
   */
  statuses?: readonly string[]
  /** Fits the words as `readReply` leaves them: lower case, no accents. Every quantifier is bounded. */
  words?: RegExp
  /** Permanent by its code, and yet the words ask to be tried again. */
  tryAgain?: true
  /** Tells of the recipient as surely as a status code does, wherever in the transaction it is said. */
  namesRecipient?: true
  /** Concerns one recipient's limits, not the site's: no reason to send less to others. */
  oneRecipient?: true
  /** Alert that each reply of this rule raises. Rules of class `blocked` always raise `ip-reputation`. */
  alert?: RuleAlert
  /** Phase, code and text of a reply that this rule, and none before it, is for. */
  sample: string
}

export function holds(rule: Rule, reading: ReplyReading): boolean {
  const { provider, phases, codes, statuses, words } = rule
  return (
    (provider === undefined || provider === reading.provider) &&
    (phases === undefined || phases.includes(reading.phase)) &&
    (codes === undefined || codes.some(code => reading.code.startsWith(code))) &&
    (statuses === undefined || statuses.some(status => fits(status, reading.status))) &&
    (words === undefined || words.test(blamesByWords(rule) ? reading.prose : reading.words))
  )
}

/** What a link is called blames nobody. */
function blamesByWords({ class: found, namesRecipient }: Rule): boolean {
  return isAddressFault(found) && !namesRecipient
}

function fits(wanted: string, status: string | undefined): boolean {
  if (status === undefined) return wanted === 'none'
  return wanted.endsWith('.') ? status.startsWith(wanted) : status === wanted
}

/** Words of one kind, and of another within one sentence; never what is said of the client's own things. */
export function near(things: string, faults: string): RegExp {
  return new RegExp(`${NOT_OURS}(?:${things})${NO_IP}(?:[^.]|\\.\\b){0,60}?(?:${faults})`)
}

/** The same for languages that set no blanks. */
export function close(things: string, faults: string): RegExp {
  return new RegExp(`${NOT_OURS_CLOSE}(?:${things})[^。.]{0,20}?(?:${faults})`)
}

/** Returns an expression that matches where any of the given ones does. */
export function any(...parts: readonly RegExp[]): RegExp {
  return new RegExp(parts.map(({ source }) => source).join('|'))
}

const NOT_OURS =
  '(?<!\\b(?:your|your e-?mail|your sending|ip|sender|client|host|network|from|reply-to|ihre?|votre|su|sua|seu|suo|tuo|twoj) )(?<!ip-)(?<!sender.s )(?<!absender)(?<!ваш )'
/** Excludes phrases about the IP address, for example `Seu endereço IP`. */
const NO_IP = '(?!\\S{0,6} ip\\b)'
/** `NOT_OURS` for scripts that do not separate words by blanks. */
const NOT_OURS_CLOSE = '(?<!ip)(?<!送信元)(?<!発信元)(?<!发信)(?<!發信)'
