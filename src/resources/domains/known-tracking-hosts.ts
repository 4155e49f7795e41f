/** Lists tracking hosts that point to this installation, by the results of the last checks. */
import type { Id } from '../../lib/ids.ts'
import type { Db } from '../../store/model/schema.ts'
import { type LinkPlace, NOT_SERVED, type TrackingHost, trackingHostOf } from './checks/tracking-host.ts'
import { maySend } from './status.ts'
import type { DomainChecks } from './verify.ts'

export interface KnownTrackingHost extends TrackingHost {
  domainId: Id
  /** Whether its DNS points to this installation, even if requests do not reach it. */
  leadsHere: boolean
  isServed: boolean
}

/** Lists the tracking hosts of all domains that may send, by their last check. */
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
