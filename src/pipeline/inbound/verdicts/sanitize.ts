/**
 * Prepares a message for verification by mailauth: refuses or removes input that would only cause excessive
 * work. Also reads the authors that users are shown, for the evaluation of DMARC.
 */

import { isAddressList } from '../../../protocols/mime/read/address-grammar.ts'
import { addressesOf } from '../../../protocols/mime/read/addresses.ts'
import { type FieldRange, fieldRanges, isFieldNamed, readHead } from '../../../protocols/mime/read/head.ts'
import type { Mail } from './mail.ts'

/** Further signatures are removed, since they are only made to cause work (RFC 6376 §6.1). */
export const SIGNATURES_MAX = 10
/** Ten times the limit of large providers. */
const HEADER_BYTES_MAX = 512 * 1024
/**
 * A list of thousands of addresses on a line each is shorter. mailauth copies the lines of a field anew with
 * each further line, so that the work grows with the square of their number.
 */
const HEADER_LINES_MAX = 5_000
/**
 * A line of 998 octets (RFC 5322 §2.1.1) cannot have as many. mailauth searches a run of blanks and line
 * breaks anew from each of its characters.
 */
const BLANK_RUN_MAX = 1_000
/** Fields that mailauth reads for more than their hash, with their names as users know them. */
const PARSED_FIELDS = new Map([
  ['from', 'From'],
  ['return-path', 'Return-Path'],
  ['dkim-signature', 'DKIM-Signature'],
  ['arc-seal', 'ARC-Seal'],
  ['arc-message-signature', 'ARC-Message-Signature'],
  ['arc-authentication-results', 'ARC-Authentication-Results'],
])
/** A list of 64 addresses takes about 1,000 octets, and so does a signature. */
const PARSED_FIELD_BYTES_MAX = 16 * 1024
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024
/**
 * Mail has lines of at most 998 octets (RFC 5322 §2.1.1). mailauth canonicalizes a line as a whole, and again
 * with each piece that arrives, so that the work grows with the square of the length.
 */
const LINE_BYTES_MAX = 1024 * 1024
const LF = 0x0a
/** Tab, LF, CR and space. */
const BLANKS = new Set([0x09, LF, 0x0d, 0x20])
/** The beginning of a field, whose colon may be on its second line (RFC 5322 §4.5). */
const FIELD_BEGINNING = /^[\x21-\x39\x3b-\x7e]+[ \t]*(?:\r?\n[ \t]+)?:/
const FIELD_BEGINNING_BYTES = 1_000

/** The From fields of a message as users are shown them. */
export interface ShownAuthors {
  fieldCount: number
  addresses: readonly string[]
  /** False if other readers may find other addresses in a field. */
  areLists: boolean
}

interface SanitizedMail {
  pieces: AsyncIterable<Uint8Array>
  /** Number of signatures that were removed because of their number. */
  leftOut: number
  authors: ShownAuthors
}

/** @returns the reason as `fault` if the message is not verified */
export async function sanitize(mail: Mail): Promise<SanitizedMail | { fault: string }> {
  if (mail.sizeBytes > MESSAGE_BYTES_MAX) return { fault: 'the message is too large' }
  const pieces = mail.read()[Symbol.asyncIterator]()
  const { bytes, isWhole } = await takeHead(pieces, HEADER_BYTES_MAX)
  const checked = isWhole ? checkedFields(bytes) : { fault: TOO_LARGE }
  if ('fault' in checked) {
    await pieces.return?.()
    return checked
  }
  const { surplus, isSigned } = checked
  const left = joined(without(bytes, surplus), pieces)
  return {
    pieces: isSigned ? withShortLines(left) : left,
    leftOut: surplus.length,
    authors: shownAuthors(bytes),
  }
}

const TOO_LARGE = 'the header section is too large'

/**
 * Finds the surplus signatures, or the reason why the message is not verified. The body is hashed only for
 * DKIM-Signature and ARC-Message-Signature (RFC 6376, RFC 8617).
 */
function checkedFields(bytes: Buffer): { surplus: FieldRange[]; isSigned: boolean } | { fault: string } {
  const signatures: FieldRange[] = []
  let isSigned = false
  let parsed: { name: string; sizeBytes: number } | undefined
  let end = 0
  for (const range of fieldRanges(bytes)) {
    end = range.to
    const name = parsedFieldName(bytes, range)
    if (name === 'dkim-signature') signatures.push(range)
    isSigned ||= name === 'dkim-signature' || name === 'arc-message-signature'
    if (name !== undefined) parsed = { name, sizeBytes: 0 }
    // mailauth appends lines that begin no field to the field above.
    else if (parsed && beginsField(bytes, range)) parsed = undefined
    if (!parsed) continue
    parsed.sizeBytes += range.to - range.from
    if (parsed.sizeBytes > PARSED_FIELD_BYTES_MAX)
      return { fault: `the ${PARSED_FIELDS.get(parsed.name)} field is too long` }
  }
  if (end > HEADER_BYTES_MAX) return { fault: TOO_LARGE }
  const fault = faultOfLines(bytes.subarray(0, end))
  return fault === undefined ? { surplus: signatures.slice(SIGNATURES_MAX), isSigned } : { fault }
}

function parsedFieldName(bytes: Buffer, range: FieldRange): string | undefined {
  for (const name of PARSED_FIELDS.keys()) if (isFieldNamed(bytes, range, name)) return name
  return undefined
}

function beginsField(bytes: Buffer, { from, to }: FieldRange): boolean {
  return FIELD_BEGINNING.test(bytes.toString('latin1', from, Math.min(to, from + FIELD_BEGINNING_BYTES)))
}

function faultOfLines(header: Buffer): string | undefined {
  let lineCount = 0
  let blankCount = 0
  for (const byte of header) {
    if (byte === LF) lineCount += 1
    blankCount = BLANKS.has(byte) ? blankCount + 1 : 0
    if (lineCount > HEADER_LINES_MAX) return 'the header section has too many lines'
    if (blankCount > BLANK_RUN_MAX) return 'the header section has too many blanks in a row'
  }
  return undefined
}

function shownAuthors(bytes: Buffer): ShownAuthors {
  const { head } = readHead(bytes)
  const addresses = addressesOf(head, 'from').map(({ address }) => address)
  const fields = head.all('from')
  return { fieldCount: fields.length, addresses, areLists: fields.every(isAddressList) }
}

/** @throws Error at a line that is too long */
async function* withShortLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let lineBytes = 0
  for await (const piece of pieces) {
    const first = piece.indexOf(LF)
    if (lineBytes + (first < 0 ? piece.length : first) > LINE_BYTES_MAX)
      throw new Error(`a line is longer than ${LINE_BYTES_MAX} octets`)
    lineBytes = first < 0 ? lineBytes + piece.length : piece.length - 1 - piece.lastIndexOf(LF)
    yield piece
  }
}

/**
 * Joins the pieces up to the one in which the header section ends. `isWhole` is false if `maxBytes` were
 * exceeded before its end.
 */
export async function takeHead(
  pieces: AsyncIterator<Uint8Array>,
  maxBytes: number,
): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const taken: Uint8Array[] = []
  let sizeBytes = 0
  let tail = ''
  for (;;) {
    const { value, done } = await pieces.next()
    if (done) return { bytes: Buffer.concat(taken), isWhole: true }
    taken.push(value)
    sizeBytes += value.length
    const seen = tail + Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1')
    if (/(?:^|\n)\r?\n/.test(taken.length === 1 ? seen : `-${seen}`))
      return { bytes: Buffer.concat(taken), isWhole: true }
    if (sizeBytes > maxBytes) return { bytes: Buffer.concat(taken), isWhole: false }
    tail = seen.slice(-2)
  }
}

/** Yields the bytes without some ranges, which are given in their order. */
export function* without(bytes: Uint8Array, ranges: Iterable<FieldRange>): Generator<Uint8Array> {
  let at = 0
  for (const { from, to } of ranges) {
    if (from > at) yield bytes.subarray(at, from)
    at = to
  }
  if (at < bytes.length) yield bytes.subarray(at)
}

export async function* joined(
  head: Iterable<Uint8Array>,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* head
  yield* { [Symbol.asyncIterator]: () => rest }
}
