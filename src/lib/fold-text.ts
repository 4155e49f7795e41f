/** Folds text for comparison in searches: differences of case and of compatible characters disappear. */

export function foldText(text: string): string {
  return withOneSigma(text.normalize('NFKC').toLowerCase())
}

/**
 * Replaces the final sigma, the second lower-case form of the letter, because part of a text may not end
 * where the word ends (Unicode, SpecialCasing: Final_Sigma). The length stays the same.
 */
export function withOneSigma(lowerCase: string): string {
  return lowerCase.replaceAll('ς', 'σ')
}
