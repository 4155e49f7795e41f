/** Text in the form that searches compare: no difference of case or of compatible characters. */

export function foldText(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}
