/** What changes domains in the store, with the events that tell of it. */

import type { Id } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/command.ts'
import type { Db, DkimKeyRow, DomainRow } from '../../store/schema.ts'
import { announceDeletedKeys } from '../accounts/api-key-rows.ts'
import { termsUnder } from '../emails/link-terms.ts'
import { recordEvents } from '../events/record.ts'
import type { EventData } from '../events/types.ts'
import { DOMAIN_DELETED } from './deleted.ts'
import { dnsRecordsOf } from './dns-records.ts'
import { DKIM_KEYS_CHANGED, type DomainWithKeys, findDomain, HOSTING_CHANGED } from './domain-rows.ts'
import { recordStatus } from './record-status.ts'
import { afterCheck, type CheckOutcome, EARLY_CHECKS_MS, nextCheckAt } from './status.ts'
import type { DomainChecks } from './verify.ts'

export type CreateDomainResult = 'created' | DomainRefusal
/** Why a domain is not registered. */
export type DomainRefusal = 'exists' | 'verified-elsewhere' | 'too-many'

/** What decides on a new domain. */
export interface WantedDomain extends Pick<DomainRow, 'accountId' | 'name'> {
  /** Domains of the account that may wait for their verification; any number when absent. */
  pendingMax?: number | undefined
}

/** Settings that their owner changes; those absent stay as they are. */
export type DomainChanges = Partial<
  Pick<DomainRow, 'tls' | 'openTracking' | 'clickTracking' | 'trackingSubdomain' | 'receiving'>
>

export interface DomainCheckRecord {
  accountId: Id
  id: Id
  at: number
  outcome: CheckOutcome
  /** Slots whose key is publicly visible. */
  visibleSlots: number[]
  /** JSON, as the API shows it. */
  checks: string
  /**
   * Of the host of its links: where they are from now on, null while nobody gets here by it. Absent where it
   * has none.
   */
  links?: { subdomain: string; servedUnder: string | null } | undefined
}

export interface CheckedDomainRow {
  domain: DomainWithKeys
  former: DomainRow['status']
  /** All is as asked, but another account has verified the name. */
  verifiedElsewhere: boolean
}

/** Topic of announcements: when a domain is to be checked, epoch ms. */
export const DOMAIN_CHECK = 'domain_check'

/** Topic of announcements: a domain whose links lead to another host from now on, or may do so soon. */
export const LINK_HOST_CHANGED = 'link_host'

export const domainCommands = {
  createDomain: command<
    { domain: DomainRow; keys: DkimKeyRow[] } & Pick<WantedDomain, 'pendingMax'>,
    CreateDomainResult
  >(async (tx, { domain, keys, pendingMax }) => {
    const refusal = await domainRefusalOf(tx.db, { ...domain, pendingMax })
    if (refusal !== undefined) return refusal
    await tx.db.insertInto('domains').values(domain).execute()
    await tx.db.insertInto('dkimKeys').values(keys).execute()
    tx.announce(DKIM_KEYS_CHANGED, domain.id)
    if (domain.checkAt !== null) tx.announce(DOMAIN_CHECK, domain.checkAt)
    await recordDomainEvent(tx, { ...domain, keys }, 'domain.created', domain.createdAt)
    return 'created'
  }),

  /** Undefined when the account has no such domain (any more). */
  recordDomainCheck: command<DomainCheckRecord, CheckedDomainRow | undefined>(async (tx, check) => {
    const domain = await findDomain(tx.db, check.accountId, check.id)
    if (!domain) return undefined
    const verifiedElsewhere =
      check.outcome === 'good' && (await isVerifiedElsewhere(tx.db, domain.accountId, domain.name))
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
    if (status === 'verified' && domain.status !== 'verified')
      await recordDomainEvent(tx, checked, 'domain.verified', check.at)
    return { domain: checked, former: domain.status, verifiedElsewhere }
  }),

  /**
   * Domains to be checked now, the longest due first; they are due again at `until`, unless a result comes
   * before.
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

  /** Whenever it would have been next. */
  checkDomainAt: command<{ id: Id; at: number }, void>(async (tx, { id, at }) => {
    await tx.db.updateTable('domains').set({ checkAt: at }).where('id', '=', id).execute()
    tx.announce(DOMAIN_CHECK, at)
  }),

  /** A new host for its links is looked at soon. Undefined when the account has no such domain. */
  changeDomain: command<
    { accountId: Id; id: Id; changes: DomainChanges; at: number },
    DomainWithKeys | undefined
  >(async (tx, { accountId, id, changes, at }) => {
    const former = await findDomain(tx.db, accountId, id)
    if (!former || Object.keys(changes).length === 0) return former
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
    return findDomain(tx.db, accountId, id)
  }),

  /**
   * With its keys, and the API keys that are bound to it; its mail is seen to afterwards, by
   * `pipeline/queue/deleted-domains.ts`. False when the account has no such domain.
   */
  deleteDomain: command<{ accountId: Id; id: Id; at: number }, boolean>(async (tx, { accountId, id, at }) => {
    const domain = await findDomain(tx.db, accountId, id)
    if (!domain) return false
    await tx.db.deleteFrom('apiKeys').where('accountId', '=', accountId).where('domainId', '=', id).execute()
    announceDeletedKeys(tx)
    await tx.db.deleteFrom('domains').where('id', '=', id).execute()
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

/** The first of the terms under the host of its links, once it is served; null for the host of all. */
async function trackingTermsOf(
  tx: Tx,
  { trackingSubdomain, trackingTerms }: DomainRow,
  { links }: DomainCheckRecord,
): Promise<number | null> {
  if (links?.subdomain !== trackingSubdomain) return trackingTerms
  return links.servedUnder === null ? null : (await termsUnder(tx, links.servedUnder))[0]
}

/** A key signs only once its record is publicly visible: the first RSA key, and the Ed25519 one beside it. */
async function activateKeys(
  tx: Tx,
  { keys, createdAt }: DomainWithKeys,
  { visibleSlots, at }: DomainCheckRecord,
) {
  const rsaActive = keys.some(
    key => key.algorithm === 'rsa-sha256' && key.activeFrom !== null && key.retiredAt === null,
  )
  for (const key of keys) {
    const isFirst = key.createdAt === createdAt // one that has taken another's place waits its turn
    const wanted = isFirst && (key.algorithm === 'ed25519-sha256' || (key.slot === 1 && !rsaActive))
    if (!wanted || key.activeFrom !== null || !visibleSlots.includes(key.slot)) continue
    await tx.db.updateTable('dkimKeys').set({ activeFrom: at }).where('id', '=', key.id).execute()
    tx.announce(DKIM_KEYS_CHANGED, key.domainId)
  }
}

/** Why a domain cannot be registered, by what is stored; undefined when it can. */
export async function domainRefusalOf(
  db: Db,
  { accountId, name, pendingMax }: WantedDomain,
): Promise<DomainRefusal | undefined> {
  if (await isRegistered(db, accountId, name)) return 'exists'
  if (await isVerifiedElsewhere(db, accountId, name)) return 'verified-elsewhere'
  if (pendingMax !== undefined && (await countPending(db, accountId, pendingMax)) >= pendingMax)
    return 'too-many'
  return undefined
}

/** @returns how many there are, up to `most` */
async function countPending(db: Db, accountId: Id, most: number): Promise<number> {
  const rows = await db
    .selectFrom('domains')
    .select('id')
    .where('accountId', '=', accountId)
    .where('status', 'in', ['pending', 'failed'])
    .limit(most)
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

async function isVerifiedElsewhere(db: Db, accountId: Id, name: string): Promise<boolean> {
  const row = await db
    .selectFrom('domains')
    .select('id')
    .where('name', '=', name)
    .where('accountId', '!=', accountId)
    .where('status', 'in', ['verified', 'temporary_failure'])
    .executeTakeFirst()
  return row !== undefined
}

async function recordDomainEvent(
  tx: Tx,
  domain: EventDomain,
  type: 'domain.created' | 'domain.verified' | 'domain.deleted',
  at: number,
) {
  const { accountId, id: subjectId } = domain
  const data = eventData(domain)
  await recordEvents(tx, [{ accountId, subjectId, type, recipient: null, data, at, origin: null }])
}

type EventDomain = DomainRow & { keys: readonly Pick<DkimKeyRow, 'slot' | 'token'>[] }

/**
 * All that the domain's object is made of, since webhooks tell of it when it may have changed, or be gone.
 */
function eventData(domain: EventDomain): EventData {
  const { name, region, status, tls, verificationToken, keys } = domain
  const checks = domain.checks === null ? null : (JSON.parse(domain.checks) as DomainChecks)
  // the same records whatever the provider host is
  const records = dnsRecordsOf(domain, '')
  return {
    ...{ name, region, status, tls },
    open_tracking: domain.openTracking === 1,
    click_tracking: domain.clickTracking === 1,
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
