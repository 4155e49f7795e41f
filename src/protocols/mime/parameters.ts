/**
 * Parameters of Content-Type and Content-Disposition, such as the name of a file (RFC 2045 §5.1, RFC 2231).
 */
import { foldTokens, PREFERRED_LINE_OCTETS } from './fold.ts'

/** Shorter than a line, so that a parameter never needs folding inside its quotes. */
const QUOTED_CHARACTERS_MAX = 60
/**
 * Values without quotes or backslashes, which readers unescape differently, and without outer blanks, which
 * some readers trim.
 */
const QUOTABLE = /^(?! )[ !#-[\]-~]*(?<! )$/
/** Octets of a section of an extended value: its line keeps within `PREFERRED_LINE_OCTETS`. */
const SECTION_ROOM = PREFERRED_LINE_OCTETS - 24
const PLAIN_CHARACTERS_MAX = 60
const EXTENSION_CHARACTERS_MAX = 12

/**
 * `name="value"`, or where that cannot say it exactly, the extended form `name*=utf-8''…`, cut into sections
 * `name*0*`, `name*1*`, … when long (RFC 2231 §3, §4).
 */
export function parameter(name: string, value: string): string[] {
  if (isQuotable(value)) return [`${name}="${value}"`]
  const sections = percentSections(value)
  if (sections.length === 1) return [`${name}*=utf-8''${sections[0]}`]
  return sections.map((section, at) => `${name}*${at}*=${at === 0 ? "utf-8''" : ''}${section}`)
}

/**
 * The name of a file as parameters. Where the name is not plain ASCII, a rough ASCII form follows the
 * extended one for readers that know no RFC 2231; it comes last, because some readers take the first that
 * they find.
 */
export function fileNameParameters(fileName: string): string[] {
  const exact = parameter('filename', fileName)
  return isQuotable(fileName) ? exact : [...exact, `filename="${plainFileName(fileName)}"`]
}

/** ASCII of at most 60 characters that resembles the name and keeps its extension. Never empty. */
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

/** Readers decode what looks like an encoded word even in quotes, though RFC 2047 §5 forbids it there. */
function isQuotable(value: string): boolean {
  return value.length <= QUOTED_CHARACTERS_MAX && QUOTABLE.test(value) && !value.includes('=?')
}

/** The value percent-encoded, cut between characters, since some readers decode each section by itself. */
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

/** `attribute-char` stays (RFC 2231 §7); `encodeURIComponent` leaves four more that may not. */
function percent(character: string): string {
  return encodeURIComponent(character).replace(/[*'()]/g, rest => `%${rest.charCodeAt(0).toString(16)}`)
}
