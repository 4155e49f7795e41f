/**
 * Commands that create, change, check and delete domains, with their events.
 *
 * In: changes of users and results of checks. Out: rows and events in one transaction. Called through the
 * writer by `domains.ts` and `checker.ts`.
 */

import type { Id } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { Db, DkimKeyRow, DomainRow } from '../../store/model/schema.ts'
import { increaseZoneSerial } from '../../store/reading/settings.ts'
import { announceDeletedKeys } from '../accounts/api-key-rows.ts'
import { termsUnder } from '../emails/link-terms.ts'
import { recordEvents } from '../events/record.ts'
import type { EventData } from '../events/types.ts'
import { isBanned, listDomainBans } from './banned.ts'
import { type BrandChanges, changeBrand } from './brands.ts'
import { DOMAIN_DELETED } from './deleted.ts'
import { dnsRecordsOf } from './dns-records.ts'
import {
  DKIM_KEYS_CHANGED,
  type DomainWithKeys,
  findDomain,
  HOSTING_CHANGED,
  VERIFIED_STATUSES,
} from './domain-rows.ts'
import { recordStatus } from './record-status.ts'
import { afterCheck, type CheckOutcome, EARLY_CHECKS_MS, nextCheckAt } from './status.ts'
import type { DomainChecks } from './verify.ts'

type CreateDomainResult = 'created' | DomainRefusal
/** Reason why a domain cannot be registered. */
export type DomainRefusal = 'banned' | 'exists' | 'verified-elsewhere' | 'too-many'

/** Data that decides whether a domain can be registered. */
interface WantedDomain extends Pick<DomainRow, 'accountId' | 'name'> {
  /** Whether the name is registered in order to claim it from the account that has verified it. */
  isClaim?: boolean | undefined
  /** Maximum number of unverified domains of the account; no limit if absent. */
  pendingMax?: number | undefined
}

/** Settings that users can change. Absent settings are not changed. */
export type DomainChanges = Partial<
  Pick<DomainRow, 'tls' | 'openTracking' | 'clickTracking' | 'trackingSubdomain' | 'sending' | 'receiving'>
>

interface DomainCheckRecord {
  accountId: Id
  id: Id
  at: number
  outcome: CheckOutcome
  /** Slots whose key is publicly visible. */
  visibleSlots: number[]
  /** JSON in the format of the API. */
  checks: string
  /**
   * Result for the tracking host: `servedUnder` is the host that links use from now on, null if requests do
   * not reach this service. Absent for a domain without a tracking host.
   */
  links?: { subdomain: string; servedUnder: string | null } | undefined
}

export interface CheckedDomainRow {
  domain: DomainWithKeys
  former: DomainRow['status']
  /** Whether all records are correct but another account has verified the name. */
  verifiedElsewhere: boolean
}

/** Topic of announcements with the time of the next domain check, in ms since the epoch. */
export const DOMAIN_CHECK = 'domain_check'

/** Topic of announcements about a domain whose links use another host, or may soon. */
export const LINK_HOST_CHANGED = 'link_host'

export const domainCommands = {
  createDomain: command<
    { domain: DomainRow; keys: DkimKeyRow[] } & Pick<WantedDomain, 'pendingMax' | 'isClaim'>,
    CreateDomainResult
  >(async (tx, { domain, keys, pendingMax, isClaim }) => {
    const refusal = await domainRefusalOf(tx.db, { ...domain, pendingMax, isClaim })
    if (refusal !== undefined) return refusal
    await tx.db.insertInto('domains').values(domain).execute()
    await tx.db.insertInto('dkimKeys').values(keys).execute()
    await increaseZoneSerial(tx)
    tx.announce(DKIM_KEYS_CHANGED, domain.id)
    if (domain.checkAt !== null) tx.announce(DOMAIN_CHECK, domain.checkAt)
    await recordDomainEvent(tx, { ...domain, keys }, 'domain.created', domain.createdAt)
    return 'created'
  }),

  /** Returns undefined if the domain does not exist. */
  recordDomainCheck: command<DomainCheckRecord, CheckedDomainRow | undefined>(async (tx, check) => {
    const domain = await findDomain(tx.db, check.accountId, check.id)
    if (!domain) return undefined
    const verifiedElsewhere =
      check.outcome === 'good' && (await findHolder(tx.db, domain.accountId, domain.name)) !== undefined
    const outcome = verifiedElsewhere ? 'gone' : check.outcome
    const { status, verifiedAt, failingSince } = afterCheck(domain, outcome, check.at)
    const trackingTerms = await trackingTermsOf(tx, domain, check)
    const checkAt = nextCheckAt({ ...domain, status, failingSince, trackingTerms }, outcome, check.at)
    await tx.db
      .updateTable('domains')
      .set({ status, verifiedAt, failingSince, trackingTerms, checks: check.checks, checkAt })
      .set({ lastCheckedAt: check.at })
      .where('id', '=', domain.id)
      .execute()
    if (domain.trackingSubdomain !== null) tx.announce(LINK_HOST_CHANGED, domain.name)
    if (checkAt !== null) tx.announce(DOMAIN_CHECK, checkAt)
    if (status !== domain.status) tx.announce(HOSTING_CHANGED, domain.name)
    if (outcome === 'good') await activateKeys(tx, domain, check)
    const checked = (await findDomain(tx.db, check.accountId, check.id))!
    if (status !== domain.status) await recordDomainEvent(tx, checked, 'domain.updated', check.at)
    if (status === 'verified' && domain.status !== 'verified')
      await recordDomainEvent(tx, checked, 'domain.verified', check.at)
    return { domain: checked, former: domain.status, verifiedElsewhere }
  }),

  /**
   * Returns the domains to check now, the longest overdue first. They are due again at `until`, unless a
   * result is stored before.
   */
  takeDueDomains: command<
    { now: number; until: number; limit: number },
    { due: Pick<DomainRow, 'accountId' | 'id'>[]; nextAt: number | null }
  >(async (tx, { now, until, limit }) => {
    const due = await tx.db
      .selectFrom('domains')
      .select(['accountId', 'id'])
      .where('checkAt', '<=', now)
      .orderBy('checkAt')
      .limit(limit)
      .execute()
    await tx.rows.update(
      'domains',
      ['id'],
      due.map(({ id }) => ({ id, checkAt: until })),
    )
    const { nextAt } = await tx.db
      .selectFrom('domains')
      .select(eb => eb.fn.min('checkAt').as('nextAt'))
      .where('checkAt', 'is not', null)
      .executeTakeFirstOrThrow()
    return { due, nextAt }
  }),

  /** Sets the time of the next check. */
  checkDomainAt: command<{ id: Id; at: number }, void>(async (tx, { id, at }) => {
    await tx.db.updateTable('domains').set({ checkAt: at }).where('id', '=', id).execute()
    tx.announce(DOMAIN_CHECK, at)
  }),

  /**
   * Changes settings. A new tracking host is checked soon. Returns undefined if the account has no such
   * domain.
   */
  changeDomain: command<
    { accountId: Id; id: Id; changes: DomainChanges; brand: BrandChanges; at: number },
    DomainWithKeys | undefined
  >(async (tx, { accountId, id, changes, brand, at }) => {
    const former = await findDomain(tx.db, accountId, id)
    if (!former) return undefined
    await changeBrand(tx, id, brand)
    if (Object.keys(changes).length === 0) return findDomain(tx.db, accountId, id)
    const { trackingSubdomain = former.trackingSubdomain, receiving } = changes
    const linksMove = trackingSubdomain !== former.trackingSubdomain
    const checkAt = Math.min(at + EARLY_CHECKS_MS[0]!, former.checkAt ?? Number.POSITIVE_INFINITY)
    await tx.db
      .updateTable('domains')
      .set({ ...changes, ...(linksMove && { trackingTerms: null, checkAt }) })
      .where('id', '=', id)
      .execute()
    if (linksMove) tx.announce(DOMAIN_CHECK, checkAt)
    if (linksMove) tx.announce(LINK_HOST_CHANGED, former.name)
    if (receiving !== undefined) tx.announce(HOSTING_CHANGED, former.name)
    const domain = (await findDomain(tx.db, accountId, id))!
    const settings = Object.keys(changes) as (keyof DomainChanges)[]
    if (settings.some(name => domain[name] !== former[name]))
      await recordDomainEvent(tx, domain, 'domain.updated', at)
    return domain
  }),

  /**
   * Deletes a domain with its keys and the API keys that are bound to it. `pipeline/queue/deleted-domains.ts`
   * fails its queued emails afterwards. Returns false if the account has no such domain.
   */
  deleteDomain: command<{ accountId: Id; id: Id; at: number }, boolean>(async (tx, { accountId, id, at }) => {
    const domain = await findDomain(tx.db, accountId, id)
    if (!domain) return false
    await tx.db.deleteFrom('apiKeys').where('accountId', '=', accountId).where('domainId', '=', id).execute()
    announceDeletedKeys(tx)
    await tx.db.deleteFrom('domainBrands').where('domainId', '=', id).execute()
    await tx.db.deleteFrom('domains').where('id', '=', id).execute()
    await increaseZoneSerial(tx)
    const { name } = domain
    await tx.db.insertInto('deletedDomains').values({ id, accountId, name, deletedAt: at }).execute()
    tx.announce(DOMAIN_DELETED, id)
    tx.announce(HOSTING_CHANGED, name)
    tx.announce(DKIM_KEYS_CHANGED, id)
    if (domain.trackingSubdomain !== null) tx.announce(LINK_HOST_CHANGED, name)
    await recordDomainEvent(tx, domain, 'domain.deleted', at)
    return true
  }),
}

/** Returns the link terms of the tracking host once it is served; null for the shared host. */
async function trackingTermsOf(
  tx: Tx,
  { trackingSubdomain, trackingTerms }: DomainRow,
  { links }: DomainCheckRecord,
): Promise<number | null> {
  if (links?.subdomain !== trackingSubdomain) return trackingTerms
  return links.servedUnder === null ? null : (await termsUnder(tx, links.servedUnder))[0]
}

/**
 * A key signs only after its record is publicly visible. This affects the first RSA key and the Ed25519 key.
 */
async function activateKeys(
  tx: Tx,
  { keys, createdAt }: DomainWithKeys,
  { visibleSlots, at }: DomainCheckRecord,
) {
  const rsaActive = keys.some(
    key => key.algorithm === 'rsa-sha256' && key.activeFrom !== null && key.retiredAt === null,
  )
  for (const key of keys) {
    const isFirst = key.createdAt === createdAt // a replacement key waits for the rotation
    const wanted = isFirst && (key.algorithm === 'ed25519-sha256' || (key.slot === 1 && !rsaActive))
    if (!wanted || key.activeFrom !== null || !visibleSlots.includes(key.slot)) continue
    await tx.db.updateTable('dkimKeys').set({ activeFrom: at }).where('id', '=', key.id).execute()
    tx.announce(DKIM_KEYS_CHANGED, key.domainId)
  }
}

/** Returns the reason, by stored data, why a domain cannot be registered; undefined if it can. */
export async function domainRefusalOf(
  db: Db,
  { accountId, name, pendingMax, isClaim = false }: WantedDomain,
): Promise<DomainRefusal | undefined> {
  if (isBanned(await listDomainBans(db), name)) return 'banned'
  if (await isRegistered(db, accountId, name)) return 'exists'
  if (!isClaim && (await findHolder(db, accountId, name))) return 'verified-elsewhere'
  if (pendingMax !== undefined && (await countPending(db, accountId, pendingMax)) >= pendingMax)
    return 'too-many'
  return undefined
}

/** @returns the number of unverified domains, up to `most` */
async function countPending(db: Db, accountId: Id, max: number): Promise<number> {
  const rows = await db
    .selectFrom('domains')
    .select('id')
    .where('accountId', '=', accountId)
    .where('status', 'in', ['pending', 'failed'])
    .limit(max)
    .execute()
  return rows.length
}

async function isRegistered(db: Db, accountId: Id, name: string): Promise<boolean> {
  const row = await db
    .selectFrom('domains')
    .select('id')
    .where('accountId', '=', accountId)
    .where('name', '=', name)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Finds the domain of another account that has the name: it is verified, or it was claimed and is not
 * verified yet.
 */
export async function findHolder(db: Db, accountId: Id, name: string): Promise<DomainRow | undefined> {
  const ofOthers = db
    .selectFrom('domains')
    .selectAll()
    .where('name', '=', name)
    .where('accountId', '!=', accountId)
  const verified = await ofOthers.where('status', 'in', VERIFIED_STATUSES).executeTakeFirst()
  if (verified) return verified
  return ofOthers.where('claimedAt', 'is not', null).where('status', '=', 'pending').executeTakeFirst()
}

export async function recordDomainEvent(
  tx: Tx,
  domain: EventDomain,
  type: 'domain.created' | 'domain.updated' | 'domain.verified' | 'domain.deleted',
  at: number,
) {
  const { accountId, id: subjectId } = domain
  const data = eventData(domain)
  await recordEvents(tx, [{ accountId, subjectId, type, recipient: null, data, at, origin: null }])
}

type EventDomain = DomainRow & { keys: readonly Pick<DkimKeyRow, 'slot' | 'token'>[] }

/** Fields of the domain in events. A deleted domain needs all of them, because they cannot be read later. */
function eventData(domain: EventDomain): EventData {
  const { name, region, status, tls, verificationToken, keys } = domain
  const checks = domain.checks === null ? null : (JSON.parse(domain.checks) as DomainChecks)
  // the records do not depend on the provider host here
  const records = dnsRecordsOf(domain, '')
  return {
    ...{ name, region, status, tls },
    open_tracking: domain.openTracking === 1,
    click_tracking: domain.clickTracking === 1,
    sending: domain.sending === 1,
    receiving: domain.receiving === 1,
    created_at: isoOf(domain.createdAt),
    verified_at: isoOf(domain.verifiedAt),
    verification_token: verificationToken,
    selectors: keys.map(({ slot, token }) => ({ slot, token })),
    record_statuses: records.map(record => recordStatus(record, checks)),
  }
}

function isoOf(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}
