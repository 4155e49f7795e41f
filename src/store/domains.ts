/** Domains and their DKIM keys, as stored. */
import type { Id } from '../lib/ids.ts'
import type { Find } from './read.ts'
import type { Db, DkimKeyRow, DomainRow } from './schema.ts'

/** What may be known of a key without its secret. */
export type DkimKeyFacts = Omit<DkimKeyRow, 'privateKey'>

export interface DomainWithKeys extends DomainRow {
  /** By slot. */
  keys: DkimKeyFacts[]
}

/** Topic of announcements: the id of a domain whose keys, or which of them sign, have changed. */
export const DKIM_KEYS_CHANGED = 'dkim-keys'

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
] as const

export async function findDomain(db: Db, accountId: Id, id: Id): Promise<DomainWithKeys | undefined> {
  const row = await db
    .selectFrom('domains')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && (await withKeys(db, [row]))[0]
}

/** Newest first. */
export async function listDomains(
  db: Db,
  accountId: Id,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; rows: DomainWithKeys[] }> {
  const own = db.selectFrom('domains').where('accountId', '=', accountId)
  const { total } = await own.select(eb => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const rows = await own.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute()
  return { total: Number(total), rows: await withKeys(db, rows) }
}

/** The public half of the key published under a token of the provider zone. */
export async function findPublishedKey(
  find: Find,
  token: string,
): Promise<Pick<DkimKeyRow, 'algorithm' | 'publicKey'> | undefined> {
  return (await find('dkimKeys', [{ token }], ['algorithm', 'publicKey']))[0]
}

/** Also of a key that signs no more; undefined when its domain is gone. */
export async function findKeyFacts(db: Db, id: Id): Promise<DkimKeyFacts | undefined> {
  return db.selectFrom('dkimKeys').select(KEY_FACTS).where('id', '=', id).executeTakeFirst()
}

/** The keys that sign for a domain now. */
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

/** The one account's domain that has been verified under this name. */
export async function findVerifiedDomain(
  db: Db,
  name: string,
): Promise<Pick<DomainRow, 'accountId'> | undefined> {
  return db
    .selectFrom('domains')
    .select('accountId')
    .where('name', '=', name)
    .where('status', 'in', ['verified', 'temporary_failure'])
    .executeTakeFirst()
}

/** What its mail asks of connections; undefined when it is gone. */
export async function findDomainTls(db: Db, domainId: Id): Promise<DomainRow['tls'] | undefined> {
  const row = await db.selectFrom('domains').select('tls').where('id', '=', domainId).executeTakeFirst()
  return row?.tls
}

async function withKeys(db: Db, rows: DomainRow[]): Promise<DomainWithKeys[]> {
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
