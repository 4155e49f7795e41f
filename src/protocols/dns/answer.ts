/**
 * Result types of DNS look-ups. Failures are values, since each of them decides about a delivery or a domain.
 */

export type Answer<T> =
  | {
      kind: 'found'
      /** At least one. */
      records: readonly T[]
      /** The lowest of the records' TTLs as the name server gave it; for A and AAAA only. */
      ttlMs?: number
    }
  /** The name does not exist (NXDOMAIN, RFC 8020), or cannot be a name. */
  | { kind: 'no-domain' }
  /** The name exists without records of this type. */
  | { kind: 'no-data' }
  /** SERVFAIL, REFUSED, timeout, a malformed answer: nothing is known, a later look-up may succeed. */
  | { kind: 'failure'; reason: string }

interface LookUpOptions {
  /** Asks the name servers whatever the cache holds, and renews it: for domain checks. */
  fresh?: boolean
}

export type LookUp<T> = (name: string, options?: LookUpOptions) => Promise<Answer<T>>
