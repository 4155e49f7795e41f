/** Locates the fields of a header section as byte ranges (RFC 5322 §2.2), tolerating any other bytes. */

export interface FieldRange {
  /** Lower case, without the blanks that older mail has before the colon (RFC 5322 §4.5). */
  name: string
  from: number
  /** Behind the line end of its last line. */
  to: number
}

export interface VerdictHead {
  fields: FieldRange[]
  /** Where the body begins, or the empty line before it; undefined where the bytes end before. */
  end: number | undefined
}

const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const BLANK = 0x20
/** The bit in which letters of ASCII differ from their capitals. */
const LOWER_CASE = 0x20
/** No name is longer, also with a line break before its colon. */
const NAME_BYTES_MAX = 200

/** @param mostFields behind which nothing is read, neither fields nor the end */
export function readVerdictHead(bytes: Uint8Array, mostFields: number): VerdictHead {
  const fields: FieldRange[] = []
  let from = 0
  while (from < bytes.length && fields.length < mostFields) {
    if (isEmptyLine(bytes, from)) return { fields, end: from }
    const to = endOfField(bytes, from)
    fields.push({ name: nameOf(bytes, from, to), from, to })
    from = to
  }
  return { fields, end: undefined }
}

/**
 * The fields of one name, one after another: a head of millions of fields is gone through without a list of
 * them. @param name lower case
 */
export function* fieldsNamed(bytes: Uint8Array, name: string): Generator<FieldRange> {
  const initial = name.charCodeAt(0)
  for (let from = 0; from < bytes.length && !isEmptyLine(bytes, from); ) {
    const to = endOfField(bytes, from)
    const first = bytes[from]!
    const mayBe = (first | LOWER_CASE) === initial || first <= BLANK
    if (mayBe && to - from > name.length && nameOf(bytes, from, to) === name) yield { name, from, to }
    from = to
  }
}

/** Behind the last line of the field that begins at `from`: lines that begin with a blank go on with it. */
function endOfField(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.length; ) {
    while (at < bytes.length && bytes[at] !== LF) at += 1
    at += 1
    if (bytes[at] !== BLANK && bytes[at] !== TAB) return Math.min(at, bytes.length)
  }
  return bytes.length
}

function isEmptyLine(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] === LF)
}

function nameOf(bytes: Uint8Array, from: number, to: number): string {
  const text = textOf(bytes.subarray(from, Math.min(to, from + NAME_BYTES_MAX)))
  const colon = text.indexOf(':')
  return colon < 0 ? '' : text.slice(0, colon).trim().toLowerCase()
}

/** Of a field, as far as it is UTF-8. */
export function fieldValue(bytes: Uint8Array, { from, to }: FieldRange): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8')
  return text
    .slice(text.indexOf(':') + 1)
    .replace(/\r?\n(?=[ \t])/g, '')
    .trim()
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

/**
 * The pieces up to and with the one in which the header section ends, joined, and those that follow. No more
 * than `mostBytes` are gathered: then `isWhole` is false.
 */
export async function takeHead(
  pieces: AsyncIterator<Uint8Array>,
  mostBytes: number,
): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const taken: Uint8Array[] = []
  let sizeBytes = 0
  let tail = ''
  for (;;) {
    const { value, done } = await pieces.next()
    if (done) return { bytes: Buffer.concat(taken), isWhole: true }
    taken.push(value)
    sizeBytes += value.length
    const seen = tail + textOf(value)
    if (/(?:^|\n)\r?\n/.test(taken.length === 1 ? seen : `-${seen}`))
      return { bytes: Buffer.concat(taken), isWhole: true }
    if (sizeBytes > mostBytes) return { bytes: Buffer.concat(taken), isWhole: false }
    tail = seen.slice(-2)
  }
}
