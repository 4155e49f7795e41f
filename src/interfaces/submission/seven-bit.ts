/**
 * Converts a message to 7 bits, since hosts without 8BITMIME must not be sent others (RFC 6152 §3), and a
 * conversion on the way would invalidate its signatures. Each part keeps its content, in another transfer
 * encoding. Called by `read-message.ts` before the message is stored.
 */
import { isAscii, isUtf8 } from 'node:buffer'
import { base64LinesSize, writeBase64Lines } from '../../protocols/mime/base64-lines.ts'
import { surveyLines } from '../../protocols/mime/line-survey.ts'
import { encodeQuotedPrintable } from '../../protocols/mime/quoted-printable.ts'
import { inAscii } from '../../protocols/mime/read/ascii-field.ts'
import { decodeText } from '../../protocols/mime/read/charset.ts'
import { charsetOf as knownCharset } from '../../protocols/mime/read/charset-labels.ts'
import { rawParameters } from '../../protocols/mime/read/content-field.ts'
import { readHead } from '../../protocols/mime/read/head.ts'
import { decodeBytes, encodedEnd } from '../../protocols/mime/read/transfer.ts'
import { type Leaf, walkMail } from '../../protocols/mime/read/walk.ts'
import { smallerEncoding } from '../../protocols/mime/text-entity.ts'
import { fieldsText, type HeaderField } from '../../protocols/smtp/header-field.ts'

/** The header section of a submitted message may have 256 KB; encoding makes it larger. */
const HEAD_LIMITS = { fieldsMax: 2_000, headerBytesMax: 2_000_000, valueBytesMax: 2_000_000 }
/** Messages enclosed more deeply stay as they are: each level costs a copy. */
const ENCLOSED_DEPTH_MAX = 8
/** Multiparts may have no encoding of their own (RFC 2045 §6.4); these types must not be encoded either. */
const NOT_ENCODED = /^(?:multipart\/.*|message\/(?:partial|external-body))$/
const SOFT_BREAK_BEFORE_DASHES = Buffer.from('=\r\n--')
const WITHOUT_EFFECT = /^\s*(?:8bit|binary)\b/i
const QUESTION_MARK = 0x3f
const LF = 0x0a
const CRLF = Buffer.from('\r\n')

/** Part of the message from `from` to `end`, and the octets that replace it. */
interface Piece {
  from: number
  end: number
  octets: Buffer
}

/**
 * Returns the message itself if it is in 7 bits. Inside multipart/signed and multipart/encrypted nothing
 * changes, and what `walkMail` does not find stays as it is; the result then still has octets of 8 bits.
 *
 * @param message header section and body, with lines that end in CRLF
 */
export function inSevenBits(message: Buffer, depth = 0): Buffer {
  if (isAscii(message)) return message
  const { leaves, multiparts, faults } = walkMail(message)
  const parts = leaves.filter(({ isSealed }) => !isSealed).map(leaf => leafPiece(message, leaf, depth))
  const isFound = faults.length === 0 && leaves.every(({ isSealed }) => !isSealed)
  const isClean = isFound && parts.every(({ octets }) => isAscii(octets))
  const heads = multiparts
    .filter(({ isSealed }) => !isSealed)
    .map(({ headAt, start }) => ({
      from: headAt,
      end: start,
      octets: rewrittenHead(message, headAt, start, isClean ? '7bit' : null),
    }))
  const pieces = [...parts, ...heads].sort((a, b) => a.from - b.from)
  const out: Buffer[] = []
  let at = 0
  for (const { from, end, octets } of pieces) {
    out.push(isFound ? withoutEightBits(message.subarray(at, from)) : message.subarray(at, from), octets)
    at = end
  }
  const rest = message.subarray(at)
  out.push(isFound ? withoutEightBits(rest) : rest)
  if (depth === 0 && out.findLast(({ length }) => length > 0)?.at(-1) !== LF) out.push(CRLF)
  return Buffer.concat(out)
}

function leafPiece(message: Buffer, leaf: Leaf, depth: number): Piece {
  const { headAt: from, start, end } = leaf
  const piece = (octets: Buffer) => ({ from, end, octets })
  const body = message.subarray(start, end)
  const head = message.subarray(from, start)
  if (isAscii(body)) {
    if (isAscii(head)) return piece(message.subarray(from, end))
    return piece(Buffer.concat([rewrittenHead(message, from, start, null), body]))
  }
  if (leaf.type.value === 'message/rfc822' && leaf.encoding === 'none') {
    if (depth === ENCLOSED_DEPTH_MAX) return piece(message.subarray(from, end))
    const enclosed = inSevenBits(body, depth + 1)
    const written = rewrittenHead(message, from, start, isAscii(enclosed) ? '7bit' : null)
    return piece(Buffer.concat([written, enclosed]))
  }
  const declared = readHead(message, from, start, undefined, HEAD_LIMITS).head.raw('content-type') ?? ''
  const type = declared.includes('/') ? declared.split(';')[0]!.trim().toLowerCase() : leaf.type.value
  if (NOT_ENCODED.test(type) || leaf.encoding === 'uuencode') return piece(message.subarray(from, end))
  const { encoding, octets } = encodedBody(leaf, message.subarray(start, encodedEnd(message, leaf)))
  return piece(
    Buffer.concat([rewrittenHead(message, from, start, encoding, charsetOf(leaf, declared, body)), octets]),
  )
}

/** Encodes text in the smaller encoding, and files in base64. */
function encodedBody({ type, encoding }: Leaf, body: Buffer): { encoding: string; octets: Buffer } {
  if (encoding === 'none' && type.value.startsWith('text/')) {
    const survey = surveyLines(body)
    if (smallerEncoding(body.length, survey) === 'quoted-printable') {
      const octets = encodeQuotedPrintable(body, survey)
      // A line break in front of dashes could make a boundary of a text that was none.
      if (!octets.includes(SOFT_BREAK_BEFORE_DASHES)) return { encoding: 'quoted-printable', octets }
    }
  }
  const content = encoding === 'none' ? body : decodeBytes(body, encoding)
  const octets = Buffer.allocUnsafe(base64LinesSize(content.length))
  writeBase64Lines(content, octets, 0)
  return { encoding: 'base64', octets }
}

/**
 * Returns the charset to declare for a text that declares none, or ASCII, or undefined. Text without a type
 * that is not UTF-8 is in an unknown charset (RFC 1428 §3).
 */
function charsetOf({ type, encoding }: Leaf, declared: string, body: Buffer): string | undefined {
  if (!type.value.startsWith('text/') || encoding !== 'none') return undefined
  const charset = type.params.get('charset')
  if (charset !== undefined && knownCharset(charset)?.name !== 'us-ascii') return undefined
  if (isUtf8(body)) return 'utf-8'
  return declared.includes('/') && charset === undefined ? undefined : 'unknown-8bit'
}

/**
 * Writes a header section in ASCII.
 *
 * @param encoding transfer encoding to declare; `7bit` replaces only a declaration of `8bit` or `binary`, and
 * null none
 * @param charset charset to declare for a text
 */
function rewrittenHead(
  message: Buffer,
  headAt: number,
  bodyAt: number,
  encoding: string | null,
  charset?: string,
): Buffer {
  const { head } = readHead(message, headAt, bodyAt, undefined, HEAD_LIMITS)
  const octets = message.subarray(headAt, bodyAt)
  const declares = WITHOUT_EFFECT.test(head.raw('content-transfer-encoding') ?? '')
  const isChanged = charset !== undefined || (encoding === '7bit' ? declares : encoding !== null)
  if (head.isCut || (!isChanged && isAscii(octets))) return octets
  const isDropped = (name: string) =>
    name === 'content-transfer-encoding' && encoding !== null && (encoding !== '7bit' || declares)
  const fields: HeaderField[] = head
    .foldedFields()
    .filter(({ name }) => !isDropped(name.toLowerCase()))
    .map(({ name, value }) => inAscii({ name, value: decodeText(value.replace(/^[ \t]/, ''), undefined) }))
  if (charset !== undefined) declareCharset(fields, charset)
  if (encoding !== null && isChanged) fields.push({ name: 'Content-Transfer-Encoding', value: encoding })
  const isMessage = headAt === 0
  if (isMessage && isChanged && !fields.some(({ name }) => /^mime-version$/i.test(name)))
    fields.push({ name: 'MIME-Version', value: '1.0' })
  return Buffer.from(`${fieldsText(fields)}\r\n`)
}

function declareCharset(fields: HeaderField[], charset: string): void {
  const at = fields.findIndex(({ name }) => /^content-type$/i.test(name))
  const declared = fields[at] && withoutCharset(fields[at].value).replace(/[;\s]+$/, '')
  const type = declared?.includes('/') ? declared : 'text/plain'
  const field = { name: 'Content-Type', value: `${type}; charset=${charset}` }
  if (at < 0) fields.push(field)
  else fields[at] = field
}

function withoutCharset(value: string): string {
  const charset = [...rawParameters(value)].find(({ name }) => name.toLowerCase() === 'charset')
  if (!charset) return value
  const before = value.slice(0, charset.start).replace(/[;\s]+$/, '')
  return before + value.slice(charset.end)
}

/** Replaces octets between parts, which nobody is shown. */
function withoutEightBits(octets: Buffer): Buffer {
  if (isAscii(octets)) return octets
  const copy = Buffer.from(octets)
  for (let at = 0; at < copy.length; at++) if (copy[at]! > 0x7f) copy[at] = QUESTION_MARK
  return copy
}
