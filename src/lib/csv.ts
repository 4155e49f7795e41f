/** Writes CSV lines (RFC 4180), escaping cells that a spreadsheet would execute as formulas. */

/**
 * What a spreadsheet may take for a formula, and run; behind apostrophes, too, so that what guards it can be
 * told apart.
 */
const FORMULA = /^'*(?:[\s\u00a0\ufeff]*[=+\-@＝＋－＠]|[\t\r\n])/

/** With its line end. */
export function csvLine(cells: readonly (string | number | boolean | null)[]): string {
  return `${cells.map(cell => quoted(guarded(String(cell ?? '')))).join(',')}\r\n`
}

/** What `csvLine` has made of a text, as it was. */
export function unguarded(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell
}

/** An apostrophe makes it a text. */
function guarded(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
