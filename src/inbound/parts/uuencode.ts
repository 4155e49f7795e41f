/** Undoes uuencode, as programs from before MIME encoded files, and some after it: between `begin` and `end`, line by line. */
import type { Decoder } from './decoder.ts'

const BEGIN = /^begin [0-7]{3,4} /
/** What is no line of it any more is not waited for. */
const LONGEST_LINE = 1_024

/** What does not begin as it should is left as it is. */
export function uuDecoder(): Decoder {
  let left = ''
  let state: 'before' | 'inside' | 'after' | 'not-encoded' = 'before'

  const decodedLine = (line: string): Buffer => {
    const text = line.replace(/\r?\n$/, '')
    if (state === 'before' && text.trim() !== '') {
      state = BEGIN.test(text) ? 'inside' : 'not-encoded'
      if (state === 'inside') return NOTHING
    }
    if (state === 'not-encoded') return Buffer.from(line, 'latin1')
    if (state !== 'inside') return NOTHING
    const bytes = text === 'end' ? NOTHING : bytesOf(text)
    if (bytes.length === 0) state = 'after'
    return bytes
  }

  return {
    add(piece) {
      if (state === 'after') return NOTHING
      const text = left + Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('latin1')
      const newline = text.lastIndexOf('\n')
      const cut = newline >= 0 ? newline + 1 : text.length > LONGEST_LINE ? text.length : 0
      left = text.slice(cut)
      return Buffer.concat((text.slice(0, cut).match(/[^\n]*\n|[^\n]+$/g) ?? []).map(decodedLine))
    },
    end: () => (left === '' ? NOTHING : decodedLine(left)),
  }
}

const NOTHING = Buffer.alloc(0)

/** A length, then four characters for three bytes; what was cut off at the end were blanks. */
function bytesOf(line: string): Buffer {
  const length = line === '' ? 0 : valueAt(line, 0)
  const bytes = Buffer.alloc(length + 2)
  for (let from = 1, to = 0; to < length; from += 4, to += 3) {
    const [a, b, c, d] = [0, 1, 2, 3].map(i => valueAt(line, from + i)) as [number, number, number, number]
    bytes[to] = (a << 2) | (b >> 4)
    bytes[to + 1] = (b << 4) | (c >> 2)
    bytes[to + 2] = (c << 6) | d
  }
  return bytes.subarray(0, length)
}

/** Of six bits; zero is a blank or a backquote. */
function valueAt(line: string, at: number): number {
  return at < line.length ? (line.charCodeAt(at) - 0x20) & 0x3f : 0
}
