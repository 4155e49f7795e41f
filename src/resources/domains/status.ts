/** How a domain's status follows from what a check found, and when it is checked again. Pure. */
import type { Id } from '../../lib/ids.ts'
import type { DomainRow, DomainStatus } from '../../store/schema.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** After this long without the records a domain counts as failed. */
export const GIVE_UP_AFTER_MS = 72 * HOUR_MS
/** Ages at which a new domain is checked; then every hour. */
export const EARLY_CHECKS_MS = [1, 2, 5, 10, 30].map(minutes => minutes * MINUTE_MS)
/** A domain that has failed is looked at for so long, in case its records come back. */
const LOOK_AFTER_FAILED_MS = 30 * DAY_MS
/** Hourly and daily checks come up to this much of their interval early, each domain's by its own share. */
const SPREAD = 1 / 12

/**
 * `good`: ownership and the active selector were found as asked. `gone`: clean answers say that they are not
 * there. `unknown`: nothing was learnt that could take a domain's standing away.
 */
export type CheckOutcome = 'good' | 'gone' | 'unknown'

type Standing = Pick<DomainRow, 'status' | 'verifiedAt' | 'failingSince' | 'createdAt'>

/**
 * `pending` and `failed` become `verified` by one good check; `verified` becomes `temporary_failure` when the
 * records are gone, and `failed` when that lasts; `pending` becomes `failed` when they have not come in time.
 */
export function afterCheck(domain: Standing, outcome: CheckOutcome, now: number): Standing {
  if (outcome === 'good')
    return { ...domain, status: 'verified', verifiedAt: domain.verifiedAt ?? now, failingSince: null }
  const isPending = domain.status === 'pending'
  if (outcome === 'unknown' && !isPending) return domain
  const failingSince = domain.failingSince ?? (isPending ? domain.createdAt : now)
  const overdue = now - failingSince >= GIVE_UP_AFTER_MS
  const lasting = isPending ? 'pending' : 'temporary_failure'
  const status: DomainStatus = overdue || domain.status === 'failed' ? 'failed' : lasting
  return { ...domain, status, failingSince }
}

/** Epoch ms; null when the domain is not checked by itself any more. */
export function nextCheckAt(
  domain: Pick<
    DomainRow,
    'id' | 'status' | 'createdAt' | 'failingSince' | 'trackingSubdomain' | 'trackingTerms'
  >,
  outcome: CheckOutcome,
  now: number,
): number | null {
  const { id, status, createdAt, failingSince, trackingSubdomain, trackingTerms } = domain
  if (status === 'pending') {
    const age = now - createdAt
    const next = EARLY_CHECKS_MS.find(ms => ms > age)
    return next === undefined ? now + spread(HOUR_MS, id) : createdAt + next
  }
  if (status === 'temporary_failure' || outcome === 'unknown') return now + spread(HOUR_MS, id)
  if (status === 'failed' && now - (failingSince ?? now) >= LOOK_AFTER_FAILED_MS) return null
  const linksAreAwaited = trackingSubdomain !== null && trackingTerms === null
  return now + spread(linksAreAwaited ? HOUR_MS : DAY_MS, id)
}

/** By the random end of the id, so that many domains of one hour come one after another. */
function spread(intervalMs: number, id: Id): number {
  const share = (id[14]! * 256 + id[15]!) / 65_536
  return Math.round(intervalMs * (1 - SPREAD * share))
}

/** Whether mail may be sent from the domain. */
export function maySend(status: DomainStatus): boolean {
  return status === 'verified' || status === 'temporary_failure'
}
