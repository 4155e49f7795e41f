/**
 * A `Content-Type` or `Content-Disposition` with its parameters, whichever way they are written: quoted,
 * continued and extended (RFC 2045 §5.1, RFC 2231), or with encoded words where none belong.
 */
import { decodeText } from '../../../protocols/bounces/parts/charset.ts'
import { decodeWords } from '../../../protocols/bounces/parts/encoded-words.ts'

export interface Described {
  /** Lower case, as in `text/plain` or `attachment`; empty where nothing is said. */
  value: string
  /** By lower-case name. */
  params: ReadonlyMap<string, string>
}

const PARAMETER = /;\s{0,20}([^\s=;"]{1,60})\s{0,8}=\s{0,8}(?:"((?:[^"\\]|\\.){0,2000})"?|([^;]{0,2000}))/g
const FIELD_CHARACTERS_MAX = 8_000
const CONTINUATIONS_MAX = 100
/** Parameters whose values are not decoded. */
const AS_IS = new Set(['boundary', 'charset'])
const EXTENDED = /^([\w-]{0,40})'[\w-]{0,20}'/

interface Piece {
  text: string
  /** True if the piece is percent-encoded (RFC 2231 §4). */
  isExtended: boolean
}

/** @param field one character a byte */
export function readDescribed(field: string | undefined): Described {
  const text = (field ?? '').slice(0, FIELD_CHARACTERS_MAX)
  const value = /^[^\s;]+/.exec(text.trimStart())?.[0]?.toLowerCase() ?? ''
  const plain = new Map<string, string>()
  const pieces = new Map<string, Map<number, Piece>>()
  for (const [, name, quoted, bare] of text.matchAll(PARAMETER)) {
    const said = quoted === undefined ? bare!.trim() : quoted.replace(/\\(.)/g, '$1')
    const [, base = '', number, star] = /^([^*]+)(?:\*(\d{1,3}))?(\*)?$/.exec(name!.toLowerCase()) ?? []
    if (base === '') continue
    if (number === undefined && star === undefined) {
      if (!plain.has(base)) plain.set(base, said)
      continue
    }
    const own = pieces.get(base) ?? new Map<number, Piece>()
    if (own.size < CONTINUATIONS_MAX)
      own.set(Number(number ?? 0), { text: said, isExtended: star !== undefined })
    pieces.set(base, own)
  }
  const params = new Map([...plain].map(([name, said]) => [name, AS_IS.has(name) ? said : decodeWords(said)]))
  for (const [name, own] of pieces) params.set(name, joined(own))
  return { value, params }
}

/** The charset stands in front of the first piece, and is that of all (RFC 2231 §4.1). */
function joined(own: ReadonlyMap<number, Piece>): string {
  const inOrder = [...own].sort(([a], [b]) => a - b).map(([, piece]) => piece)
  const [first] = inOrder
  const charset = first?.isExtended ? EXTENDED.exec(first.text) : null
  const bytes = inOrder
    .map(({ text, isExtended }, i) => {
      const said = i === 0 && charset ? text.slice(charset[0].length) : text
      return isExtended ? unescaped(said) : said
    })
    .join('')
  return decodeText(bytes, charset?.[1] || undefined)
}

function unescaped(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
