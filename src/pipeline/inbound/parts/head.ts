/**
 * The head of a received message, or of a part of it: its fields as they came, in their order (RFC 5322
 * §2.2).
 */

export interface Field {
  /** As it was written. */
  name: string
  /** Value, unfolded and trimmed, with one character per octet. */
  value: string
}

export interface Head {
  /** All that are told. */
  fields(): Field[]
  /** Value of the first field of that name, given in lower case. @param mostBytes of it that are read */
  raw(name: string, mostBytes?: number): string | undefined
  /** Something of it is not told. */
  isCut: boolean
}

const FIELDS_MAX = 1_000
const HEADER_BYTES_MAX = 256 * 1024
const VALUE_BYTES_MAX = 64 * 1024
const NAME_BYTES_MAX = 128
const BLANKS_BEHIND_NAME_MAX = 8
const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const BLANK = 0x20
const MINUS = 0x2d
const COLON = 0x3a
const DELETE = 0x7f
/** The first line of a mailbox file, which some programs leave in place. */
const MBOX_LINE = /^>?From /

/**
 * Reads from `start` to the empty line, or to a line that is no field, or to the end. A head of any length is
 * read in one pass over its bytes; no more than 1,000 fields and 256 KB of it are told.
 * @param isBoundary whether the line at this place begins something else, although the head has not ended
 * @returns where the body begins
 */
export function readHead(
  bytes: Buffer,
  start: number,
  end: number,
  isBoundary: (lineAt: number) => boolean,
): { head: Head; bodyAt: number } {
  const fields = new FieldPlaces(bytes)
  let hasField = false
  for (let at = start, next = at; at < end; at = next) {
    next = lineEndIn(bytes, at, end)
    const lineEnd = withoutLineEnd(bytes, at, next)
    if (lineEnd === at || (!hasField && isBlankLine(bytes, at, lineEnd)))
      return { head: fields, bodyAt: next }
    if (hasField && isBlank(bytes[at]!)) {
      fields.grow(lineEnd)
      continue
    }
    if (bytes[at] === MINUS && bytes[at + 1] === MINUS && isBoundary(at)) return { head: fields, bodyAt: at }
    const nameEnd = nameEndIn(bytes, at, lineEnd)
    if (nameEnd >= 0) {
      hasField = true
      fields.add(at, nameEnd)
      fields.grow(lineEnd)
    } else if (at > start || !MBOX_LINE.test(bytes.toString('latin1', at, Math.min(at + 6, lineEnd))))
      return { head: fields, bodyAt: at }
  }
  return { head: fields, bodyAt: end }
}

/** Position of a field. */
interface Place {
  nameAt: number
  nameEnd: number
  valueAt: number
  valueEnd: number
}

/** Where the fields lie that are told; texts are made of those alone that are asked for. */
class FieldPlaces implements Head {
  isCut = false
  readonly #bytes: Buffer
  readonly #places: Place[] = []
  #toldBytes = 0
  /** The last one goes on, as far as it is told. */
  #grows = false

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Begins a field, whose value has nothing in it yet. */
  add(nameAt: number, nameEnd: number): void {
    this.#grows = this.#places.length < FIELDS_MAX && this.#toldBytes < HEADER_BYTES_MAX
    if (!this.#grows) return
    const valueAt = this.#bytes.indexOf(COLON, nameEnd) + 1
    this.#toldBytes += valueAt - nameAt
    this.#places.push({ nameAt, nameEnd, valueAt, valueEnd: valueAt })
  }

  /** The field goes on as far as this. */
  grow(lineEnd: number): void {
    const last = this.#places.at(-1)
    if (!this.#grows || !last) {
      this.isCut = true
      return
    }
    const room = Math.min(
      VALUE_BYTES_MAX - (last.valueEnd - last.valueAt),
      HEADER_BYTES_MAX - this.#toldBytes,
    )
    const end = Math.min(lineEnd, last.valueEnd + Math.max(room, 0))
    this.#toldBytes += end - last.valueEnd
    last.valueEnd = end
    this.#grows = end === lineEnd
    if (!this.#grows) this.isCut = true
  }

  fields(): Field[] {
    return this.#places.map(place => ({ name: this.#nameOf(place), value: this.#valueOf(place) }))
  }

  raw(name: string, mostBytes = VALUE_BYTES_MAX): string | undefined {
    const isNamed = (place: Place) =>
      place.nameEnd - place.nameAt === name.length && this.#nameOf(place).toLowerCase() === name
    const place = this.#places.find(isNamed)
    return place && this.#valueOf({ ...place, valueEnd: Math.min(place.valueEnd, place.valueAt + mostBytes) })
  }

  #nameOf({ nameAt, nameEnd }: Place): string {
    return this.#bytes.toString('latin1', nameAt, nameEnd)
  }

  #valueOf({ valueAt, valueEnd }: Place): string {
    const value = this.#bytes.toString('latin1', valueAt, valueEnd)
    return value.replace(/\r?\n/g, '').trim()
  }
}

/** Behind the line end of the line at `at`. */
function lineEndIn(bytes: Buffer, at: number, end: number): number {
  let next = at
  while (next < end && bytes[next] !== LF) next += 1
  return Math.min(next + 1, end)
}

/** @param next behind its line end, or the end of all */
function withoutLineEnd(bytes: Buffer, at: number, next: number): number {
  if (bytes[next - 1] !== LF) return next
  return next - 2 >= at && bytes[next - 2] === CR ? next - 2 : next - 1
}

/** -1 where the line is no field. */
function nameEndIn(bytes: Buffer, at: number, lineEnd: number): number {
  let end = at
  const most = Math.min(lineEnd, at + NAME_BYTES_MAX)
  while (end < most && isNameCharacter(bytes[end]!)) end += 1
  let colon = end
  while (colon < lineEnd && colon - end < BLANKS_BEHIND_NAME_MAX && isBlank(bytes[colon]!)) colon += 1
  return end > at && colon < lineEnd && bytes[colon] === COLON ? end : -1
}

function isNameCharacter(byte: number): boolean {
  return byte > BLANK && byte < DELETE && byte !== COLON
}

function isBlank(byte: number): boolean {
  return byte === BLANK || byte === TAB
}

function isBlankLine(bytes: Buffer, at: number, lineEnd: number): boolean {
  for (let i = at; i < lineEnd; i++) if (!isBlank(bytes[i]!)) return false
  return true
}
