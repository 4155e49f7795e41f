/** The load that is usual for a kind of contender. */

/**
 * Number of connections above which Postfix is no faster here. The rate of the milter does not depend on it.
 */
export const SMTP_CONNECTIONS = 20
export const HTTP_CONNECTIONS = 64
/**
 * Messages before the measured ones: every thread of a service that runs for months has compiled what it
 * does.
 */
export const WARM_UP_COUNT = 5_000
/**
 * Until hardly anything is compiled any more: it is a tenth of the CPU of the 10,000 after the first 5,000.
 */
export const LONG_WARM_UP_COUNT = 20_000
