/** Normalizes the line ends and line lengths of a submitted message (RFC 6409 §8). */
import { writeCrlfLines } from '../../protocols/mime/line-survey.ts'
import type { HeaderField } from '../../protocols/smtp/header-field.ts'

const LF = 0x0a
const CR = 0x0d
const BLANK = 0x20

/** Returns the message with CRLF at the end of every line, including the last one. */
export function withWholeLines(message: Buffer): Buffer {
  let bareCount = 0
  for (let at = 0; at < message.length; at++) {
    const octet = message[at]
    if (octet === CR && message[at + 1] === LF) at += 1
    else if (octet === CR || octet === LF) bareCount += 1
  }
  const end = message.length
  const isEnded = message[end - 1] === LF || message[end - 1] === CR
  if (bareCount === 0 && isEnded) return message
  const whole = Buffer.allocUnsafe(end + bareCount + (isEnded ? 0 : 2))
  const at = writeCrlfLines(message, whole, 0)
  if (!isEnded) whole.write('\r\n', at, 'latin1')
  return whole
}

/**
 * Length without CRLF (RFC 5322 §2.1.1). Many servers refuse longer lines, or break them anywhere, which
 * invalidates signatures.
 */
const LINE_OCTETS_MAX = 998
/** A line is broken behind a blank if one is found within this distance from the limit. */
const LOOK_BACK_OCTETS = 200
/** A broken line continues with a blank. */
const BREAK = Buffer.from('\r\n ')
/** Minimum length of a piece of a broken line. */
const PIECE_OCTETS_MIN = LINE_OCTETS_MAX - LOOK_BACK_OCTETS

/** Breaks lines of a body that are too long; they continue with a blank. Lines end in CRLF. */
export function withShortLines(body: Buffer): Buffer {
  let out: Buffer | undefined
  let to = 0
  let copied = 0
  for (let start = 0; start < body.length; ) {
    let end = start
    while (end < body.length && body[end] !== LF && body[end] !== CR) end += 1
    if (end - start > LINE_OCTETS_MAX) {
      out ??= Buffer.allocUnsafe(body.length + BREAK.length * Math.ceil(body.length / PIECE_OCTETS_MIN))
      to += body.copy(out, to, copied, start)
      to = writeBroken(body, start, end, out, to)
      copied = end
    }
    start = end + 1
  }
  if (!out) return body
  to += body.copy(out, to, copied)
  return out.subarray(0, to)
}

/** @returns the position behind the written line */
function writeBroken(body: Buffer, start: number, end: number, out: Buffer, position: number): number {
  let to = position
  let from = start
  /** Column at which the next piece begins, behind the blank of a continued line. */
  let column = 0
  while (column + end - from > LINE_OCTETS_MAX) {
    const at = breakIn(body, from - column, from + LINE_OCTETS_MAX - column)
    to += body.copy(out, to, from, at)
    to += BREAK.copy(out, to)
    from = at
    column = 1
  }
  return to + body.copy(out, to, from, end)
}

/**
 * Returns the position of a line break: behind a blank, or else between characters of UTF-8.
 *
 * @param limit position at which the line has its maximum length
 */
function breakIn(body: Buffer, lineAt: number, limit: number): number {
  for (let at = limit; at > lineAt + LINE_OCTETS_MAX - LOOK_BACK_OCTETS + 1; at--)
    if (body[at - 1] === BLANK) return at
  let at = limit
  while (at > limit - 4 && (body[at]! & 0xc0) === 0x80) at -= 1
  return at
}

/** Tells whether a line of the field is longer than 998 octets. */
export function hasLongLine({ name, value }: HeaderField): boolean {
  if (name.length + 2 + value.length <= LINE_OCTETS_MAX) return false
  return `${name}: ${value}`.split('\r\n').some(line => Buffer.byteLength(line) > LINE_OCTETS_MAX)
}

/** Blanks between words. A line break in front of them is removed by unfolding (RFC 5322 §2.2.3). */
const BETWEEN_WORDS = /(?<=[^ \t])(?=[ \t]+[^ \t])/

/** Breaks lines of a field that are too long in front of blanks. Words are never broken. */
export function withShortFieldLines({ name, value }: HeaderField): HeaderField {
  const octets = Buffer.from(value).toString('latin1')
  const lines = octets.split('\r\n').map((line, i) => foldedLine(line, i === 0 ? `${name}: `.length : 0))
  const folded = lines.join('\r\n')
  return folded === octets ? { name, value } : { name, value: Buffer.from(folded, 'latin1').toString() }
}

/** @param column number of octets before the text on its line */
function foldedLine(line: string, column: number): string {
  if (column + line.length <= LINE_OCTETS_MAX) return line
  let folded = ''
  let at = column
  for (const word of line.split(BETWEEN_WORDS)) {
    if (folded !== '' && at + word.length > LINE_OCTETS_MAX) {
      folded += '\r\n'
      at = 0
    }
    folded += word
    at += word.length
  }
  return folded
}
