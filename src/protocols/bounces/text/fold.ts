/** Normalization of foreign text, before words are compared. */

/** Matches a quotation from the message behind a word for its parts. */
const QUOTED_SUBJECT =
  /(subject|header|betreff|sujet|objet|asunto|assunto|oggetto|тема|temat|件名|主题|file ?name|phrase|text)([^"'“„«]{0,16})["'“„«][^"'”“»]{1,400}["'”“»]/giu

export function withoutQuotations(text: string): string {
  return text.replace(QUOTED_SUBJECT, '$1')
}

/**
 * Folds text to lower case without accents: `ü` becomes `u` and `й` becomes `и`; Japanese syllables stay
 * whole.
 */
export function fold(text: string): string {
  return text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
}
