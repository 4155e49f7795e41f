/** Decodes text by its declared charset, or by detection where the declaration is wrong. */
import { isAscii, isUtf8 } from 'node:buffer'
import { type CharsetDecoder, STATEFUL } from './stateful-charsets.ts'

/** Labels that occur in mail and are not in the Encoding Standard. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['cp932', 'shift_jis'],
  ['iso-2022-jp-1', 'iso-2022-jp'],
  ['iso-2022-jp-ms', 'iso-2022-jp'],
  ['cp50220', 'iso-2022-jp'],
  ['cp50221', 'iso-2022-jp'],
  ['eucjp', 'euc-jp'],
  ['eucjp-ms', 'euc-jp'],
  ['cp936', 'gb18030'],
  ['cp949', 'euc-kr'],
  ['cp950', 'big5'],
  ['utf8mb4', 'utf-8'],
  ['cp1250', 'windows-1250'],
  ['cp-1251', 'windows-1251'],
  ['ansi', 'windows-1252'],
])
/** Labels that say nothing about octets beyond ASCII, or are often wrong. */
const UNRELIABLE = new Set(['us-ascii', 'ascii', 'ansi_x3.4-1968', 'iso-8859-1', 'latin1', 'unknown-8bit'])
const ISO_2022_JP = ['\x1b$@', '\x1b$B'] as const
const BEYOND_ASCII = /[\x80-\xff]/
const PIECE_OCTETS = 64 * 1024

/**
 * Decodes a text; never throws.
 *
 * @param bytes text with one character per octet
 * @param label value of `charset`, which may be unknown or wrong
 */
export function decodeText(bytes: string, label: string | undefined): string {
  if (isPlain(bytes, nameOf(label))) return bytes
  return [...textPieces(Buffer.from(bytes, 'latin1'), label)].join('')
}

/** Yields the decoded text in pieces of about 64 KB. */
export function* textPieces(octets: Buffer, label: string | undefined): Generator<string> {
  const decoder = decoderFor(octets, nameOf(label))
  for (let at = 0; at < octets.length; at += PIECE_OCTETS)
    yield decoder.write(octets.subarray(at, at + PIECE_OCTETS))
  yield decoder.end()
}

function nameOf(label: string | undefined): string {
  return label?.toLowerCase().trim() ?? ''
}

/** Tells whether each octet is a character of ASCII. */
function isPlain(bytes: string, name: string): boolean {
  if (STATEFUL.has(name) || name.startsWith('utf-16') || BEYOND_ASCII.test(bytes)) return false
  return !ISO_2022_JP.some(sequence => bytes.includes(sequence))
}

function decoderFor(octets: Buffer, name: string): CharsetDecoder {
  const stateful = STATEFUL.get(name)
  if (stateful) return stateful()
  if (ISO_2022_JP.some(sequence => octets.includes(sequence))) return platformDecoder('iso-2022-jp')!
  if (!name.startsWith('utf-16') && isAscii(octets)) return ASCII
  const known = name === '' || UNRELIABLE.has(name) ? undefined : (OTHER_NAMES.get(name) ?? name)
  const named = known === undefined || known === 'utf-8' ? undefined : platformDecoder(known)
  return named ?? platformDecoder(known === 'utf-8' || isUtf8(octets) ? 'utf-8' : 'windows-1252')!
}

const ASCII: CharsetDecoder = {
  write: piece => Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('latin1'),
  end: () => '',
}

/** Returns undefined for a label that the platform does not support. */
function platformDecoder(label: string): CharsetDecoder | undefined {
  try {
    const decoder = new TextDecoder(label)
    return { write: piece => decoder.decode(piece, { stream: true }), end: () => decoder.decode() }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
