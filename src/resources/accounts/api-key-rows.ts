/** Rows of API keys. */
import type { Id } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/model/command.ts'
import { changeOwn, deleteOwn, type OwnKey } from '../../store/model/own-row.ts'
import type { ApiKeyRow, Db } from '../../store/model/schema.ts'
import type { Find } from '../../store/reading/read.ts'

/** Facts about a key that each request needs. */
export interface KeyHolder extends Pick<ApiKeyRow, 'id' | 'accountId'> {
  /** Domain that the key is restricted to; null without a restriction. */
  domain: string | null
}

/**
 * Returns undefined for a key whose domain was deleted, too. Such a key must not gain access to the whole
 * account.
 */
export async function findKeyHolder(find: Find, tokenHash: Uint8Array): Promise<KeyHolder | undefined> {
  const [key] = await find('apiKeys', [{ tokenHash }], ['id', 'accountId', 'domainId'])
  if (!key) return undefined
  const { id, accountId, domainId } = key
  if (domainId === null) return { id, accountId, domain: null }
  const [domain] = await find('domains', [{ id: domainId, accountId }], ['name'])
  return domain && { id, accountId, domain: domain.name }
}

/** Lists the API keys of an account, newest first. */
export async function listApiKeys(db: Db, accountId: Id): Promise<ApiKeyRow[]> {
  return db
    .selectFrom('apiKeys')
    .selectAll()
    .where('accountId', '=', accountId)
    .orderBy('id', 'desc')
    .execute()
}

/** Topic of announcements that keys or access tokens were deleted, which invalidates cached ones. */
export const KEYS_DELETED = 'keys deleted'

export function announceDeletedKeys(tx: Tx): void {
  tx.announce(KEYS_DELETED, null)
}

/** Returns the account of a key; undefined if there is no such key. */
export async function findApiKeyAccount(db: Db, id: Id): Promise<Id | undefined> {
  const key = await db.selectFrom('apiKeys').select('accountId').where('id', '=', id).executeTakeFirst()
  return key?.accountId
}

/** Lists the API keys of all accounts, oldest first. */
export async function listEveryApiKey(
  db: Db,
): Promise<(ApiKeyRow & { account: string; domain: string | null })[]> {
  return db
    .selectFrom('apiKeys')
    .innerJoin('accounts', 'accounts.id', 'apiKeys.accountId')
    .leftJoin('domains', 'domains.id', 'apiKeys.domainId')
    .selectAll('apiKeys')
    .select(['accounts.name as account', 'domains.name as domain'])
    .orderBy('apiKeys.id')
    .execute()
}

export const apiKeyCommands = {
  /** Returns false if the account does not have the domain that the key is restricted to. */
  createApiKey: command<ApiKeyRow, boolean>(async (tx, key) => {
    const { domainId, accountId } = key
    const [domain] = domainId ? await tx.rows.find('domains', [{ id: domainId, accountId }], ['id']) : []
    if (domainId && !domain) return false
    await tx.db.insertInto('apiKeys').values(key).execute()
    return true
  }),

  /** Returns the key; undefined if the account has no such key. */
  renameApiKey: command<OwnKey & { name: string }, ApiKeyRow | undefined>((tx, { name, ...key }) =>
    changeOwn(tx.db, 'apiKeys', key, { name }),
  ),

  /** Returns false if the account has no such key. */
  deleteApiKey: command<OwnKey, boolean>(async (tx, key) => {
    const deleted = await deleteOwn(tx.db, 'apiKeys', key)
    announceDeletedKeys(tx)
    return deleted !== undefined
  }),

  touchApiKeys: command<{ ids: Id[]; at: number }, void>(async (tx, { ids, at }) => {
    await tx.db.updateTable('apiKeys').set({ lastUsedAt: at }).where('id', 'in', ids).execute()
  }),
}
