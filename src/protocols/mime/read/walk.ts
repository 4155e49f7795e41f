/**
 * Finds the parts of a message (RFC 2046 §5.1) in one pass over its lines, without copying its octets. Parts
 * beyond the limits are left out; parts before them are still found.
 *
 * In: the octets of a message. Out: its header section, and its leaves in their order. Called by
 * `read-mail.ts` for received and submitted mail, and by the reader of reports
 * (`protocols/bounces/report-mail.ts`).
 */
import { type ContentField, readContentField } from './content-field.ts'
import { type Head, readHead } from './head.ts'
import { type Encoding, encodingOf } from './transfer.ts'

/** A part without further parts, or beyond the limit of nesting. */
export interface Leaf {
  /** Position of its header section. */
  headAt: number
  /** Whether it is inside a multipart/signed or multipart/encrypted, whose octets stay (RFC 1847). */
  isSealed: boolean
  type: ContentField
  disposition: ContentField
  encoding: Encoding
  /** Content-ID as it was written. */
  contentId: string | undefined
  /** Position of the encoded body. */
  start: number
  end: number
}

/** A multipart whose boundary was found. */
export interface Multipart extends Pick<Leaf, 'headAt' | 'isSealed' | 'type' | 'contentId'> {
  /** Position behind its header section. */
  start: number
  /** In their order. */
  parts: (Leaf | Multipart)[]
}

interface Walked {
  /** Header section of the message itself. */
  head: Head
  /** Content-Type of the message itself. */
  type: ContentField
  /** The tree of its parts. */
  root: Leaf | Multipart
  /** All leaves of the tree, in their order. */
  leaves: readonly Leaf[]
  /** In the order of their beginnings. */
  multiparts: readonly Multipart[]
  /** Values of `FAULTS` for the parts that were left out. */
  faults: readonly string[]
}

const PARTS_MAX = 1_000
const PART_DEPTH_MAX = 50
/** Limit of UTF-16 units for all texts of a message together. */
export const TEXT_CHARACTERS_MAX = 2_000_000

const number = (count: number) => count.toLocaleString('en-US')

/** Descriptions of what was not read of a message, which users see as its `parse_error`. */
export const FAULTS = {
  head: 'The header is too large: only its first 1,000 fields and 256 KB were read',
  partHead: 'The header of a part is too large: only its first 1,000 fields and 256 KB were read',
  otherLine: 'The header has a line that is not a header field',
  parts: `The message has more than ${number(PARTS_MAX)} parts; the others were not read`,
  depth: `Parts are nested more than ${PART_DEPTH_MAX} levels deep; those further inside were not read`,
  text: `The text is longer than ${number(TEXT_CHARACTERS_MAX)} characters; the rest was cut`,
} as const

/** A multipart that has begun and not ended. */
interface OpenMultipart {
  boundary: Buffer
  /** Hash of the boundary, by which most other lines are told from it without a comparison. */
  hash: number
  /** Media type of parts that name none. */
  defaultType: string
  multipart: Multipart
}

type Entity = Omit<Leaf, 'end'>

/** Limit of a field that describes a part, since the fields of all parts are in memory at the same time. */
const FIELD_BYTES_MAX = 8_000
/** RFC 2046 §5.1.1 allows boundaries of 70 octets; some programs write hundreds. */
const BOUNDARY_LINE_BYTES_MAX = 2_100
const UNNAMED_BOUNDARY_SCAN_BYTES = 16 * 1024
const SEALED = new Set(['multipart/signed', 'multipart/encrypted'])
const LF = 0x0a
const CR = 0x0d
const MINUS = 0x2d
/** Octets that may follow a boundary on its line. */
const BLANKS = new Set([...' \t\r\n\v\f\xa0'].map(blank => blank.charCodeAt(0)))

export function walkMail(bytes: Buffer): Walked {
  return new Walk(bytes).walked()
}

class Walk {
  readonly #bytes: Buffer
  readonly #open: OpenMultipart[] = []
  readonly #leaves: Leaf[] = []
  readonly #multiparts: Multipart[] = []
  readonly #faults = new Set<string>()
  #root: Leaf | Multipart | undefined

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  walked(): Walked {
    const bytes = this.#bytes
    const open = this.#open
    const { head, ...root } = this.#entityAt(0, 'text/plain', FAULTS.head)
    let current: Entity | undefined = this.#enter(root)
    let at = root.start
    let partCount = 1
    while (open.length > 0) {
      const line = nextBoundary(bytes, at, open)
      if (!line) break
      if (current) this.#close(current, line.start)
      current = undefined
      open.length = line.depth + (line.isLast ? 0 : 1)
      at = line.end
      if (line.isLast) continue
      if (++partCount > PARTS_MAX) {
        this.#faults.add(FAULTS.parts)
        break
      }
      const { head: _, ...part } = this.#entityAt(line.end, open.at(-1)!.defaultType, FAULTS.partHead)
      at = part.start
      current = this.#enter(part)
    }
    if (current) this.#close(current, bytes.length)
    return {
      head,
      type: root.type,
      root: this.#root!,
      leaves: this.#leaves,
      multiparts: this.#multiparts,
      faults: [...this.#faults],
    }
  }

  #entityAt(start: number, defaultType: string, fault: string): Entity & { head: Head } {
    const bytes = this.#bytes
    const isBoundary = (lineAt: number) => boundaryAt(bytes, lineAt, this.#open) !== undefined
    const { head, bodyAt, otherLineAt } = readHead(bytes, start, bytes.length, isBoundary)
    if (head.isCut) this.#faults.add(fault)
    // A part may lack the empty line in front of its text, of which nothing is lost.
    if (otherLineAt !== undefined && (start === 0 || otherLineAt < bodyAt)) this.#faults.add(FAULTS.otherLine)
    const type = typeOf(head, defaultType)
    const disposition = head.raw('content-disposition', FIELD_BYTES_MAX)
    return {
      head,
      headAt: start,
      isSealed: this.#open.at(-1)?.multipart.isSealed ?? false,
      type,
      disposition: readContentField(disposition, type.params.get('charset')),
      encoding: encodingOf(head.raw('content-transfer-encoding', FIELD_BYTES_MAX)),
      contentId: head.raw('content-id', FIELD_BYTES_MAX),
      start: bodyAt,
    }
  }

  /** Opens a multipart; returns any other entity, which is a leaf without its end. */
  #enter(entity: Entity): Entity | undefined {
    const { headAt, contentId, type, start } = entity
    if (!type.value.startsWith('multipart/')) return entity
    if (this.#open.length >= PART_DEPTH_MAX) {
      this.#faults.add(FAULTS.depth)
      return entity
    }
    const named = type.params.get('boundary')?.trimEnd() || boundaryLike(this.#bytes, start)
    const boundary = Buffer.from(named ?? '', 'latin1')
    const defaultType = type.value === 'multipart/digest' ? 'message/rfc822' : 'text/plain'
    const isSealed = entity.isSealed || SEALED.has(type.value)
    const multipart: Multipart = { headAt, isSealed, type, contentId, start, parts: [] }
    const opened = { boundary, hash: hashOf(boundary, 0, boundary.length), defaultType, multipart }
    const first = nextBoundary(this.#bytes, start, [...this.#open, opened])
    if (boundary.length === 0 || !first || first.depth < this.#open.length)
      return { ...entity, type: { value: 'text/plain', params: type.params } }
    this.#place(multipart)
    this.#multiparts.push(multipart)
    this.#open.push(opened)
    return undefined
  }

  /** Ends a leaf. The line end in front of a boundary belongs to the boundary. */
  #close(entity: Entity, boundaryAt: number): void {
    const bytes = this.#bytes
    let end = boundaryAt
    if (boundaryAt < bytes.length) {
      if (end > entity.start && bytes[end - 1] === LF) end -= 1
      if (end > entity.start && bytes[end - 1] === CR) end -= 1
    }
    const leaf = { ...entity, end: Math.max(end, entity.start) }
    this.#place(leaf)
    this.#leaves.push(leaf)
  }

  #place(part: Leaf | Multipart): void {
    this.#root ??= part
    this.#open.at(-1)?.multipart.parts.push(part)
  }
}

interface BoundaryLine {
  start: number
  /** Position of the next line. */
  end: number
  /** Index of its multipart in the list of open ones. */
  depth: number
  isLast: boolean
}

/** Returns the next boundary of an open multipart. @param from position of the beginning of a line */
function nextBoundary(bytes: Buffer, from: number, open: readonly OpenMultipart[]): BoundaryLine | undefined {
  let at = from
  while (at < bytes.length) {
    if (bytes[at] === MINUS && bytes[at + 1] === MINUS) {
      const line = boundaryAt(bytes, at, open)
      if (line) return line
    }
    while (at < bytes.length && bytes[at] !== LF) at += 1
    at += 1
  }
  return undefined
}

/** Returns the line at `start` if it is a boundary, of the innermost multipart that has it. */
function boundaryAt(bytes: Buffer, start: number, open: readonly OpenMultipart[]): BoundaryLine | undefined {
  const from = start + 2
  const limit = Math.min(bytes.length, start + BOUNDARY_LINE_BYTES_MAX)
  let end = from
  while (end < limit && bytes[end] !== LF) end += 1
  while (end > from && BLANKS.has(bytes[end - 1]!)) end -= 1
  const endsInMark = end - from >= 2 && bytes[end - 1] === MINUS && bytes[end - 2] === MINUS
  const hash = hashOf(bytes, from, end)
  const lastHash = endsInMark ? hashOf(bytes, from, end - 2) : hash
  for (let depth = open.length - 1; depth >= 0; depth--) {
    const { boundary, hash: wanted } = open[depth]!
    const isLast = endsInMark && end - from === boundary.length + 2
    if (wanted !== (isLast ? lastHash : hash) || (!isLast && end - from !== boundary.length)) continue
    let same = 0
    while (same < boundary.length && bytes[from + same] === boundary[same]) same += 1
    if (same < boundary.length) continue
    const newline = bytes.indexOf(LF, end)
    return { start, end: newline < 0 ? bytes.length : newline + 1, depth, isLast }
  }
  return undefined
}

function hashOf(bytes: Uint8Array, from: number, end: number): number {
  let hash = 0
  for (let at = from; at < end; at++) hash = (Math.imul(hash, 31) + bytes[at]!) | 0
  return hash
}

function typeOf(head: Head, defaultType: string): ContentField {
  const type = readContentField(head.raw('content-type', FIELD_BYTES_MAX))
  return type.value.includes('/') ? type : { value: defaultType, params: type.params }
}

/** Returns a boundary that no parameter names: a line that precedes the header section of a part. */
function boundaryLike(bytes: Buffer, start: number): string | undefined {
  const beginning = bytes.toString(
    'latin1',
    start,
    Math.min(bytes.length, start + UNNAMED_BOUNDARY_SCAN_BYTES),
  )
  return /^--([^\s][^\r\n]{0,499})\r?\ncontent-[a-z-]{3,25}:/im.exec(beginning)?.[1]?.trimEnd()
}
