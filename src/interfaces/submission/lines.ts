/** Line ends of a submitted message (RFC 6409 §8: what leaves us is well-formed, whatever came). */
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
 * Without its CRLF (RFC 5322 §2.1.1). Many servers refuse longer ones, or break them where they like, and
 * signatures with them.
 */
const LINE_LENGTH_MAX = 998
/** So far from the end a blank is looked for, behind which a line can be broken with the least harm. */
const LOOK_BACK_BYTES = 200
/** A line that was broken goes on with a blank. */
const BREAK = Buffer.from('\r\n ')
/** A piece of a broken line has no fewer octets of the line. */
const SHORTEST_PIECE = LINE_LENGTH_MAX - LOOK_BACK_BYTES

/** A body whose lines end in CRLF, with those that are too long broken; they go on with a blank. */
export function withShortLines(body: Buffer): Buffer {
  let out: Buffer | undefined
  let to = 0
  let copied = 0
  for (let start = 0; start < body.length; ) {
    let end = start
    while (end < body.length && body[end] !== LF && body[end] !== CR) end += 1
    if (end - start > LINE_LENGTH_MAX) {
      out ??= Buffer.allocUnsafe(body.length + BREAK.length * Math.ceil(body.length / SHORTEST_PIECE))
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

/** @returns the position behind what was written of the line */
function writeBroken(body: Buffer, start: number, end: number, out: Buffer, position: number): number {
  let to = position
  let from = start
  /** Of the blank that the rest goes on with. */
  let column = 0
  while (column + end - from > LINE_LENGTH_MAX) {
    const at = breakIn(body, from - column, from + LINE_LENGTH_MAX - column)
    to += body.copy(out, to, from, at)
    to += BREAK.copy(out, to)
    from = at
    column = 1
  }
  return to + body.copy(out, to, from, end)
}

/**
 * Behind a blank, else between characters: octets of UTF-8 stay together. @param limit where a line is as
 * long as it may be
 */
function breakIn(body: Buffer, lineAt: number, limit: number): number {
  for (let at = limit; at > lineAt + LINE_LENGTH_MAX - LOOK_BACK_BYTES + 1; at--)
    if (body[at - 1] === BLANK) return at
  let at = limit
  while (at > limit - 4 && (body[at]! & 0xc0) === 0x80) at -= 1
  return at
}

/** Blanks between words: a line may be broken before them, and unfolds to what it was (RFC 5322 §2.2.3). */
const BETWEEN_WORDS = /(?<=[^ \t])(?=[ \t]+[^ \t])/

/** Lines that are too long are broken where there are blanks; one word is never. */
export function withShortFieldLines({ name, value }: HeaderField): HeaderField {
  const octets = Buffer.from(value).toString('latin1')
  const lines = octets.split('\r\n').map((line, i) => foldedLine(line, i === 0 ? `${name}: `.length : 0))
  const folded = lines.join('\r\n')
  return folded === octets ? { name, value } : { name, value: Buffer.from(folded, 'latin1').toString() }
}

/** @param column octets before it on its line */
function foldedLine(line: string, column: number): string {
  if (column + line.length <= LINE_LENGTH_MAX) return line
  let folded = ''
  let at = column
  for (const word of line.split(BETWEEN_WORDS)) {
    if (folded !== '' && at + word.length > LINE_LENGTH_MAX) {
      folded += '\r\n'
      at = 0
    }
    folded += word
    at += word.length
  }
  return folded
}
