/** How much contacts, segments and topics may say, and of how many there may be. */

/** Of an audience, a segment or a topic, in characters. */
export const LONGEST_NAME = 200
export const LONGEST_DESCRIPTION = 1_000
/** Of a first or last name, in characters. */
export const LONGEST_CONTACT_NAME = 200
export const LONGEST_KEY = 100
/** Of a property that is a text, and of what a filter compares with, in characters. */
export const LONGEST_VALUE = 500
/** Of either in its folded form: what an index takes. */
export const MOST_FOLDED_NAME_BYTES = 800
export const MOST_FOLDED_VALUE_BYTES = 2_000
/** Of one contact. */
export const MOST_PROPERTIES = 100
/** Different ones, of all contacts of an audience together. */
export const MOST_KEYS = 500
/** Of one segment. */
export const MOST_FILTERS = 20
/** Of one audience. */
export const MOST_SEGMENTS = 500
/** Of one account. */
export const MOST_AUDIENCES = 1_000
export const MOST_TOPICS = 200
