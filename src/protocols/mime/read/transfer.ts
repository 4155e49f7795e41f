/**
 * Decodes content transfer encodings (RFC 2045 §6), and malformed ones as far as possible. Bodies are decoded
 * in pieces of 16 KB, so that an attachment need not be in memory as a whole.
 */
import { base64Decoder } from './base64.ts'
import { decodeInPieces, decodeOctets, type OctetDecoder } from './octet-decoder.ts'
import { quotedPrintableDecoder } from './quoted-printable.ts'
import { uuDecoder } from './uuencode.ts'

export type Encoding = 'none' | 'base64' | 'quoted-printable' | 'uuencode'

/** Decodes a part whose octets are added in pieces of any size. */
interface PartDecoder {
  /** @returns the octets that are complete by now; they may share memory with the piece */
  add(piece: Uint8Array): Buffer
  end(): Buffer
}

const ENCODINGS: ReadonlyMap<string, Encoding> = new Map([
  ['base64', 'base64'],
  ['quoted-printable', 'quoted-printable'],
  ...['uuencode', 'x-uuencode', 'x-uue'].map(name => [name, 'uuencode'] as const),
])

/** @param field value of `Content-Transfer-Encoding` */
export function encodingOf(field: string | undefined): Encoding {
  const name = /[a-z0-9-]+/i.exec(field ?? '')?.[0]?.toLowerCase()
  return ENCODINGS.get(name ?? '') ?? 'none'
}

interface EncodedRange {
  start: number
  end: number
  encoding: Encoding
}

const PADDING = '='.charCodeAt(0)
/** Length of the text behind padding by which a further piece is told from a footer; a multiple of four. */
const PIECE_SCAN_BYTES = 200
const BASE64_LINES = /^(?:(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?[ \t]*(?:\r?\n|$))*/

export function createDecoder(encoding: Encoding): PartDecoder {
  const decoder = octetDecoder(encoding)
  if (!decoder) return { add: asIs, end: () => Buffer.alloc(0) }
  return {
    add(piece) {
      const decoded: Buffer[] = []
      decodeInPieces({ ...decoder, end: (_, at) => at }, piece, part => {
        decoded.push(Buffer.from(part))
        return true
      })
      return decoded.length === 1 ? decoded[0]! : Buffer.concat(decoded)
    },
    end() {
      const out = Buffer.allocUnsafe(decoder.maxOctets(0))
      return out.subarray(0, decoder.end(out, 0))
    },
  }
}

/**
 * Returns the first octets of a decoded part; they may share memory with `bytes`.
 * @param maxOctets memory for this many octets is allocated at once; without it, the size is computed first
 */
export function decodeBytes(bytes: Uint8Array, encoding: Encoding, maxOctets?: number): Buffer {
  const decoder = octetDecoder(encoding)
  if (!decoder) return asIs(bytes.subarray(0, maxOctets))
  const needed = maxOctets === undefined ? decodedSize(bytes, encoding) : decoder.maxOctets(bytes.length)
  return decodeOctets(decoder, bytes, Math.min(needed, maxOctets ?? needed))
}

/** Returns the size of the decoded part, without holding the decoded part in memory. */
export function decodedSize(bytes: Uint8Array, encoding: Encoding): number {
  const decoder = octetDecoder(encoding)
  if (!decoder) return bytes.length
  let size = 0
  decodeInPieces(decoder, bytes, ({ length }) => {
    size += length
    return true
  })
  return size
}

/**
 * Returns the end of the encoded octets of a part. Base64 ends at its padding (RFC 2045 §6.8), behind which
 * scanners and list servers append their footers, unless the lines behind it are base64, too: pieces that
 * were encoded for themselves and then joined.
 */
export function encodedEnd(bytes: Buffer, { start, end, encoding }: EncodedRange): number {
  if (encoding !== 'base64') return end
  for (let at = bytes.indexOf(PADDING, start); at >= 0 && at < end; at = bytes.indexOf(PADDING, at)) {
    while (at < end && bytes[at] === PADDING) at += 1
    const behind = bytes.toString('latin1', at, Math.min(end, at + PIECE_SCAN_BYTES))
    const isCut = at + behind.length < end
    const lines = isCut ? behind.slice(0, behind.lastIndexOf('\n') + 1 || behind.length) : behind
    const [encoded = ''] = BASE64_LINES.exec(lines) ?? []
    if (encoded.length < lines.length) return at + encoded.lastIndexOf('=') + 1
    at += lines.length
  }
  return end
}

function octetDecoder(encoding: Encoding): OctetDecoder | undefined {
  if (encoding === 'base64') return base64Decoder()
  if (encoding === 'uuencode') return uuDecoder()
  return encoding === 'quoted-printable' ? quotedPrintableDecoder() : undefined
}

function asIs(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
