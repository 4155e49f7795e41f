/** Undoes the transfer encoding of a part piece by piece, broken ones as far as they go (RFC 2045 §6). */
import type { Decoder } from './decoder.ts'
import { uuDecoder } from './uuencode.ts'

export type Encoding = 'none' | 'base64' | 'quoted-printable' | 'uuencode'

const ENCODINGS: ReadonlyMap<string, Encoding> = new Map([
  ['base64', 'base64'],
  ['quoted-printable', 'quoted-printable'],
  ...['uuencode', 'x-uuencode', 'x-uue'].map(name => [name, 'uuencode'] as const),
])

export function encodingOf(field: string | undefined): Encoding {
  const name = /[a-z0-9-]+/i.exec(field ?? '')?.[0]?.toLowerCase()
  return ENCODINGS.get(name ?? '') ?? 'none'
}

export function createDecoder(encoding: Encoding): Decoder {
  if (encoding === 'base64') return base64Decoder()
  if (encoding === 'uuencode') return uuDecoder()
  return encoding === 'quoted-printable' ? quotedPrintableDecoder() : { add: asIs, end: () => NOTHING }
}

/** All at once. */
export function decodeBytes(bytes: Uint8Array, encoding: Encoding): Buffer {
  const decoder = createDecoder(encoding)
  return encoding === 'none' ? asIs(bytes) : Buffer.concat([decoder.add(bytes), decoder.end()])
}

/** How long a part is once it is decoded; its bytes are nowhere all together. */
export function decodedSize(bytes: Buffer, encoding: Encoding): number {
  if (encoding === 'none') return bytes.length
  const decoder = createDecoder(encoding)
  let size = 0
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    size += decoder.add(bytes.subarray(at, at + PIECE_BYTES)).length
  return size + decoder.end().length
}

const PIECE_BYTES = 64 * 1024
const NOTHING = Buffer.alloc(0)
const LONGEST_LINE = 64 * 1024

function asIs(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Pieces that were encoded one by one and joined have padding in the middle: each begins anew. */
function base64Decoder(): Decoder {
  let left = ''
  const whole = (text: string) => Buffer.from(text, 'base64')
  return {
    add(piece) {
      const groups = (
        left +
        asIs(piece)
          .toString('latin1')
          .replace(/[^A-Za-z0-9+/=]+/g, '')
      ).split(/=+/)
      const last = groups.pop()!
      const fits = last.length - (last.length % 4)
      left = last.slice(fits)
      return Buffer.concat([...groups.map(whole), whole(last.slice(0, fits))])
    },
    end: () => whole(left),
  }
}

function quotedPrintableDecoder(): Decoder {
  let left = ''
  return {
    add(piece) {
      const text = left + asIs(piece).toString('latin1')
      const newline = text.lastIndexOf('\n')
      const cut = newline >= 0 ? newline + 1 : text.length > LONGEST_LINE ? text.length - 3 : 0
      left = text.slice(cut)
      return unescaped(withoutSoftBreaks(text.slice(0, cut)))
    },
    end: () => unescaped(left.replace(/=$/, '')),
  }
}

function withoutSoftBreaks(text: string): string {
  const lines = text.split('\n')
  const rest = lines.pop()!
  return lines.map(line => endOf(line)).join('') + rest
}

/** Blanks at the end of a line were added on the way (RFC 2045 §6.7 rule 3). */
function endOf(line: string): string {
  const lineEnd = line.endsWith('\r') ? '\r\n' : '\n'
  let end = line.length - (lineEnd.length - 1)
  while (end > 0 && (line[end - 1] === ' ' || line[end - 1] === '\t')) end -= 1
  return line[end - 1] === '=' ? line.slice(0, end - 1) : line.slice(0, end) + lineEnd
}

function unescaped(text: string): Buffer {
  const bytes = text.replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return Buffer.from(bytes, 'latin1')
}
