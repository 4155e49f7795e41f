/**
 * Formats parameters of Content-Type and Content-Disposition, such as the name of a file (RFC 2045 §5.1, RFC
 * 2231).
 */
import { foldTokens, PREFERRED_LINE_OCTETS } from './fold.ts'

/** Limit that is shorter than a line, so that a parameter never needs folding inside its quotes. */
const QUOTED_CHARACTERS_MAX = 60
/**
 * Matches values without quotes and backslashes, which readers unescape differently, and without outer
 * blanks, which some readers trim.
 */
const QUOTABLE = /^(?! )[ !#-[\]-~]*(?<! )$/
/** Limit of a section of an extended value, whose line stays within `PREFERRED_LINE_OCTETS`. */
const SECTION_ROOM = PREFERRED_LINE_OCTETS - 24
const PLAIN_CHARACTERS_MAX = 60
const EXTENSION_CHARACTERS_MAX = 12

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
 * Formats the name of a file. If the name is not plain ASCII, an approximation in ASCII follows the extended
 * form, for readers that do not know RFC 2231. It comes last, because some readers take the first form that
 * they find.
 */
export function fileNameParameters(fileName: string): string[] {
  const exact = parameter('filename', fileName)
  return isQuotable(fileName) ? exact : [...exact, `filename="${plainFileName(fileName)}"`]
}

/**
 * Approximates the name in at most 60 characters of ASCII, and keeps its extension. The result is never
 * empty.
 */
export function plainFileName(fileName: string): string {
  if (isQuotable(fileName) && fileName !== '') return fileName
  const ascii = fileName
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^ !#-<>@-[\]-~]+/g, '_')
    .trim()
  if (ascii.length <= PLAIN_CHARACTERS_MAX) return ascii || '_'
  const dot = ascii.lastIndexOf('.')
  const extension = dot > 0 && ascii.length - dot <= EXTENSION_CHARACTERS_MAX ? ascii.slice(dot) : ''
  return ascii.slice(0, PLAIN_CHARACTERS_MAX - extension.length) + extension
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
 * Readers decode text that looks like an encoded word even in quotes, although RFC 2047 §5 forbids it there.
 */
function isQuotable(value: string): boolean {
  return value.length <= QUOTED_CHARACTERS_MAX && QUOTABLE.test(value) && !value.includes('=?')
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
    if (section.length + encoded.length > SECTION_ROOM) {
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
