/** Hosts of links that lead to this installation, by what the last checks of their domains found. */
import type { Id } from '../../lib/ids.ts'
import type { Db } from '../../store/schema.ts'
import { maySend } from './status.ts'
import { type LinkPlace, NOT_SERVED, type TrackingHost, trackingHostOf } from './tracking-host.ts'
import type { DomainChecks } from './verify.ts'

export interface KnownTrackingHost extends TrackingHost {
  domainId: Id
  /** Its name leads to us, whether or not we can be spoken to there. */
  leadsHere: boolean
  isServed: boolean
}

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
