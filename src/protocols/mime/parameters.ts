/**
 * Formats parameters of Content-Type and Content-Disposition, such as the name of a file (RFC 2045 §5.1, RFC
 * 2231).
 */
import { encodedWords } from './encoded-word.ts'
import { foldTokens, LINE_OCTETS_MAX, PREFERRED_LINE_OCTETS } from './fold.ts'

/**
 * Limit of a value, or of a section of it, as it is written. A line has room for it beside the name of the
 * parameter. Few long sections are better than many short ones: some readers sort ten or more by their
 * names, not by their numbers.
 */
const WRITTEN_CHARACTERS_MAX = LINE_OCTETS_MAX - 98
/**
 * Matches values without quotes and backslashes, which readers unescape differently, and without outer
 * blanks, which some readers trim.
 */
const QUOTABLE = /^(?! )[ !#-[\]-~]*(?<! )$/

/**
 * Formats `name="value"`, or if that is not exact, the extended form `name*=utf-8''…`, split into sections
 * `name*0*`, `name*1*`, … when long (RFC 2231 §3, §4).
 */
export function parameter(name: string, value: string): string[] {
  if (isQuotable(value)) return [`${name}="${value}"`]
  const sections = percentSections(value)
  if (sections.length === 1) return [`${name}*=utf-8''${sections[0]}`]
  return sections.map((section, at) => `${name}*${at}*=${at === 0 ? "utf-8''" : ''}${section}`)
}

/**
 * Formats the parameter `name` of Content-Type, which repeats the name of a file for readers that do not know
 * RFC 2231: quoted, or if that is not exact, as encoded words inside the quotes. RFC 2047 §5 forbids the
 * latter, but such readers expect it.
 */
export function nameParameter(fileName: string): string {
  if (isQuotable(fileName)) return `name="${fileName}"`
  const room = PREFERRED_LINE_OCTETS - ' name='.length - '"";'.length
  return `name="${encodedWords(fileName.toWellFormed(), room).join('\r\n ')}"`
}

/** Formats `value; parameter; parameter`, folded. */
export function withParameters(fieldName: string, value: string, parameters: readonly string[]): string {
  const tokens = [value, ...parameters]
  const last = tokens.length - 1
  return foldTokens(
    tokens.map((token, at) => (at < last ? `${token};` : token)),
    fieldName.length + 2,
  )
}

/**
 * Tells whether readers take the value in quotes literally. They decode text that looks like an encoded word
 * even there, although RFC 2047 §5 forbids it.
 */
function isQuotable(value: string): boolean {
  return value.length <= WRITTEN_CHARACTERS_MAX && QUOTABLE.test(value) && !value.includes('=?')
}

/**
 * Percent-encodes the value in sections that do not cut characters, since some readers decode each section
 * separately.
 */
function percentSections(value: string): string[] {
  const sections: string[] = []
  let section = ''
  for (const character of value.toWellFormed()) {
    const encoded = percent(character)
    if (section.length + encoded.length > WRITTEN_CHARACTERS_MAX) {
      sections.push(section)
      section = ''
    }
    section += encoded
  }
  sections.push(section)
  return sections
}

/** Encodes all but `attribute-char` (RFC 2231 §7); `encodeURIComponent` leaves four more characters. */
function percent(character: string): string {
  return encodeURIComponent(character).replace(/[*'()]/g, rest => `%${rest.charCodeAt(0).toString(16)}`)
}
