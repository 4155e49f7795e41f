/**
 * Domains that the operator has banned: no email from them or their subdomains is accepted, and no account
 * can add them. A ban is stored as a hold by the domain of the sender (`pipeline/queue/domain-bans.ts`), so
 * that queued mail is kept until the ban is lifted.
 */
import { CompiledQuery } from 'kysely'
import { isWithinDomain } from '../../protocols/dns/name.ts'
import type { Db } from '../../store/model/schema.ts'

export interface DomainBan {
  domain: string
  /** Reason that the operator gave. */
  reason: string | null
  createdAt: number
}

/** Compiled once, because each commit of new email runs it. */
const BANS = CompiledQuery.raw(
  'select sender_domain as domain, reason, created_at from queue_holds ' +
    'where sender_domain is not null and is_pause = 1 and released_at is null order by sender_domain',
) as CompiledQuery<DomainBan>

/** Lists the bans by the name of the domain. */
export async function listDomainBans(db: Db): Promise<DomainBan[]> {
  return (await db.executeQuery(BANS)).rows
}

export function isBanned(bans: readonly DomainBan[], name: string): boolean {
  return bans.some(({ domain }) => isWithinDomain(name, domain))
}
