/** How a domain's status follows from what a check found. Pure. */
import type { DomainRow, DomainStatus } from '../store/schema.ts'

/** After this long without the records a domain counts as failed. */
export const GIVE_UP_AFTER_MS = 72 * 3_600_000

type Standing = Pick<DomainRow, 'status' | 'verifiedAt' | 'failingSince' | 'createdAt'>

/**
 * `pending` and `failed` become `verified` by one good check; `verified` becomes `temporary_failure` by a bad one,
 * and `failed` when that lasts; `pending` becomes `failed` when the records have not come in time.
 */
export function afterCheck(domain: Standing, good: boolean, now: number): Standing {
  if (good) return { ...domain, status: 'verified', verifiedAt: domain.verifiedAt ?? now, failingSince: null }
  const failingSince = domain.failingSince ?? (domain.status === 'pending' ? domain.createdAt : now)
  const overdue = now - failingSince >= GIVE_UP_AFTER_MS
  const status: DomainStatus =
    overdue || domain.status === 'failed'
      ? 'failed'
      : domain.status === 'pending'
        ? 'pending'
        : 'temporary_failure'
  return { ...domain, status, failingSince }
}

/** Whether mail may be sent from the domain. */
export function maySend(status: DomainStatus): boolean {
  return status === 'verified' || status === 'temporary_failure'
}
