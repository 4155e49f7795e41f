/**
 * Finds the parts of a message (RFC 2046 §5.1) in one pass over its lines, without copying any of it. What is beyond the
 * bounds is not looked at; what stands before it is found all the same.
 */
import { type Head, readHead } from './head.ts'
import { type Described, readDescribed } from './params.ts'

/** A part that holds no further parts, or none that are looked at. */
export interface Leaf {
  head: Head
  type: Described
  disposition: Described
  /** Of the part's body, before its encoding is undone. */
  start: number
  end: number
}

export interface Walked {
  /** Of the message itself. */
  head: Head
  leaves: readonly Leaf[]
  /** Of what was not looked at. */
  faults: readonly string[]
}

interface Open {
  boundary: string
  usual: string
}

type Entity = Omit<Leaf, 'end'>

const MOST_PARTS = 1_000
const DEEPEST = 50
const LONGEST_BOUNDARY_LINE = 250
const MARK = Buffer.from('\n--')
const LF = 0x0a
const CR = 0x0d

export function walkMail(bytes: Buffer): Walked {
  const open: Open[] = []
  const leaves: Leaf[] = []
  const faults = new Set<string>()
  const entityAt = (start: number, usual: string): Entity => {
    const isBoundary = (line: string) => placeOf(open, line) >= 0
    const { head, bodyAt } = readHead(bytes, start, bytes.length, isBoundary)
    const type = typeOf(head, usual)
    return { head, type, disposition: readDescribed(head.raw('content-disposition')), start: bodyAt }
  }

  const root = entityAt(0, 'text/plain')
  if (root.head.isCut) faults.add('the head is too long')
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
    if (++partCount > MOST_PARTS) {
      faults.add(`there are more than ${MOST_PARTS} parts`)
      break
    }
    const part = entityAt(line.end, open.at(-1)!.usual)
    if (part.head.isCut) faults.add('the head of a part is too long')
    at = part.start
    current = enter(part)
  }
  if (current) close(current, bytes.length)
  return { head: root.head, leaves, faults: [...faults] }

  /** A multipart is gone into; anything else is a leaf, whose end is to be found. */
  function enter(entity: Entity): Entity | undefined {
    const { type, start } = entity
    if (!type.value.startsWith('multipart/')) return entity
    if (open.length >= DEEPEST) {
      faults.add(`parts are nested more than ${DEEPEST} deep`)
      return entity
    }
    const boundary = type.params.get('boundary') || boundaryLike(bytes, start)
    const usual = type.value === 'multipart/digest' ? 'message/rfc822' : 'text/plain'
    const first = boundary && nextBoundary(bytes, start, [...open, { boundary, usual }])
    if (!boundary || !first || first.depth < open.length)
      return { ...entity, type: { value: 'text/plain', params: type.params } }
    open.push({ boundary, usual })
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

/** The next line that is a boundary of one of these. */
function nextBoundary(bytes: Buffer, from: number, open: readonly Open[]): BoundaryLine | undefined {
  let start = isMark(bytes, from) ? from : after(bytes.indexOf(MARK, from))
  const beginnings = new Set(open.map(({ boundary }) => boundary.charCodeAt(0)))
  while (start >= 0) {
    if (!beginnings.has(bytes[start + 2]!)) {
      start = after(bytes.indexOf(MARK, start))
      continue
    }
    const newline = bytes.indexOf(LF, start)
    const end = newline < 0 ? bytes.length : newline + 1
    const line = bytes.toString('latin1', start, Math.min(end, start + LONGEST_BOUNDARY_LINE))
    const depth = placeOf(open, line)
    if (depth >= 0)
      return { start, end, depth, isLast: line.startsWith('--', 2 + open[depth]!.boundary.length) }
    start = newline < 0 ? -1 : after(bytes.indexOf(MARK, newline))
  }
  return undefined
}

function isMark(bytes: Buffer, at: number): boolean {
  return bytes[at] === 0x2d && bytes[at + 1] === 0x2d && (at === 0 || bytes[at - 1] === LF)
}

function after(mark: number): number {
  return mark < 0 ? -1 : mark + 1
}

/** The innermost multipart whose boundary this line is; -1 where it is none's. */
function placeOf(open: readonly Open[], line: string): number {
  for (let depth = open.length - 1; depth >= 0; depth--) {
    const { boundary } = open[depth]!
    if (!line.startsWith(boundary, 2)) continue
    const rest = line.slice(2 + boundary.length).trimEnd()
    if (rest === '' || rest === '--') return depth
  }
  return -1
}

function typeOf(head: Head, usual: string): Described {
  const type = readDescribed(head.raw('content-type'))
  return type.value.includes('/') ? type : { value: usual, params: type.params }
}

/** Where nobody has named it: a line of its own in front of a part. */
function boundaryLike(bytes: Buffer, start: number): string | undefined {
  const beginning = bytes.toString('latin1', start, Math.min(bytes.length, start + 64 * 1024))
  return /^--([^\s][^\r\n]{0,69})\r?\ncontent-[a-z-]{3,25}:/im.exec(beginning)?.[1]?.trimEnd()
}
