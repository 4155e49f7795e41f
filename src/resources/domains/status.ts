/**
 * Derives the status of a domain from the result of a check, and the time of the next check. Pure functions.
 */
import type { Id } from '../../lib/ids.ts'
import type { DomainRow, DomainStatus } from '../../store/model/schema.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** A domain whose records are missing for this time becomes `failed`. */
export const GIVE_UP_AFTER_MS = 72 * HOUR_MS
/** Ages at which a new domain is checked; afterwards it is checked hourly. */
export const EARLY_CHECKS_MS = [1, 2, 5, 10, 30].map(minutes => minutes * MINUTE_MS)
/** A failed domain is checked for this time, in case its records appear. */
const LOOK_AFTER_FAILED_MS = 30 * DAY_MS
/**
 * Hourly and daily checks are brought forward by up to this share of their interval, by a different share for
 * each domain.
 */
const SPREAD = 1 / 12

/**
 * `good`: the ownership record and the active selector are correct. `gone`: definite answers say that they
 * are not there. `unknown`: no definite answer that could revoke the verification.
 */
export type CheckOutcome = 'good' | 'gone' | 'unknown'

type Standing = Pick<DomainRow, 'status' | 'verifiedAt' | 'failingSince' | 'createdAt'>

/**
 * `pending` and `failed` become `verified` by one good check. `verified` becomes `temporary_failure` when the
 * records are gone, and then `failed` if they stay missing. `pending` becomes `failed` if they do not appear
 * in time.
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

/** Returns ms since the epoch; null if the domain is no longer checked automatically. */
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

/** Derives the share from the random end of the id, so that the domains of one hour are spread. */
function spread(intervalMs: number, id: Id): number {
  const share = (id[14]! * 256 + id[15]!) / 65_536
  return Math.round(intervalMs * (1 - SPREAD * share))
}

/** Columns of a domain that decide whether mail from it is accepted. */
export const SENDING_COLUMNS = ['status', 'sending'] as const

/** Tells whether mail from the domain is accepted: it is verified, and its owner has not disabled sending. */
export function acceptsMail({ status, sending }: Pick<DomainRow, (typeof SENDING_COLUMNS)[number]>): boolean {
  return maySend(status) && sending === 1
}

/**
 * Returns why mail from a domain is not accepted, and what to do, as a message about the parameter `from`.
 * @param domain undefined if the account has no domain of this name
 */
export function whyNotSent(name: string, domain: Pick<DomainRow, 'status'> | undefined): string {
  if (!domain)
    return `The ${name} domain in \`from\` is not registered. Add and verify the domain, then retry.`
  return (
    sendingDisabled(name, domain) ??
    `The ${name} domain in \`from\` is not verified. Add its DNS records, then verify the domain.`
  )
}

/** Returns why a domain that is registered does not accept mail, if its owner has disabled sending. */
export function sendingDisabled(name: string, { status }: Pick<DomainRow, 'status'>): string | undefined {
  return maySend(status)
    ? `Sending from the ${name} domain is disabled. Enable \`capabilities.sending\` of the domain.`
    : undefined
}

/** Tells whether the domain is verified, so that mail from it may be sent. */
export function maySend(status: DomainStatus): boolean {
  return status === 'verified' || status === 'temporary_failure'
}
