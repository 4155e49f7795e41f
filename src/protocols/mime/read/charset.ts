/** Decodes text by its declared charset, or by detection where the declaration is wrong. */
import { isAscii, isUtf8 } from 'node:buffer'
import { type Charset, charsetOf } from './charset-labels.ts'
import type { CharsetDecoder } from './stateful-charsets.ts'

/**
 * Charsets that are often declared for text in UTF-8. The labels of all three name one encoding to browsers
 * (WHATWG Encoding §4.2).
 */
const UNRELIABLE = new Set(['us-ascii', 'iso-8859-1', 'windows-1252'])
/** Octets from the first one beyond ASCII that tell whether a stream is in UTF-8. */
const TELLING_OCTETS = 4 * 1024
const ISO_2022_JP = ['\x1b$@', '\x1b$B'] as const
const BEYOND_ASCII = /[\x80-\xff]/
/** Shifts of 7-bit charsets: ESC, SO and SI. */
const SHIFT = /[\x0e\x0f\x1b]/
const PIECE_OCTETS = 64 * 1024

/**
 * Decodes a text; never throws.
 *
 * @param bytes text with one character per octet
 * @param label value of `charset`, which may be unknown or wrong
 * @param otherwise charset of octets beyond ASCII that are not UTF-8, where `label` does not tell
 */
export function decodeText(bytes: string, label: string | undefined, otherwise?: string): string {
  if (isPlain(bytes, knownCharset(label))) return bytes
  return [...textPieces(Buffer.from(bytes, 'latin1'), label, otherwise)].join('')
}

/** Yields the decoded text in pieces of about 64 KB. Parameters are those of `decodeText`. */
export function* textPieces(
  octets: Buffer,
  label: string | undefined,
  otherwise?: string,
): Generator<string> {
  const decoder = decoderFor(octets, knownCharset(label), otherwise)
  for (let at = 0; at < octets.length; at += PIECE_OCTETS)
    yield decoder.write(octets.subarray(at, at + PIECE_OCTETS))
  yield decoder.end()
}

/**
 * Tells whether two texts of that charset can be decoded as one, for which neither may begin or end with a
 * shift.
 */
export function canBeJoined(bytes: string, label: string): boolean {
  return charsetOf(label)?.isStateful !== true && !SHIFT.test(bytes)
}

function knownCharset(label: string | undefined): Charset | undefined {
  return label === undefined ? undefined : charsetOf(label)
}

/** Tells whether each octet is a character of ASCII. */
function isPlain(bytes: string, charset: Charset | undefined): boolean {
  if (charset?.isStateful || charset?.isWide || BEYOND_ASCII.test(bytes)) return false
  return !ISO_2022_JP.some(sequence => bytes.includes(sequence))
}

function decoderFor(
  octets: Buffer,
  charset: Charset | undefined,
  otherwise: string | undefined,
): CharsetDecoder {
  if (charset?.isStateful && !isUtf8UnderSevenBitLabel(octets, charset)) return charset.createDecoder()
  if (ISO_2022_JP.some(sequence => octets.includes(sequence))) return known('iso-2022-jp').createDecoder()
  if (!charset?.isWide && isAscii(octets)) return ASCII
  if (charset && !charset.isStateful && !UNRELIABLE.has(charset.name)) return charset.createDecoder()
  if (isUtf8(octets)) return known('utf-8').createDecoder()
  const other = knownCharset(otherwise)
  const isUsable = other && !other.isStateful && !other.isWide && other.name !== 'utf-8'
  return (isUsable && !UNRELIABLE.has(other.name) ? other : known('windows-1252')).createDecoder()
}

/**
 * Decoder of a stream, by the rule of `textPieces`.
 * @returns undefined for an unknown label
 */
export function streamDecoder(label: string): CharsetDecoder | undefined {
  const charset = charsetOf(label)
  return charset && (UNRELIABLE.has(charset.name) ? new UnreliableDecoder() : charset.createDecoder())
}

/** Decodes as UTF-8, or as windows-1252 if the first octets beyond ASCII are not UTF-8. */
class UnreliableDecoder implements CharsetDecoder {
  #chosen: CharsetDecoder | undefined
  #held: Buffer = Buffer.alloc(0)

  write(piece: Uint8Array): string {
    if (this.#chosen) return this.#chosen.write(piece)
    const octets = Buffer.concat([this.#held, piece])
    const at = this.#held.length > 0 ? 0 : octets.findIndex(octet => octet >= 0x80)
    if (at < 0) return ASCII.write(octets)
    this.#held = octets.subarray(at)
    const plain = ASCII.write(octets.subarray(0, at))
    return this.#held.length < TELLING_OCTETS ? plain : plain + this.#choose(wholeUtf8(this.#held))
  }

  end(): string {
    const rest = this.#chosen ? '' : this.#choose(this.#held)
    return rest + this.#chosen!.end()
  }

  #choose(telling: Uint8Array): string {
    this.#chosen = known(isUtf8(telling) ? 'utf-8' : 'windows-1252').createDecoder()
    return this.#chosen.write(this.#held)
  }
}

/** Leaves out a character that may go on in the next piece. */
function wholeUtf8(octets: Buffer): Buffer {
  let end = octets.length
  while (end > 0 && octets.length - end < 3 && (octets[end - 1]! & 0xc0) === 0x80) end--
  return end > 0 && octets[end - 1]! >= 0xc0 ? octets.subarray(0, end - 1) : octets
}

/** Some programs declare ISO-2022 for text in UTF-8. */
function isUtf8UnderSevenBitLabel(octets: Buffer, { name }: Charset): boolean {
  if (!name.startsWith('iso-2022') || isAscii(octets) || !isUtf8(octets)) return false
  return !octets.includes(0x1b) && !octets.includes(0x0e)
}

function known(name: string): Charset {
  return charsetOf(name)!
}

const ASCII: CharsetDecoder = {
  write: piece => Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('latin1'),
  end: () => '',
}
