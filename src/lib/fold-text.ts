/** Text in the form that searches compare: no difference of case or of compatible characters. */

export function foldText(text: string): string {
  return withOneSigma(text.normalize('NFKC').toLowerCase())
}

/**
 * Lower case has two, by their place in a word, which a part of the text need not share (Unicode,
 * SpecialCasing: Final_Sigma). The result is as long.
 */
export function withOneSigma(lowerCase: string): string {
  return lowerCase.replaceAll('ς', 'σ')
}
