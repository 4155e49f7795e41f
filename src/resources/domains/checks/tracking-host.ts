/**
 * Tracking host of a domain: a subdomain for tracked links. It is used only after a request to it has reached
 * this service, because DNS alone does not show that TLS and proxies work.
 */
import type { SecretKeys } from '../../../lib/secret-keys.ts'
import type { DomainRow } from '../../../store/model/schema.ts'

export type TrackedDomain = Pick<DomainRow, 'name' | 'trackingSubdomain'>

export interface TrackingHost {
  host: string
  /** Base URL of links, without a final slash. */
  baseUrl: string
}

/** Results of checks of tracking hosts. */
export interface LinkPlace {
  /** Target of the CNAME records. */
  target: string
  /** Port of `https`; null for 443. */
  port: number | null
}

/** Path at which each host proves that it points to this service. */
export const PROOF_PATH = '/.well-known/mailhorn-links'

export function trackingHostOf(
  { name, trackingSubdomain }: TrackedDomain,
  { port }: LinkPlace,
): TrackingHost | undefined {
  if (trackingSubdomain === null) return undefined
  const host = `${trackingSubdomain}.${name}`
  return { host, baseUrl: `https://${host}${port === null ? '' : `:${port}`}` }
}

/**
 * Returns the content at `PROOF_PATH` for a host.
 * @param host value of the `Host` header in lower case
 */
export function proofFor(secrets: SecretKeys, host: string): string {
  return secrets.mac('link-host', host).toString('base64url')
}

/** Code of the problem that a host points to this service, but requests do not reach it. */
export const NOT_SERVED = 'not_served'
