/** Limits of contacts, segments and topics. */

/** Length of the name of an audience, a segment or a topic, in characters. */
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
/** Number of properties of one contact. */
export const PROPERTIES_MAX = 100
/** Number of different properties of all contacts of an audience. */
export const KEYS_MAX = 500
/** Number of filters of one segment. */
export const FILTERS_MAX = 20
/** Number of segments of one audience. */
export const SEGMENTS_MAX = 500
/** Number of audiences of one account. */
export const AUDIENCES_MAX = 1_000
export const TOPICS_MAX = 200
