/**
 * Finds characters that must not be in a domain name (IDNA 2008, RFC 5892). The runtime converts names by
 * UTS 46, which also maps or encodes punctuation and symbols: `acme’s.example` would become a domain of its
 * own, and `acme™.example` would be `acmetm.example`.
 */

/** Letters, marks and digits; dots of other scripts; joiners, whose place the runtime checks. */
const ALLOWED = /^(?:[\x00-\x7f\p{L}\p{M}\p{Nd}。．｡]|\u200c|\u200d)$/u
/** Exceptions in both directions (RFC 5892 §2.6). */
const ALSO_ALLOWED = new Set('\u06fd\u06fe\u0f0b\u3007')
const NOT_ALLOWED = new Set('\u0640\u07fa\u302e\u302f\u3031\u3032\u3033\u3034\u3035\u303b')
/** Characters that are allowed beside some others (RFC 5892 appendix A), with those around them. */
const IN_CONTEXT = /(?<=l)\u00b7(?=l)|\u0375(?=\p{Script=Greek})|(?<=\p{Script=Hebrew})[\u05f3\u05f4]/giu
const KATAKANA_DOT = /\u30fb/g
const JAPANESE = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u

/** @returns the first character, such as `’`; undefined if there is none */
export function forbiddenInDomain(domain: string): string | undefined {
  if (!/[^\x00-\x7f]/.test(domain)) return undefined
  const rest = domain.normalize('NFC').replace(IN_CONTEXT, '')
  const others = JAPANESE.test(rest.replace(KATAKANA_DOT, '')) ? rest.replace(KATAKANA_DOT, '') : rest
  for (const character of others) {
    const isAllowed = ALLOWED.test(character) && !NOT_ALLOWED.has(character)
    if (!isAllowed && !ALSO_ALLOWED.has(character)) return character
  }
  return undefined
}

/** Names a character by its code point, such as `U+2019`. */
export function codePointOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}
