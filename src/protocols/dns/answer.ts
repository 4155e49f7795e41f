/**
 * Result types of DNS look-ups. Failures are values, since each kind has its own effect on a delivery or a
 * domain.
 */

export type Answer<T> =
  | {
      kind: 'found'
      /** At least one record. */
      records: readonly T[]
      /** Lowest TTL of the records as the name server gave it, in ms. Set for A and AAAA only. */
      ttlMs?: number
    }
  /** The name does not exist (NXDOMAIN, RFC 8020), or the text is not a valid name. */
  | { kind: 'no-domain' }
  /** The name exists without records of this type. */
  | { kind: 'no-data' }
  /** SERVFAIL, REFUSED, a timeout or a malformed answer. A later look-up may succeed. */
  | { kind: 'failure'; reason: string }

interface LookUpOptions {
  /** Bypasses and renews the cache. Domain checks use this option. */
  fresh?: boolean
}

export type LookUp<T> = (name: string, options?: LookUpOptions) => Promise<Answer<T>>
