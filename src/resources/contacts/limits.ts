/** Limits of contacts, segments and topics. */

/** Length of the name of an audience, a segment or a topic, in characters. */
export const NAME_CHARACTERS_MAX = 200
export const DESCRIPTION_CHARACTERS_MAX = 1_000
/** Length of a first or last name, in characters. */
export const CONTACT_NAME_CHARACTERS_MAX = 200
export const KEY_CHARACTERS_MAX = 100
/** Length of a property value or of a value in a filter, in characters. */
export const VALUE_CHARACTERS_MAX = 500
/** Sizes of the folded forms, as allowed by the database index. */
export const FOLDED_NAME_BYTES_MAX = 800
export const FOLDED_VALUE_BYTES_MAX = 2_000
/** Number of properties of one contact. */
export const PROPERTIES_MAX = 100
/** Number of different properties of all contacts of an audience. */
export const KEYS_MAX = 500
/** Values in a filter with a list. */
export const LIST_VALUES_MAX = 50
/** Length of the period in a filter on a time, in days. */
export const PERIOD_DAYS_MAX = 3_650
/** Length of the name of an imported file, in characters. */
export const FILE_NAME_CHARACTERS_MAX = 255
/** Number of filters of one segment. */
export const FILTERS_MAX = 20
/** Number of segments of one audience. */
export const SEGMENTS_MAX = 500
/** Number of audiences of one account. */
export const AUDIENCES_MAX = 1_000
export const TOPICS_MAX = 200
