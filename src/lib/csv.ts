/** Writes CSV lines (RFC 4180), escaping cells that a spreadsheet would execute as formulas. */

/**
 * Matches cells that a spreadsheet may execute as a formula. Cells that begin with apostrophes before a
 * formula match, too, so that `unguarded` can tell which apostrophe was added.
 */
const FORMULA = /^'*(?:[\s\u00a0\ufeff]*[=+\-@＝＋－＠]|[\t\r\n])/

/** @returns the line with its line end */
export function csvLine(cells: readonly (string | number | boolean | null)[]): string {
  return `${cells.map(cell => quoted(guarded(String(cell ?? '')))).join(',')}\r\n`
}

/** Removes the apostrophe that `csvLine` has added. */
export function unguarded(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell
}

/** A leading apostrophe makes a spreadsheet treat the cell as text. */
function guarded(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}

/** Blanks at the ends are kept by programs that ignore those beside separators. */
function quoted(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
