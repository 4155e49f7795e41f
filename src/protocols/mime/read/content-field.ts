/**
 * Reads `Content-Type` and `Content-Disposition` with their parameters, in all forms that occur in mail:
 * quoted, continued and extended (RFC 2045 §5.1, RFC 2231), or with encoded words, which are not allowed
 * there.
 */
import { decodeText } from './charset.ts'
import { decodeWords } from './encoded-words.ts'

export interface ContentField {
  /** Value in lower case, such as `text/plain` or `attachment`; empty without one. */
  value: string
  /** Decoded parameters by lower-case name. */
  params: ReadonlyMap<string, string>
}

/** A parameter before continuations are joined and its value is decoded. */
export interface RawParameter {
  /** Name as it was written, such as `filename*0*`. */
  name: string
  /** Value without quotes and backslashes. */
  value: string
  /** Value as it was written, with its quotes. */
  written: string
  /** Position of the semicolon in front of the parameter, and the position behind it. */
  start: number
  end: number
}

const PARAMETER = /;\s{0,20}([^\s=;"]{1,60})\s{0,8}=\s{0,8}(?:"((?:[^"\\]|\\.){0,2000})"?|([^;]{0,2000}))/g
const FIELD_CHARACTERS_MAX = 8_000
const CONTINUATIONS_MAX = 100
/** Parameters whose values are not decoded. */
const LITERAL = new Set(['boundary', 'charset'])
const EXTENDED = /^([\w.:+-]{0,40})'[\w-]{0,20}'/

interface Section {
  text: string
  /** True if the section is percent-encoded (RFC 2231 §4). */
  isExtended: boolean
}

/**
 * @param field unfolded value with one character per octet
 * @param declared charset of octets beyond ASCII where the field has no parameter `charset`
 */
export function readContentField(field: string | undefined, declared?: string): ContentField {
  const text = (field ?? '').slice(0, FIELD_CHARACTERS_MAX)
  const value = /^[^\s;]+/.exec(text.trimStart())?.[0]?.toLowerCase() ?? ''
  const params = new Map<string, string>()
  if (!text.includes(';')) return { value, params }
  const sectionsOf = new Map<string, Map<number, Section>>()
  for (const { name, value: fieldText } of rawParameters(text)) {
    const [, base = '', number, star] = /^([^*]+)(?:\*(\d{1,3}))?(\*)?$/.exec(name.toLowerCase()) ?? []
    if (base === '') continue
    if (number === undefined && star === undefined) {
      if (!params.has(base)) params.set(base, fieldText)
      continue
    }
    const sections = sectionsOf.get(base) ?? new Map<number, Section>()
    if (sections.size < CONTINUATIONS_MAX)
      sections.set(Number(number ?? 0), { text: fieldText, isExtended: star !== undefined })
    sectionsOf.set(base, sections)
  }
  const charset = params.get('charset') ?? declared
  for (const [name, valueText] of params)
    if (!LITERAL.has(name)) params.set(name, decodeWords(valueText, { declared: charset }))
  for (const [name, sections] of sectionsOf) params.set(name, joined(sections))
  return { value, params }
}

/** Yields the parameters of a field in their order, and skips what is not a parameter. */
export function* rawParameters(field: string): Generator<RawParameter> {
  for (const match of field.matchAll(PARAMETER)) {
    const [whole, name, quoted, bare] = match
    const value = quoted === undefined ? bare!.trim() : quoted.replace(/\\(.)/g, '$1')
    const written = quoted === undefined ? value : `"${quoted}"`
    yield { name: name!, value, written, start: match.index, end: match.index + whole.length }
  }
}

/** The charset stands in front of the first section and applies to all (RFC 2231 §4.1). */
function joined(sections: ReadonlyMap<number, Section>): string {
  const inOrder = [...sections].sort(([a], [b]) => a - b).map(([, section]) => section)
  const [first] = inOrder
  const charset = first?.isExtended ? EXTENDED.exec(first.text) : null
  const octets = inOrder
    .map(({ text, isExtended }, i) => {
      const valueText = i === 0 && charset ? text.slice(charset[0].length) : text
      return isExtended ? unescaped(valueText) : valueText
    })
    .join('')
  return decodeText(octets, charset?.[1] || undefined)
}

function unescaped(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
