/** Limits of contacts, segments and topics. */

/** Of an audience, a segment or a topic, in characters. */
export const NAME_CHARACTERS_MAX = 200
export const DESCRIPTION_CHARACTERS_MAX = 1_000
/** Of a first or last name, in characters. */
export const CONTACT_NAME_CHARACTERS_MAX = 200
export const KEY_CHARACTERS_MAX = 100
/** Of a property that is a text, and of what a filter compares with, in characters. */
export const VALUE_CHARACTERS_MAX = 500
/** Of either in its folded form: what an index takes. */
export const FOLDED_NAME_BYTES_MAX = 800
export const FOLDED_VALUE_BYTES_MAX = 2_000
/** Of one contact. */
export const PROPERTIES_MAX = 100
/** Different ones, of all contacts of an audience together. */
export const KEYS_MAX = 500
/** Of one segment. */
export const FILTERS_MAX = 20
/** Of one audience. */
export const SEGMENTS_MAX = 500
/** Of one account. */
export const AUDIENCES_MAX = 1_000
export const TOPICS_MAX = 200
