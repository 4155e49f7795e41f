/** SMTP replies: the three-digit code (RFC 5321 §4.2), the enhanced status code (RFC 3463), and the text. */

export interface SmtpReply {
  /** From 200 to 599. */
  code: number
  /** Class, subject and detail, as in `5.1.1`; null if the peer sent none. */
  enhanced: string | null
  /** The lines without their codes, cleaned of control characters and joined by a blank; at most 2 KiB. */
  text: string
}

const LINE = /^([2-5]\d\d)(?:([ -])(.*))?$/s
const ENHANCED = /^([245]\.\d{1,3}\.\d{1,3})(?:\s+|$)/
const TEXT_CHARACTERS_MAX = 2048

/**
 * Parses one line of a reply.
 * @returns undefined for anything else; `last` is true on the last line of a reply
 */
export function parseReplyLine(line: string): { code: number; last: boolean; text: string } | undefined {
  const match = LINE.exec(line)
  if (!match) return undefined
  return { code: Number(match[1]), last: match[2] !== '-', text: match[3] ?? '' }
}

/**
 * Joins the lines of one reply. The enhanced code is used only if its class agrees with that of the reply
 * code.
 */
export function replyOf(code: number, lines: readonly string[]): SmtpReply {
  let enhanced: string | null = null
  const texts: string[] = []
  for (const line of lines) {
    const match = ENHANCED.exec(line)
    const fits = match !== null && match[1]![0] === String(code)[0]
    if (fits) enhanced ??= match[1]!
    texts.push(fits ? line.slice(match[0].length) : line)
  }
  return { code, enhanced, text: cleanText(texts.join(' ')) }
}

/** Formats a reply for people and for the database: `550 5.1.1 no such user`. */
export function formatReply({ code, enhanced, text }: SmtpReply): string {
  return [code, enhanced, text].filter(part => part !== null && part !== '').join(' ')
}

/** A permanent negative reply (RFC 5321 §4.2.1): the same command would fail again. */
export function isPermanent(reply: SmtpReply): boolean {
  return reply.code >= 500
}

/** Makes the text of a foreign server safe to store and show. */
export function cleanText(text: string): string {
  return text
    .replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()
    .slice(0, TEXT_CHARACTERS_MAX)
}
