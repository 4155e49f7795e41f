/**
 * Splits a mail into its MIME parts (RFC 2045, RFC 2046) for the readers of reports. Size, depth and number
 * of parts are bounded; anything beyond is ignored.
 */
import { decodeText } from './charset.ts'
import { type ReportHead, readReportHead } from './head.ts'
import { textOfHtml } from './html.ts'
import { type ReportMediaType, readMediaType } from './media-type.ts'
import { decodeTransfer } from './transfer.ts'

export interface Part {
  head: ReportHead
  type: ReportMediaType
  /** Lower case; empty where nothing is said. */
  fileName: string
  isAttachment: boolean
  /** Parts of a multipart; the enclosed message of a `message/rfc822` part. */
  parts: readonly Part[]
  /** Decoded text, of HTML without its tags; at most 64 K characters. Lines end in LF. */
  text(): string
}

/** The part to be read, and how far down it is. */
interface Place {
  start: number
  end: number
  depth: number
  usual: string
}

const CR = 0x0d
const LF = 0x0a
const BYTES_MAX = 512 * 1024
const TEXT_CHARACTERS_MAX = 64 * 1024
const PARTS_MAX = 200
const DEPTH_MAX = 12
/** Media types of complete enclosed messages. */
const MESSAGES = new Set(['message/rfc822', 'message/global', 'message/news'])
/** Matches an undeclared boundary: a line of its own before a part. */
const UNNAMED_BOUNDARY = /^--([^\s][^\n]{0,69})\ncontent-[a-z-]{3,25}:/im

/** @param raw a mail of any size, of which the first 512 KiB are read */
export function readReportParts(raw: Uint8Array): Part {
  const text = lfLines(raw.subarray(0, BYTES_MAX))
  const from = /^\n{1,20}/.exec(text)?.[0].length ?? 0
  return readPart(text, { start: from, end: text.length, depth: 0, usual: 'text/plain' }, { parts: 0 })
}

/** One character an octet; each line end is a LF. */
function lfLines(octets: Uint8Array): string {
  const lines = Buffer.allocUnsafe(octets.length)
  let to = 0
  for (let from = 0; from < octets.length; from++) {
    const octet = octets[from]!
    if (octet === CR && octets[from + 1] === LF) continue
    lines[to++] = octet === CR ? LF : octet
  }
  return lines.toString('latin1', 0, to)
}

function readPart(text: string, { start, end, depth, usual }: Place, count: { parts: number }): Part {
  count.parts += 1
  const { head, bodyAt } = readReportHead(text, start, end)
  const type = readMediaType(head.raw('content-type'), usual)
  const disposition = readMediaType(head.raw('content-disposition'), '')
  const encoding = head.raw('content-transfer-encoding') ?? ''
  const below = { start: bodyAt, end, depth: depth + 1, usual: 'text/plain' }
  const parts = depth < DEPTH_MAX ? partsOf(text, type, encoding, below, count) : []
  return {
    head,
    type,
    parts,
    fileName: (disposition.params.get('filename') ?? type.params.get('name') ?? '').toLowerCase(),
    isAttachment: disposition.value === 'attachment',
    text: () => textOf(text.slice(bodyAt, Math.min(end, bodyAt + TEXT_CHARACTERS_MAX)), type, encoding),
  }
}

function partsOf(
  text: string,
  type: ReportMediaType,
  encoding: string,
  place: Place,
  count: { parts: number },
): Part[] {
  if (MESSAGES.has(type.value)) return [enclosed(text, encoding, place, count)]
  if (!type.value.startsWith('multipart/')) return []
  const boundary = type.params.get('boundary')
  const named = boundary ? placesOf(text, boundary, place) : []
  const places = named.length > 0 ? named : unnamedPlaces(text, place)
  const usual = type.value === 'multipart/digest' ? 'message/rfc822' : 'text/plain'
  const parts: Part[] = []
  for (const one of places) if (count.parts < PARTS_MAX) parts.push(readPart(text, { ...one, usual }, count))
  return parts
}

/** An enclosed message must not be encoded, and sometimes is (RFC 2046 §5.2.1). */
function enclosed(text: string, encoding: string, place: Place, count: { parts: number }): Part {
  const usual = 'text/plain'
  if (!/^\s*(?:base64|quoted-printable)/i.test(encoding)) return readPart(text, { ...place, usual }, count)
  const plain = lfLines(Buffer.from(decodeTransfer(text.slice(place.start, place.end), encoding), 'latin1'))
  return readPart(plain, { start: 0, end: plain.length, depth: place.depth, usual }, count)
}

/** Between the lines that begin with the boundary; what never ends, ends with its surroundings. */
function placesOf(text: string, boundary: string, { start, end, depth, usual }: Place): Place[] {
  const mark = `\n--${boundary}`
  // With an end of its own: a search that finds nothing must not go on to the end of the mail.
  const own = text.slice(0, end)
  const places: Place[] = []
  let from: number | undefined
  for (let at = own.indexOf(mark, start - 1); at >= 0; at = own.indexOf(mark, at + mark.length)) {
    const behind = at + mark.length
    const isLast = own.startsWith('--', behind)
    const newline = own.indexOf('\n', behind)
    const rest = own.slice(behind, newline < 0 ? end : Math.min(newline, behind + 80))
    // A longer boundary that begins like ours belongs to a multipart inside.
    if (!isLast && rest.trim() !== '') continue
    if (from !== undefined) places.push({ start: from, end: at, depth, usual })
    from = newline < 0 || isLast ? undefined : newline + 1
    if (isLast || places.length >= PARTS_MAX) break
  }
  if (from !== undefined && from < end) places.push({ start: from, end, depth, usual })
  return places
}

function unnamedPlaces(text: string, place: Place): Place[] {
  const found = UNNAMED_BOUNDARY.exec(
    text.slice(place.start, Math.min(place.end, place.start + TEXT_CHARACTERS_MAX)),
  )
  return found ? placesOf(text, found[1]!.trimEnd().replace(/--$/, ''), place) : []
}

function textOf(body: string, type: ReportMediaType, encoding: string): string {
  const decoded = decodeTransfer(body, encoding)
  const text = decodeText(decoded, type.params.get('charset')).replace(/\r\n?/g, '\n')
  return isHtml(type, text) ? textOfHtml(text) : text
}

function isHtml(type: ReportMediaType, text: string): boolean {
  return (
    type.value === 'text/html' || (type.value === 'text/plain' && /^\s{0,20}<(?:!doctype|html)\b/i.test(text))
  )
}
