/**
 * The host below a domain that the links of its mail lead to. It is used from when it has been seen to be served by this
 * installation: by its DNS alone nobody could tell whether readers get there, over TLS and past proxies.
 */
import type { Id } from '../lib/ids.ts'
import type { SecretKeys } from '../lib/secret-keys.ts'
import type { Db, DomainRow } from '../store/schema.ts'
import { maySend } from './status.ts'
import type { DomainChecks } from './verify.ts'

export type TrackedDomain = Pick<DomainRow, 'name' | 'trackingSubdomain'>

export interface TrackingHost {
  host: string
  /** Of links there, without a slash at its end. */
  baseUrl: string
}

/** How the hosts of domains lead to us. */
export interface LinkPlace {
  /** The name that their CNAME records lead to. */
  target: string
  /** Of `https` there, where it is not 443. */
  port: number | null
}

/** Shows at each host that it leads here. */
export const PROOF_PATH = '/.well-known/posthorn-links'

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

export interface KnownTrackingHost extends TrackingHost {
  domainId: Id
  /** Its name leads to us, whether or not we can be spoken to there. */
  leadsHere: boolean
  isServed: boolean
}

/** A problem of a host whose name leads to us. */
export const NOT_SERVED = 'not_served'

/** Of all domains that may send, as found when they were checked last. */
export async function listTrackingHosts(db: Db, place: LinkPlace): Promise<KnownTrackingHost[]> {
  const domains = await db
    .selectFrom('domains')
    .select(['id', 'name', 'status', 'trackingSubdomain', 'trackingTerms', 'checks'])
    .where('trackingSubdomain', 'is not', null)
    .execute()
  const sending = domains.filter(({ status }) => maySend(status))
  return sending.map(({ id, trackingTerms, checks, ...domain }) => {
    const tracking = trackingHostOf(domain, place)!
    const isServed = trackingTerms !== null
    const seen = checks === null ? undefined : (JSON.parse(checks) as Partial<DomainChecks>).tracking
    const isNext = seen?.host === tracking.host && seen.problems.some(({ code }) => code === NOT_SERVED)
    return { ...tracking, domainId: id, isServed, leadsHere: isServed || isNext }
  })
}
