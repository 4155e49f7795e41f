/**
 * Decodes the transfer encoding of a part in pieces, and a malformed one as far as possible (RFC 2045 §6).
 */
import { base64Decoder } from '../../../protocols/bounces/parts/base64.ts'
import {
  decodeInPieces,
  decodeOctets,
  type OctetDecoder,
} from '../../../protocols/bounces/parts/octet-decoder.ts'
import { quotedPrintableDecoder } from '../../../protocols/bounces/parts/quoted-printable.ts'
import { uuDecoder } from './uuencode.ts'

export type Encoding = 'none' | 'base64' | 'quoted-printable' | 'uuencode'

/** Undoes the encoding of a part that comes in pieces of any size. */
export interface PartDecoder {
  /** @returns what is whole by now; may share memory with the piece */
  add(piece: Uint8Array): Buffer
  end(): Buffer
}

const ENCODINGS: ReadonlyMap<string, Encoding> = new Map([
  ['base64', 'base64'],
  ['quoted-printable', 'quoted-printable'],
  ...['uuencode', 'x-uuencode', 'x-uue'].map(name => [name, 'uuencode'] as const),
])

export function encodingOf(field: string | undefined): Encoding {
  const name = /[a-z0-9-]+/i.exec(field ?? '')?.[0]?.toLowerCase()
  return ENCODINGS.get(name ?? '') ?? 'none'
}

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
      const out = Buffer.allocUnsafe(decoder.mostOctets(0))
      return out.subarray(0, decoder.end(out, 0))
    },
  }
}

/**
 * The first octets of a decoded part; they may share memory with `bytes`.
 * @param mostOctets what so many take up is taken at once; without it, what the part needs
 */
export function decodeBytes(bytes: Uint8Array, encoding: Encoding, mostOctets?: number): Buffer {
  const decoder = octetDecoder(encoding)
  if (!decoder) return asIs(bytes.subarray(0, mostOctets))
  const needed = mostOctets === undefined ? decodedSize(bytes, encoding) : decoder.mostOctets(bytes.length)
  return decodeOctets(decoder, bytes, Math.min(needed, mostOctets ?? needed))
}

/** How long a part is once it is decoded; its bytes are nowhere all together. */
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

function octetDecoder(encoding: Encoding): OctetDecoder | undefined {
  if (encoding === 'base64') return base64Decoder()
  if (encoding === 'uuencode') return uuDecoder()
  return encoding === 'quoted-printable' ? quotedPrintableDecoder() : undefined
}

function asIs(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
