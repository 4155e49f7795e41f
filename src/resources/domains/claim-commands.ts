/** Commands that store a claim to another account's domain, and move the name when it is proven. */
import type { Id } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { Db, DomainClaimRow, DomainRow } from '../../store/model/schema.ts'
import { DOMAIN_CHECK, findHolder, LINK_HOST_CHANGED, recordDomainEvent } from './commands.ts'
import { findDomain, HOSTING_CHANGED } from './domain-rows.ts'
import { EARLY_CHECKS_MS, maySend } from './status.ts'

/**
 * Why a name cannot be claimed: no other account has it, the account has verified it itself, or the account
 * has registered it in another region.
 */
export type ClaimRefusal = 'not-held' | 'verified' | 'other-region'

/** Time for which scheduled emails of the other account hold up a proven claim. */
const GRACE_MS = 72 * 3_600_000
/** Shown while the record of a claim is not found. */
const NOT_FOUND = 'The TXT record was not found. It can take a while until a new record is visible.'

export const claimCommands = {
  /** Returns the account's own domain with the name, undefined if it has none, or a refusal. */
  checkClaimable: command<
    Pick<DomainRow, 'accountId' | 'name'>,
    Pick<DomainRow, 'id' | 'region'> | ClaimRefusal | undefined
  >(async (tx, { accountId, name }) => {
    const own = await tx.db
      .selectFrom('domains')
      .select(['id', 'region', 'status'])
      .where('accountId', '=', accountId)
      .where('name', '=', name)
      .executeTakeFirst()
    if (own && maySend(own.status)) return 'verified'
    return (await findHolder(tx.db, accountId, name)) ? own : 'not-held'
  }),

  /** Stores a claim unless the domain has an open one, which is returned. */
  claimDomain: command<DomainClaimRow, DomainClaimRow | ClaimRefusal>(async (tx, claim) => {
    const domain = await findDomain(tx.db, claim.accountId, claim.domainId)
    if (!domain || !(await findHolder(tx.db, claim.accountId, domain.name))) return 'not-held'
    const former = await findClaim(tx.db, claim.domainId)
    const isOpen = former?.status === 'pending' || former?.status === 'blocked'
    if (former && isOpen && claim.createdAt < former.expiresAt) return former
    await tx.db.insertInto('domainClaims').values(claim).execute()
    return claim
  }),

  /**
   * Moves the name to the claimant if the record of the claim is there and nothing holds the claim up.
   * @returns whether it moved
   */
  advanceClaim: command<{ id: Id; domainId: Id; isPublished: boolean; at: number }, boolean>(
    async (tx, { id, domainId, isPublished, at }) => {
      const claim = await findClaim(tx.db, domainId)
      if (!claim || Buffer.compare(claim.id, id) !== 0 || claim.status === 'completed') return false
      if (!isPublished) {
        await setClaim(tx, id, { failure: NOT_FOUND })
        return false
      }
      const provenAt = claim.provenAt ?? at
      const domain = (await findDomain(tx.db, claim.accountId, domainId))!
      const holder = await findHolder(tx.db, claim.accountId, domain.name)
      const graceEndsAt = provenAt + GRACE_MS
      if (holder && at < graceEndsAt && (await hasScheduled(tx.db, holder, graceEndsAt))) {
        // a claim that was proven late must not expire before it can be completed
        const expiresAt = Math.max(claim.expiresAt, graceEndsAt + GRACE_MS)
        await setClaim(tx, id, { status: 'blocked', failure: null, provenAt, expiresAt })
        return false
      }
      if (holder) await release(tx, holder, at)
      await take(tx, domain, at)
      await setClaim(tx, id, { status: 'completed', failure: null, provenAt })
      return true
    },
  ),
}

/** Finds the newest claim of a domain. */
export async function findClaim(db: Db, domainId: Id): Promise<DomainClaimRow | undefined> {
  return db
    .selectFrom('domainClaims')
    .selectAll()
    .where('domainId', '=', domainId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

async function setClaim(tx: Tx, id: Id, set: Partial<DomainClaimRow>): Promise<void> {
  await tx.db.updateTable('domainClaims').set(set).where('id', '=', id).execute()
}

/** Tells whether emails from the domain are scheduled until a time. */
async function hasScheduled(db: Db, { accountId, id }: DomainRow, until: number): Promise<boolean> {
  const email = await db
    .selectFrom('emails')
    .select('id')
    .where('status', '=', 'scheduled')
    .where('scheduledAt', '<=', until)
    .where('accountId', '=', accountId)
    .where('domainId', '=', id)
    .limit(1)
    .executeTakeFirst()
  return email !== undefined
}

/** Ends the verification of the other account's domain. Its keys stay, so that its queued mail is signed. */
async function release(tx: Tx, { id, accountId }: DomainRow, at: number): Promise<void> {
  await tx.db
    .updateTable('domains')
    .set({ status: 'failed', failingSince: at, claimedAt: null })
    .where('id', '=', id)
    .execute()
  await tx.db
    .updateTable('domainClaims')
    .set({ status: 'superseded' })
    .where('domainId', '=', id)
    .where('status', '=', 'completed')
    .execute()
  const former = (await findDomain(tx.db, accountId, id))!
  tx.announce(HOSTING_CHANGED, former.name)
  if (former.trackingSubdomain !== null) tx.announce(LINK_HOST_CHANGED, former.name)
  await recordDomainEvent(tx, former, 'domain.updated', at)
}

/** Reserves the name for the domain, which has 72 hours from now to be verified. */
async function take(tx: Tx, { id, accountId, status: former }: DomainRow, at: number): Promise<void> {
  const checkAt = at + EARLY_CHECKS_MS[0]!
  await tx.db
    .updateTable('domains')
    .set({ status: 'pending', failingSince: at, claimedAt: at, checkAt })
    .where('id', '=', id)
    .execute()
  tx.announce(DOMAIN_CHECK, checkAt)
  const domain = (await findDomain(tx.db, accountId, id))!
  if (domain.status !== former) await recordDomainEvent(tx, domain, 'domain.updated', at)
}
