/**
 * Returns at most the first `lengthMax` characters of a text, and marks the cut with an ellipsis.
 */
export function shortened(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax).toWellFormed()}…`
}
