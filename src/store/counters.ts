/** Names of counters that more than one room uses. */

/** Recipients of accepted emails, with a UTC day or month as period. */
export const RECIPIENTS = 'recipients'
