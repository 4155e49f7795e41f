/** What of a message was not read, in the words of those to whom it is shown (`parse_error`). */

export const PARTS_MAX = 1_000
export const PART_DEPTH_MAX = 50
/** In UTF-16 units, of all texts of a message together; what is longer is no text that anybody reads. */
export const TEXT_CHARACTERS_MAX = 2_000_000

const number = (count: number) => count.toLocaleString('en-US')

export const FAULTS = {
  head: 'The header is too large: only its first 1,000 fields and 256 KB were read',
  partHead: 'The header of a part is too large: only its first 1,000 fields and 256 KB were read',
  parts: `The message has more than ${number(PARTS_MAX)} parts; the others were not read`,
  depth: `Parts are nested more than ${PART_DEPTH_MAX} levels deep; those further inside were not read`,
  text: `The text is longer than ${number(TEXT_CHARACTERS_MAX)} characters; the rest was cut`,
} as const
