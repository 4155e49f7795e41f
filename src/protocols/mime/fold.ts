/** Folds header fields: decides where the composer breaks their lines (RFC 5322 §2.2.3). */

/**
 * Preferred length of all header lines, since a line with an encoded word may not be longer (RFC 2047 §2).
 */
export const PREFERRED_LINE_OCTETS = 76

/** Length limit of all lines without CRLF (RFC 5322 §2.1.1). */
export const LINE_OCTETS_MAX = 998

/** Limit of a token on a line of its own, behind the blank of folding. */
export const TOKEN_LIMIT_OCTETS = LINE_OCTETS_MAX - 1

/**
 * Joins tokens with single blanks and breaks the line before a token that would not fit. The first token
 * stays on the line of the field name, since readers are wary of an empty first line, unless that line
 * would break the hard limit.
 *
 * @param column octets already on the first line: the field name, the colon and the blank
 */
export function foldTokens(tokens: readonly string[], column: number): string {
  let folded = ''
  let at = column
  for (const [position, token] of tokens.entries()) {
    const octets = Buffer.byteLength(token)
    const first = position === 0
    const fits = first ? at + octets <= LINE_OCTETS_MAX : at + 1 + octets <= PREFERRED_LINE_OCTETS
    if (!fits) {
      folded += '\r\n '
      at = 1
    } else if (!first) {
      folded += ' '
      at++
    }
    folded += token
    at += octets
  }
  return folded
}
