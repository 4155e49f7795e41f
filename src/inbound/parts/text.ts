/** The text of a part from its bytes: its transfer encoding, its charset and its line breaks undone. */
import { decodeText } from '../../reports/parts/charset.ts'
import { decodeBytes, encodingOf } from './transfer.ts'
import type { Leaf } from './walk.ts'

/** In characters; what is longer is no text that anybody reads. */
export const LONGEST_TEXT = 2 * 1024 * 1024
const META_LOOKED_AT = 2_048
const META_CHARSET = /<meta[^>]{0,200}charset\s{0,5}=\s{0,5}["']?([\w-]{1,40})/i

/** @returns lines end in LF; without NUL, which no text has */
export function textOfLeaf(
  bytes: Buffer,
  { head, type, start, end }: Leaf,
): { text: string; isCut: boolean } {
  const encoded = bytes.subarray(start, Math.min(end, start + MOST_ENCODED_BYTES))
  const decoded = decodeBytes(encoded, encodingOf(head.raw('content-transfer-encoding'))).toString('latin1')
  const isHtml = type.value === 'text/html'
  const charset = type.params.get('charset') ?? (isHtml ? namedInside(decoded) : undefined)
  const text = decodeText(decoded, charset).replace(/\r\n?/g, '\n').replaceAll('\0', '')
  const isCut = end - start > MOST_ENCODED_BYTES || decoded.length > MOST_OCTETS || text.length > LONGEST_TEXT
  const whole = (isCut ? text.slice(0, LONGEST_TEXT) : text).toWellFormed()
  return { text: isHtml ? whole : unflowed(whole, type.params), isCut }
}

/** A character may take four octets, and an octet three when it is encoded. */
const MOST_OCTETS = 4 * LONGEST_TEXT
const MOST_ENCODED_BYTES = 3 * MOST_OCTETS

function namedInside(html: string): string | undefined {
  return META_CHARSET.exec(html.slice(0, META_LOOKED_AT))?.[1]
}

/** Lines that were broken for transport become whole (RFC 3676 §4). */
function unflowed(text: string, params: ReadonlyMap<string, string>): string {
  if (params.get('format')?.toLowerCase() !== 'flowed') return text
  const joins = params.get('delsp')?.toLowerCase() === 'yes'
  const lines: string[] = []
  let paragraph: { depth: number; pieces: string[] } | undefined
  const flush = () => {
    if (paragraph) lines.push(quotedLine(paragraph.depth, paragraph.pieces.join('')))
    paragraph = undefined
  }
  for (const line of text.split('\n')) {
    const depth = /^>*/.exec(line)![0].length
    const said = line.slice(depth).replace(/^ /, '')
    const isSignature = said === '-- '
    if (paragraph && (paragraph.depth !== depth || isSignature)) flush()
    paragraph ??= { depth, pieces: [] }
    const isFlowing = said.endsWith(' ') && !isSignature
    paragraph.pieces.push(isFlowing && joins ? said.slice(0, -1) : said)
    if (!isFlowing) flush()
  }
  flush()
  return lines.join('\n')
}

function quotedLine(depth: number, said: string): string {
  return depth === 0 ? said : `${'>'.repeat(depth)} ${said}`
}
