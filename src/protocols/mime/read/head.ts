/**
 * Reads the header section of a message, or of a part of one (RFC 5322 §2.2). This file alone decides which
 * line is a field, where a field and the header section end, and which of several fields of one name counts.
 * Received mail, reports, submitted mail and the checks of received mail are read by it, so that the sender
 * who is shown, answered, judged by DMARC and named to webhooks is the same.
 *
 * In: the octets of a message. Out: a `Head` with unfolded fields, or the ranges of fields (`fieldRanges`).
 * Called by `walk.ts`, and by readers that need the header section alone.
 */
import { decodeWords } from './encoded-words.ts'

export interface Field {
  /** Name as it was written. */
  name: string
  /** Value with one character per octet. */
  value: string
}

export interface Head {
  /** Fields in their order, with unfolded and trimmed values. */
  fields(): Field[]
  /** Fields in their order, with values as they were written, and where each field begins. */
  foldedFields(): (Field & { at: number })[]
  /**
   * Unfolded value of the first field of that name, given in lower case.
   * @param maxBytes limit of the octets that are read of the value
   */
  raw(name: string, maxBytes?: number): string | undefined
  /** Decoded value of the first field of that name, for display. */
  text(name: string): string | undefined
  /** Unfolded values of all fields of that name, given in lower case. */
  all(name: string): string[]
  /** True if the header section exceeds the limits, so that fields or ends of values are missing. */
  isCut: boolean
}

interface HeadLimits {
  fieldsMax: number
  headerBytesMax: number
  valueBytesMax: number
}

interface ReadHead {
  head: Head
  /** Position of the body. */
  bodyAt: number
  /** Position of the first line that is not a field; undefined if all lines are fields. */
  otherLineAt: number | undefined
}

const LIMITS: HeadLimits = { fieldsMax: 1_000, headerBytesMax: 256 * 1024, valueBytesMax: 64 * 1024 }
const NAME_BYTES_MAX = 128
/** Older mail has blanks between the name and the colon (RFC 5322 §4.5). */
const BLANKS_BEHIND_NAME_MAX = 8
const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const BLANK = 0x20
const MINUS = 0x2d
const COLON = 0x3a
const DELETE = 0x7f
/** Fields that show that a header section goes on behind a line that is no field: of a message, of a part. */
const MESSAGE_FIELD =
  /^(?:from|sender|reply-to|to|cc|bcc|subject|date|message-id|received|return-path|mime-version|content-\S+)$/i
const PART_FIELD = /^content-\S+$/i
/** The first line of a mailbox file, which some programs leave in place. */
const MBOX_LINE = /^>?From /

/**
 * Reads from `start` to the empty line, or to `end`. Lines end in LF or CRLF. A line that is not a field is
 * skipped with its continuation lines if one of the usual fields follows; or else the body begins there. A
 * header section of any length is read in one pass; fields beyond the limits are left out.
 *
 * @param start 0 for a message, and more for a part of one
 * @param isBoundary tells whether the line at a position delimits a part, although the header section has not
 * ended
 */
export function readHead(
  bytes: Buffer,
  start = 0,
  end = bytes.length,
  isBoundary: (lineAt: number) => boolean = () => false,
  limits = LIMITS,
): ReadHead {
  const head = new FieldPlaces(bytes, limits)
  const continues = start === 0 ? MESSAGE_FIELD : PART_FIELD
  let hasField = false
  let isSkipping = false
  let otherLineAt: number | undefined
  /** The first line that is not a field, and behind which no usual field was found so far. */
  let gap: { at: number; fields: FieldsState } | undefined
  const endAt = (at: number): ReadHead => {
    if (gap) head.rewind(gap.fields)
    return { head, bodyAt: gap?.at ?? at, otherLineAt }
  }
  for (let at = start, next = at; at < end; at = next) {
    next = lineEndIn(bytes, at, end)
    const lineEnd = withoutLineEnd(bytes, at, next)
    if (lineEnd === at || (!hasField && isBlankLine(bytes, at, lineEnd))) return endAt(next)
    if (isBlank(bytes[at]) && (hasField || isSkipping)) {
      if (!isSkipping) head.grow(lineEnd)
      continue
    }
    if (bytes[at] === MINUS && bytes[at + 1] === MINUS && isBoundary(at)) return endAt(at)
    const nameEnd = nameEndIn(bytes, at, lineEnd)
    isSkipping = nameEnd < 0
    if (!isSkipping) {
      hasField = true
      if (gap && continues.test(bytes.toString('latin1', at, nameEnd))) gap = undefined
      head.add(at, nameEnd)
      head.grow(lineEnd)
    } else if (at > start || !MBOX_LINE.test(bytes.toString('latin1', at, Math.min(at + 6, lineEnd)))) {
      otherLineAt ??= at
      gap ??= { at, fields: head.state() }
    }
  }
  return endAt(end)
}

/** Joins the lines of a value (RFC 5322 §2.2.3). */
export function unfold(value: string): string {
  return value.replace(/\r?\n/g, '').trim()
}

/** Position of a field. */
interface Place {
  nameAt: number
  nameEnd: number
  valueAt: number
  valueEnd: number
}

/** Number and size of the fields at some time, to which later fields are removed again. */
interface FieldsState {
  count: number
  keptBytes: number
  isCut: boolean
}

/** Positions of the fields within the limits. Strings are made of requested fields only. */
class FieldPlaces implements Head {
  isCut = false
  readonly #bytes: Buffer
  readonly #limits: HeadLimits
  readonly #places: Place[] = []
  #keptBytes = 0
  /** Whether the last field still takes further lines. */
  #grows = false

  constructor(bytes: Buffer, limits: HeadLimits) {
    this.#bytes = bytes
    this.#limits = limits
  }

  /** Begins a field, whose value is empty so far. */
  add(nameAt: number, nameEnd: number): void {
    const { fieldsMax, headerBytesMax } = this.#limits
    this.#grows = this.#places.length < fieldsMax && this.#keptBytes < headerBytesMax
    if (!this.#grows) return
    const valueAt = this.#bytes.indexOf(COLON, nameEnd) + 1
    this.#keptBytes += valueAt - nameAt
    this.#places.push({ nameAt, nameEnd, valueAt, valueEnd: valueAt })
  }

  /** Extends the value of the last field to the end of a line. */
  grow(lineEnd: number): void {
    const last = this.#places.at(-1)
    if (!this.#grows || !last) {
      this.isCut = true
      return
    }
    const { valueBytesMax, headerBytesMax } = this.#limits
    const room = Math.min(valueBytesMax - (last.valueEnd - last.valueAt), headerBytesMax - this.#keptBytes)
    const end = Math.min(lineEnd, last.valueEnd + Math.max(room, 0))
    this.#keptBytes += end - last.valueEnd
    last.valueEnd = end
    this.#grows = end === lineEnd
    if (!this.#grows) this.isCut = true
  }

  state(): FieldsState {
    return { count: this.#places.length, keptBytes: this.#keptBytes, isCut: this.isCut }
  }

  rewind({ count, keptBytes, isCut }: FieldsState): void {
    this.#places.length = count
    this.#keptBytes = keptBytes
    this.isCut = isCut
  }

  fields(): Field[] {
    return this.#places.map(place => ({ name: this.#nameOf(place), value: this.#valueOf(place) }))
  }

  foldedFields(): (Field & { at: number })[] {
    return this.#places.map(place => ({
      name: this.#nameOf(place),
      value: this.#bytes.toString('latin1', place.valueAt, place.valueEnd),
      at: place.nameAt,
    }))
  }

  raw(name: string, maxBytes = this.#limits.valueBytesMax): string | undefined {
    const place = this.#places.find(one => this.#isNamed(one, name))
    return place && this.#valueOf({ ...place, valueEnd: Math.min(place.valueEnd, place.valueAt + maxBytes) })
  }

  text(name: string): string | undefined {
    const value = this.raw(name)
    return value === undefined ? undefined : decodeWords(value)
  }

  all(name: string): string[] {
    return this.#places.filter(place => this.#isNamed(place, name)).map(place => this.#valueOf(place))
  }

  #isNamed(place: Place, name: string): boolean {
    return place.nameEnd - place.nameAt === name.length && this.#nameOf(place).toLowerCase() === name
  }

  #nameOf({ nameAt, nameEnd }: Place): string {
    return this.#bytes.toString('latin1', nameAt, nameEnd)
  }

  #valueOf({ valueAt, valueEnd }: Place): string {
    return unfold(this.#bytes.toString('latin1', valueAt, valueEnd))
  }
}

/** Byte range of a field with its line ends. */
export interface FieldRange {
  from: number
  to: number
}

/** Limit of a name with a line break before its colon. */
const NAME_SCAN_BYTES = 200
/** The bit in which lower-case letters of ASCII differ from capitals. */
const LOWER_CASE = 0x20

/**
 * Yields each line up to the empty line, with the lines behind it that begin with a blank. `readHead` skips a
 * line that is not a field, or ends there, but other programs append it to the field above, or always read
 * on. Code that removes fields before another program reads the message has to find all that any program may
 * find.
 *
 * @returns the position of the empty line, or undefined without one
 */
export function* fieldRanges(bytes: Uint8Array): Generator<FieldRange, number | undefined> {
  for (let from = 0; from < bytes.length; ) {
    if (isEmptyLine(bytes, from)) return from
    const to = rangeEnd(bytes, from)
    yield { from, to }
    from = to
  }
  return undefined
}

/** A message with more Received fields is in a mail loop (RFC 5321 §6.3). */
export const HOPS_MAX = 100

/** Returns the number of Received fields, one per host that the message has passed. */
export function hopCountOf(bytes: Uint8Array): number {
  let count = 0
  for (const field of fieldRanges(bytes)) if (isFieldNamed(bytes, field, 'received')) count += 1
  return count
}

/** Tells whether a range is a field of that name, given in lower case. A line break may precede the colon. */
export function isFieldNamed(bytes: Uint8Array, { from, to }: FieldRange, name: string): boolean {
  const first = bytes[from]!
  const mayBe = (first | LOWER_CASE) === name.charCodeAt(0) || first <= BLANK
  if (!mayBe || to - from <= name.length) return false
  const text = viewOf(bytes, from, Math.min(to, from + NAME_SCAN_BYTES)).toString('latin1')
  return (
    text
      .slice(0, Math.max(0, text.indexOf(':')))
      .trim()
      .toLowerCase() === name
  )
}

/** Unfolded value of a range, decoded as UTF-8. */
export function rangeValue(bytes: Uint8Array, { from, to }: FieldRange): string {
  const text = viewOf(bytes, from, to).toString('utf8')
  return text
    .slice(text.indexOf(':') + 1)
    .replace(/\r?\n(?=[ \t])/g, '')
    .trim()
}

function viewOf(bytes: Uint8Array, from: number, to: number): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from)
}

/** Returns the position behind the last line of the range that begins at `from`. */
function rangeEnd(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.length; ) {
    at = lineEndIn(bytes, at, bytes.length)
    if (!isBlank(bytes[at])) return at
  }
  return bytes.length
}

function isEmptyLine(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] === LF)
}

/** Returns the position behind the line end of the line at `at`. */
export function lineEndIn(bytes: Uint8Array, at: number, end: number): number {
  let next = at
  while (next < end && bytes[next] !== LF) next += 1
  return Math.min(next + 1, end)
}

/**
 * Returns the end of the text of a line.
 * @param next position behind the line end, or the end of all lines
 */
export function withoutLineEnd(bytes: Buffer, at: number, next: number): number {
  if (bytes[next - 1] !== LF) return next
  return next - 2 >= at && bytes[next - 2] === CR ? next - 2 : next - 1
}

/** Returns -1 if the line is not a field. */
function nameEndIn(bytes: Buffer, at: number, lineEnd: number): number {
  let end = at
  const max = Math.min(lineEnd, at + NAME_BYTES_MAX)
  while (end < max && isNameCharacter(bytes[end]!)) end += 1
  let colon = end
  while (colon < lineEnd && colon - end < BLANKS_BEHIND_NAME_MAX && isBlank(bytes[colon])) colon += 1
  return end > at && colon < lineEnd && bytes[colon] === COLON ? end : -1
}

function isNameCharacter(byte: number): boolean {
  return byte > BLANK && byte < DELETE && byte !== COLON
}

function isBlank(byte: number | undefined): boolean {
  return byte === BLANK || byte === TAB
}

function isBlankLine(bytes: Buffer, at: number, lineEnd: number): boolean {
  for (let i = at; i < lineEnd; i++) if (!isBlank(bytes[i])) return false
  return true
}
