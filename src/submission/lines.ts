/** Line ends of a submitted message (RFC 6409 §8: what leaves us is well-formed, whatever came). */
import type { HeaderField } from '../smtp/header-field.ts'

/** A CR or LF that is not half of a CRLF: what one server takes for the end of a message, and another does not. */
const BARE_BREAK = /\r(?!\n)|(?<!\r)\n/
const LINE_BREAK = /\r\n|\r|\n/g

/** The message with every line, the last one too, ending in CRLF. */
export function withWholeLines(message: Buffer): Buffer {
  const text = message.toString('latin1')
  const mended = BARE_BREAK.test(text) ? text.replace(LINE_BREAK, '\r\n') : text
  if (mended === text && text.endsWith('\r\n')) return message
  return Buffer.from(mended.endsWith('\r\n') ? mended : `${mended}\r\n`, 'latin1')
}

/** Without its CRLF (RFC 5322 §2.1.1). Many servers refuse longer ones, or break them where they like, and signatures with them. */
const LONGEST_LINE = 998
const TOO_LONG = /[^\r\n]{999,}/g
/** So far from the end a blank is looked for, behind which a line can be broken with the least harm. */
const LOOK_BACK = 200

/** A body whose lines end in CRLF, with those that are too long broken; they go on with a blank. */
export function withShortLines(body: Buffer): Buffer {
  const text = body.toString('latin1')
  const broken = text.replace(TOO_LONG, brokenLine)
  return broken === text ? body : Buffer.from(broken, 'latin1')
}

function brokenLine(line: string): string {
  const pieces: string[] = []
  let rest = line
  while (rest.length > LONGEST_LINE) {
    const at = breakIn(rest)
    pieces.push(rest.slice(0, at))
    rest = ` ${rest.slice(at)}`
  }
  return [...pieces, rest].join('\r\n')
}

/** Behind a blank, else between characters: octets of UTF-8 stay together. */
function breakIn(line: string): number {
  const blank = line.lastIndexOf(' ', LONGEST_LINE - 1)
  if (blank > LONGEST_LINE - LOOK_BACK) return blank + 1
  let at = LONGEST_LINE
  while (at > LONGEST_LINE - 4 && (line.charCodeAt(at) & 0xc0) === 0x80) at -= 1
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
  if (column + line.length <= LONGEST_LINE) return line
  let folded = ''
  let at = column
  for (const word of line.split(BETWEEN_WORDS)) {
    if (folded !== '' && at + word.length > LONGEST_LINE) {
      folded += '\r\n'
      at = 0
    }
    folded += word
    at += word.length
  }
  return folded
}
