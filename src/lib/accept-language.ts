/** Reads the `Accept-Language` header (RFC 9110 §12.5.4). */

/** The rest of a longer header is ignored, so that reading it costs little. */
const HEADER_CHARACTERS_MAX = 1_000
const RANGE = /^([a-z]{1,8}(?:-[a-z\d]{1,8})*|\*)(?:;q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/

/**
 * Returns the accepted language ranges in lower case, the preferred ones first. Ranges with a weight of 0 and
 * malformed ones are left out.
 */
export function acceptedLanguages(header: string): string[] {
  return header
    .slice(0, HEADER_CHARACTERS_MAX)
    .toLowerCase()
    .split(',')
    .map(range => RANGE.exec(range.replaceAll(/[ \t]/g, '')))
    .filter(match => match !== null)
    .map(([, language, weight = '1']) => ({ language: language!, weight: Number(weight) }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ language }) => language)
}
