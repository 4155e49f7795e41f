/**
 * The host below a domain that the links of its mail lead to. It is used from when it has been seen to be
 * served by this installation: by its DNS alone nobody could tell whether readers get there, over TLS and
 * past proxies.
 */
import type { SecretKeys } from '../../lib/secret-keys.ts'
import type { DomainRow } from '../../store/schema.ts'

export type TrackedDomain = Pick<DomainRow, 'name' | 'trackingSubdomain'>

export interface TrackingHost {
  host: string
  /** Of links there, without a slash at its end. */
  baseUrl: string
}

/** Results of checks of tracking hosts. */
export interface LinkPlace {
  /** The name that their CNAME records lead to. */
  target: string
  /** Of `https` there, where it is not 443. */
  port: number | null
}

/** Shows at each host that it leads here. */
export const PROOF_PATH = '/.well-known/mailhorn-links'

export function trackingHostOf(
  { name, trackingSubdomain }: TrackedDomain,
  { port }: LinkPlace,
): TrackingHost | undefined {
  if (trackingSubdomain === null) return undefined
  const host = `${trackingSubdomain}.${name}`
  return { host, baseUrl: `https://${host}${port === null ? '' : `:${port}`}` }
}

/** What is said at `PROOF_PATH` of a host. @param host as in the `Host` header; lower case */
export function proofFor(secrets: SecretKeys, host: string): string {
  return secrets.mac('link-host', host).toString('base64url')
}

/** A problem of a host whose name leads to us. */
export const NOT_SERVED = 'not_served'
