/** Reads domains and their DKIM keys from the store. */
import type { Id } from '../../lib/ids.ts'
import { findOwn } from '../../store/model/own-row.ts'
import type { Db, DkimKeyRow, DomainRow } from '../../store/model/schema.ts'
import { type FoundPage, findPage, type ListPage } from '../../store/reading/list-page.ts'
import type { Find } from '../../store/reading/read.ts'
import { BRAND_COLUMNS, type Brand, brandOf, NO_BRAND } from './brands.ts'

/** Fields of a key except its private half. */
export type DkimKeyFacts = Omit<DkimKeyRow, 'privateKey'>

export interface DomainWithKeys extends DomainRow {
  /** Keys by slot. */
  keys: DkimKeyFacts[]
  brand: Brand
}

/** Topic of announcements with the id of a domain whose keys, or active keys, have changed. */
export const DKIM_KEYS_CHANGED = 'dkim-keys'

/** Topic of announcements with the name of a domain that starts or stops receiving mail. */
export const HOSTING_CHANGED = 'hosting'

const KEY_FACTS = [
  'id',
  'domainId',
  'slot',
  'token',
  'algorithm',
  'publicKey',
  'createdAt',
  'activeFrom',
  'retiredAt',
  'revokedAt',
] as const

export async function findDomain(db: Db, accountId: Id, id: Id): Promise<DomainWithKeys | undefined> {
  const row = await findOwn(db, 'domains', { accountId, id })
  return row && (await withParts(db, [row]))[0]
}

/** Lists domains, newest first. */
export async function listDomains(db: Db, accountId: Id, page: ListPage): Promise<FoundPage<DomainWithKeys>> {
  const own = db.selectFrom('domains').where('accountId', '=', accountId)
  const { rows, ...found } = await findPage(own, own.selectAll(), page)
  return { ...found, rows: await withParts(db, rows) }
}

export type PublishedKey = Pick<DkimKeyRow, 'algorithm' | 'publicKey' | 'revokedAt'>

/** Finds the public key that is published under a token of the provider zone. */
export async function findPublishedKey(find: Find, token: string): Promise<PublishedKey | undefined> {
  return (await find('dkimKeys', [{ token }], ['algorithm', 'publicKey', 'revokedAt']))[0]
}

/**
 * Finds the public key of a former or current selector, for showing that a signature is valid. Returns
 * undefined if the domain was deleted.
 */
export async function findKeyFacts(
  db: Db,
  id: Id,
): Promise<Pick<DkimKeyFacts, 'token' | 'algorithm' | 'publicKey'> | undefined> {
  const [present, former] = await Promise.all(
    (['dkimKeys', 'formerDkimKeys'] as const).map(table =>
      db
        .selectFrom(table)
        .select(['token', 'algorithm', 'publicKey'])
        .where('id', '=', id)
        .executeTakeFirst(),
    ),
  )
  return present ?? former
}

export interface DomainInTurns {
  id: Id
  name: string
  keys: DkimKeyFacts[]
  /** Time at which a rotation was requested, in ms since the epoch; null if none was. */
  wantedAt: number | null
}

/**
 * Lists verified domains by id with their keys.
 * @param after last id of the previous page
 */
export async function listDomainsInTurns(db: Db, after: Id, limit: number): Promise<DomainInTurns[]> {
  const rows = await db
    .selectFrom('domains')
    .leftJoin('keyRotations', 'keyRotations.domainId', 'domains.id')
    .select(['domains.id', 'domains.name', 'keyRotations.wantedAt'])
    .where('domains.id', '>', after)
    .where('domains.verifiedAt', 'is not', null)
    .orderBy('domains.id')
    .limit(limit)
    .execute()
  return withKeys(db, rows)
}

/** Finds the current and former keys of a domain, for signing a message again exactly as it was sent. */
export async function findKeysToProve(
  db: Db,
  domainId: Id,
): Promise<Pick<DkimKeyRow, 'id' | 'token' | 'algorithm' | 'privateKey'>[]> {
  const keys = await Promise.all(
    (['dkimKeys', 'formerDkimKeys'] as const).map(table =>
      db
        .selectFrom(table)
        .select(['id', 'token', 'algorithm', 'privateKey'])
        .where('domainId', '=', domainId)
        .execute(),
    ),
  )
  return keys.flat().flatMap(({ privateKey, ...key }) => (privateKey?.length ? [{ ...key, privateKey }] : []))
}

/** Returns the time at which a rotation was requested; null if none was. */
export async function findWantedRotation(db: Db, domainId: Id): Promise<number | null> {
  const row = await db
    .selectFrom('keyRotations')
    .select('wantedAt')
    .where('domainId', '=', domainId)
    .executeTakeFirst()
  return row?.wantedAt ?? null
}

/** Lists the published keys of all domains, those of older domains first. */
export async function listPublishedKeys(
  db: Db,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; rows: (PublishedKey & { token: string })[] }> {
  const keys = db.selectFrom('dkimKeys')
  const { total } = await keys.select(eb => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const rows = await keys
    .select(['token', 'algorithm', 'publicKey', 'revokedAt'])
    .orderBy('domainId')
    .orderBy('slot')
    .limit(limit)
    .offset(offset)
    .execute()
  return { total: Number(total), rows }
}

/** Finds the active keys of a domain. */
export async function findSigningKeys(db: Db, domainId: Id): Promise<DkimKeyRow[]> {
  return db
    .selectFrom('dkimKeys')
    .selectAll()
    .where('domainId', '=', domainId)
    .where('activeFrom', 'is not', null)
    .where('retiredAt', 'is', null)
    .orderBy('slot')
    .execute()
}

/** States in which a domain counts as verified. */
export const VERIFIED_STATUSES = ['verified', 'temporary_failure'] as const satisfies DomainRow['status'][]

/** Finds the domain that is verified under this name, of which there is at most one. */
export async function findVerifiedDomain(
  db: Db,
  name: string,
): Promise<Pick<DomainRow, 'accountId'> | undefined> {
  return db
    .selectFrom('domains')
    .select('accountId')
    .where('name', '=', name)
    .where('status', 'in', VERIFIED_STATUSES)
    .executeTakeFirst()
}

/** Returns verified domains first, because an unverified domain with the name may belong to somebody else. */
export async function domainsNamed(
  db: Db,
  name: string,
  accountId: Id | null,
): Promise<{ id: Id; accountId: Id }[]> {
  const rows = await db
    .selectFrom('domains')
    .select(['id', 'accountId', 'status'])
    .where('name', '=', name)
    .$if(accountId !== null, query => query.where('accountId', '=', accountId!))
    .orderBy('id')
    .execute()
  const isInUse = ({ status }: (typeof rows)[number]) => VERIFIED_STATUSES.some(one => one === status)
  return [...rows.filter(isInUse), ...rows.filter(row => !isInUse(row))]
}

/** Domain that receives mail here. */
export type HostedDomain = Pick<DomainRow, 'accountId' | 'id'>

/** Finds the domain with this name that receives mail; undefined if there is none. */
export async function findHostedDomain(db: Db, name: string): Promise<HostedDomain | undefined> {
  return db
    .selectFrom('domains')
    .select(['accountId', 'id'])
    .where('name', '=', name)
    .where('status', 'in', VERIFIED_STATUSES)
    .where('receiving', '=', 1)
    .executeTakeFirst()
}

/** Finds the TLS requirement of a domain; undefined if the domain was deleted. */
export async function findDomainTls(db: Db, domainId: Id): Promise<DomainRow['tls'] | undefined> {
  const row = await db.selectFrom('domains').select('tls').where('id', '=', domainId).executeTakeFirst()
  return row?.tls
}

async function withParts(db: Db, rows: DomainRow[]): Promise<DomainWithKeys[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const brands = await db
    .selectFrom('domainBrands')
    .select(BRAND_COLUMNS)
    .where('domainId', 'in', ids)
    .execute()
  return (await withKeys(db, rows)).map(row => {
    const brand = brands.find(({ domainId }) => Buffer.compare(domainId, row.id) === 0)
    return { ...row, brand: brand ? brandOf(brand) : NO_BRAND }
  })
}

async function withKeys<D extends { id: Id }>(db: Db, rows: D[]): Promise<(D & { keys: DkimKeyFacts[] })[]> {
  if (rows.length === 0) return []
  const keys = await db
    .selectFrom('dkimKeys')
    .select(KEY_FACTS)
    .where(
      'domainId',
      'in',
      rows.map(({ id }) => id),
    )
    .orderBy('slot')
    .execute()
  return rows.map(row => ({ ...row, keys: keys.filter(key => Buffer.compare(key.domainId, row.id) === 0) }))
}
