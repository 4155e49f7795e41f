/** Folding of a DKIM-Signature field: pieces on lines of 76 characters (RFC 6376 §3.2, RFC 5322 §2.2.3). */

export const LINE_CHARACTERS = 76

/**
 * Joins pieces, going to a new line before one that does not fit.
 * @param column characters before them on the first line
 */
export function fill(pieces: readonly string[], separator: string, column: number): string {
  let text = ''
  let at = column
  for (const piece of pieces) {
    const gap = text === '' ? '' : separator
    if (text !== '' && at + gap.length + piece.length > LINE_CHARACTERS) {
      text += `\r\n ${piece}`
      at = 1 + piece.length
    } else {
      text += gap + piece
      at += gap.length + piece.length
    }
  }
  return text
}
