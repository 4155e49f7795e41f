/** Blanks of HTML as a text shows them. Called by `html-to-text.ts`. */

/** White space, and characters that pad previews or allow line breaks. */
const BLANKS = /[\u034f\s\u00a0\u00ad\u061c\u200b-\u200f\u2060-\u2064\ufeff]+/g
/** What a text must hold to have blanks other than single spaces. */
const IRREGULAR_BLANKS = / {2}|[\t-\r\u00a0-\uffff]/
/** Between letters, these have a meaning: non-joiner and joiner, marks of the writing direction. */
const JOINER = /^[\u200c-\u200f\u061c]$/

/** Replaces each run of blanks by one space. */
export function collapsed(text: string): string {
  return IRREGULAR_BLANKS.test(text) ? text.replace(BLANKS, blankOf) : text
}

function blankOf(run: string): string {
  if (/[\s\u00a0]/.test(run)) return ' '
  return JOINER.test(run) ? run : ''
}
