/**
 * Reduces a text to one line of printable ASCII: every other character becomes a question mark.
 * @param charactersMax the rest is cut off
 */
export function printableAscii(text: string, charactersMax: number): string {
  return text.slice(0, charactersMax).replace(/[^ -~]/g, '?')
}
