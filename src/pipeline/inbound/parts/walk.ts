/**
 * Finds the parts of a message (RFC 2046 §5.1) in one pass over its lines, without copying any of it. What is
 * beyond the bounds is not looked at; what stands before it is found all the same.
 */
import { FAULTS, PART_DEPTH_MAX, PARTS_MAX } from './faults.ts'
import { type Head, readHead } from './head.ts'
import { type Described, readDescribed } from './params.ts'
import { type Encoding, encodingOf } from './transfer.ts'

/** A part that holds no further parts, or none that are looked at. */
export interface Leaf {
  type: Described
  disposition: Described
  encoding: Encoding
  /** As it was written. */
  contentId: string | undefined
  /** Of the part's body, before its encoding is undone. */
  start: number
  end: number
}

export interface Walked {
  /** Header section of the message itself. */
  head: Head
  leaves: readonly Leaf[]
  /** Of what was not looked at. */
  faults: readonly string[]
}

interface Open {
  boundary: Buffer
  /** Of the boundary, by which lines that differ from it somewhere are told apart from it at once. */
  hash: number
  usual: string
}

type Entity = Omit<Leaf, 'end'>

/** Of a field that describes a part: those of a thousand parts are kept at the same time. */
const FIELD_BYTES_MAX = 8_000
const BOUNDARY_LINE_BYTES_MAX = 250
const UUENCODE_SCAN_BYTES = 16 * 1024
const LF = 0x0a
const CR = 0x0d
const MINUS = 0x2d
/** What may stand behind a boundary on its line. */
const BLANKS = new Set([...' \t\r\n\v\f\xa0'].map(blank => blank.charCodeAt(0)))

export function walkMail(bytes: Buffer): Walked {
  const open: Open[] = []
  const leaves: Leaf[] = []
  const faults = new Set<string>()
  const entityAt = (start: number, usual: string, fault: string): Entity & { head: Head } => {
    const isBoundary = (lineAt: number) => boundaryAt(bytes, lineAt, open) !== undefined
    const { head, bodyAt } = readHead(bytes, start, bytes.length, isBoundary)
    if (head.isCut) faults.add(fault)
    return {
      head,
      type: typeOf(head, usual),
      disposition: readDescribed(head.raw('content-disposition', FIELD_BYTES_MAX)),
      encoding: encodingOf(head.raw('content-transfer-encoding', FIELD_BYTES_MAX)),
      contentId: head.raw('content-id', FIELD_BYTES_MAX),
      start: bodyAt,
    }
  }

  const { head, ...root } = entityAt(0, 'text/plain', FAULTS.head)
  let current: Entity | undefined = enter(root)
  let at = root.start
  let partCount = 1
  while (open.length > 0) {
    const line = nextBoundary(bytes, at, open)
    if (!line) break
    if (current) close(current, line.start)
    current = undefined
    open.length = line.depth + (line.isLast ? 0 : 1)
    at = line.end
    if (line.isLast) continue
    if (++partCount > PARTS_MAX) {
      faults.add(FAULTS.parts)
      break
    }
    const { head: _, ...part } = entityAt(line.end, open.at(-1)!.usual, FAULTS.partHead)
    at = part.start
    current = enter(part)
  }
  if (current) close(current, bytes.length)
  return { head, leaves, faults: [...faults] }

  /** A multipart is gone into; anything else is a leaf, whose end is to be found. */
  function enter(entity: Entity): Entity | undefined {
    const { type, start } = entity
    if (!type.value.startsWith('multipart/')) return entity
    if (open.length >= PART_DEPTH_MAX) {
      faults.add(FAULTS.depth)
      return entity
    }
    const named = type.params.get('boundary')?.trimEnd() || boundaryLike(bytes, start)
    const boundary = Buffer.from(named ?? '', 'latin1')
    const usual = type.value === 'multipart/digest' ? 'message/rfc822' : 'text/plain'
    const opened = { boundary, hash: hashOf(boundary, 0, boundary.length), usual }
    const first = nextBoundary(bytes, start, [...open, opened])
    if (boundary.length === 0 || !first || first.depth < open.length)
      return { ...entity, type: { value: 'text/plain', params: type.params } }
    open.push(opened)
    return undefined
  }

  /** The line end in front of a boundary belongs to the boundary. */
  function close(entity: Entity, boundaryAt: number) {
    let end = boundaryAt
    if (boundaryAt < bytes.length) {
      if (end > entity.start && bytes[end - 1] === LF) end -= 1
      if (end > entity.start && bytes[end - 1] === CR) end -= 1
    }
    leaves.push({ ...entity, end: Math.max(end, entity.start) })
  }
}

interface BoundaryLine {
  start: number
  /** Where the next line begins. */
  end: number
  /** Of the multipart that it belongs to. */
  depth: number
  isLast: boolean
}

/**
 * The next line that is a boundary of one of these, in one pass over the bytes. @param from where a line
 * begins
 */
function nextBoundary(bytes: Buffer, from: number, open: readonly Open[]): BoundaryLine | undefined {
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

/** The boundary that the line at this place is, of the innermost multipart that has it. */
function boundaryAt(bytes: Buffer, start: number, open: readonly Open[]): BoundaryLine | undefined {
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

function typeOf(head: Head, usual: string): Described {
  const type = readDescribed(head.raw('content-type', FIELD_BYTES_MAX))
  return type.value.includes('/') ? type : { value: usual, params: type.params }
}

/** Where nobody has named it: a line of its own in front of a part. */
function boundaryLike(bytes: Buffer, start: number): string | undefined {
  const beginning = bytes.toString('latin1', start, Math.min(bytes.length, start + UUENCODE_SCAN_BYTES))
  return /^--([^\s][^\r\n]{0,69})\r?\ncontent-[a-z-]{3,25}:/im.exec(beginning)?.[1]?.trimEnd()
}
