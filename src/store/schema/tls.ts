/** Tables about the TLS of others: what they have published, and what came of it. */

/** What a domain's owner has published by MTA-STS (RFC 8461). */
export interface MtaStsPolicyRow {
  domain: string
  /** The `id` of the TXT record it was fetched for. */
  policyId: string
  mode: 'enforce' | 'testing' | 'none'
  /** Host names, or patterns that begin with `*.`: a JSON list. */
  mx: string
  maxAgeSeconds: number
  fetchedAt: number
  expiresAt: number
}

/** Sessions of one UTC day with hosts of one domain, counted by what became of their TLS (RFC 8460). */
export interface TlsResultRow {
  /** As in `2026-11-21`. */
  day: string
  domain: string
  policyType: 'sts' | 'tlsa' | 'no-policy-found'
  /** A result type of RFC 8460 §4.3; empty for a success. */
  result: string
  /** Empty where no host was spoken to. */
  mxHost: string
  /**
   * JSON `{strings?: […], mxHosts?: […], from?}`: the policy, as the report shall quote it, and our address
   * in the first of the sessions.
   */
  policy: string
  reason: string | null
  mxIp: string | null
  count: number
}
