/**
 * Derives the behaviour of the scripted MX from the local part of a recipient: the table in the header of
 * fake-mx.ts, as code.
 */

/** Point of a session at which a server misbehaves: after the command of that name, in place of its reply. */
export type Point =
  | 'banner'
  | 'ehlo'
  | 'helo'
  | 'starttls'
  | 'tls'
  | 'ehlo-tls'
  | 'auth'
  | 'mail'
  | 'rcpt'
  | 'data'
  | 'body'
  | 'dot'
  | 'rset'
  | 'quit'

/**
 * A reply (several lines where it has CRLF; sent as it is), or: `drop` closes, `reset` closes hard, `hang`
 * says nothing more, `stall` stops reading too, `garbage` is no SMTP, `multi-line-64k` is a reply that is too
 * long.
 */
export type Fault = 'drop' | 'reset' | 'hang' | 'stall' | 'garbage' | 'multi-line-64k' | (string & {})

export interface Behaviour {
  at: Partial<Record<Point, Fault>>
  delayMs: Partial<Record<Point, number>>
  /** Number of times that it is answered 451. */
  greyTimes?: number
  /** Messages a session may carry before this recipient is answered with 421. */
  messagesPerSession?: number
  /** Recipients a transaction may have. */
  recipientsPerMessage?: number
  refusesEightBit?: boolean
}

type Rule = [pattern: RegExp, make: (...groups: string[]) => Partial<Behaviour>]

const RULES: Rule[] = [
  [
    /^(defer|perm|full)-(\d{3})(?:-(\d{3,}))?/,
    (word, code, digits) => at('rcpt', replyLine(code!, digits, word!)),
  ],
  [
    /^(mail|rcpt|data|body|dot)-(\d{3})(?:-(\d{3,}))?/,
    (point, code, digits) => at(point!, replyLine(code!, digits, point!)),
  ],
  [/^grey-(\d+)/, times => ({ greyTimes: Number(times) })],
  [/^slow-(rcpt|data|dot)-(\d+)/, (point, ms) => ({ delayMs: { [point!]: Number(ms) } })],
  [/^(drop|hang)-after-(mail|rcpt|data|dot)/, (fault, point) => at(point!, fault!)],
  [/^drop-mid-body/, () => at('body', 'drop')],
  [/^stall-body/, () => at('body', 'stall')],
  [/^garbage-(mail|rcpt|data|dot)/, point => at(point!, 'garbage')],
  [/^421-after-(\d+)/, count => ({ messagesPerSession: Number(count) })],
  [/^too-many-(\d+)/, count => ({ recipientsPerMessage: Number(count) })],
  [/^eight-bit/, () => ({ refusesEightBit: true })],
]

/** Returns the behaviour that `address` selects; other recipients are accepted. */
export function behaviourOf(address: string): Behaviour {
  const localPart = address.toLowerCase()
  for (const [pattern, make] of RULES) {
    const match = pattern.exec(localPart)
    if (match) return { at: {}, delayMs: {}, ...make(...match.slice(1)) }
  }
  return { at: {}, delayMs: {} }
}

function at(point: string, fault: Fault): Partial<Behaviour> {
  return { at: { [point]: fault } }
}

/** `('550', '511', 'perm')` is `550 5.1.1 perm`; without digits, `451` has `4.0.0`. */
function replyLine(code: string, digits = `${code[0]}00`, text: string): string {
  return `${code} ${digits[0]}.${digits[1]}.${digits.slice(2)} ${text}`
}
