/** Tables of MTA-STS policies of other domains, and of results of TLS sessions. */

/** MTA-STS policy of a domain (RFC 8461). */
export interface MtaStsPolicyRow {
  domain: string
  /** The `id` of the TXT record it was fetched for. */
  policyId: string
  mode: 'enforce' | 'testing' | 'none'
  /** JSON list of host names, or patterns that begin with `*.`. */
  mx: string
  maxAgeSeconds: number
  fetchedAt: number
  expiresAt: number
}

/** Number of TLS sessions with hosts of one domain on one UTC day with one result (RFC 8460). */
export interface TlsResultRow {
  /** UTC day, such as `2026-11-21`. */
  day: string
  domain: string
  policyType: 'sts' | 'tlsa' | 'no-policy-found'
  /** A result type of RFC 8460 §4.3; empty for a success. */
  result: string
  /** MX host; empty when no host was contacted. */
  mxHost: string
  /**
   * JSON `{strings?: […], mxHosts?: […], from?}`: the policy in the form of the report, and the source
   * address of the first session.
   */
  policy: string
  reason: string | null
  mxIp: string | null
  count: number
}
