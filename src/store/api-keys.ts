/** API keys: what an application shows to act for its account. */
import type { Id } from '../lib/ids.ts'
import { command } from './command.ts'
import type { Find } from './read.ts'
import type { ApiKeyRow, Db } from './schema.ts'

/** What a request must know of the key it shows. */
export type KeyHolder = Pick<ApiKeyRow, 'id' | 'accountId' | 'domainId'>

export async function findKeyHolder(find: Find, tokenHash: Uint8Array): Promise<KeyHolder | undefined> {
  const [key] = await find('apiKeys', [{ tokenHash }], ['id', 'accountId', 'domainId'])
  return key
}

/** Newest first. */
export async function listApiKeys(db: Db, accountId: Id): Promise<ApiKeyRow[]> {
  return db
    .selectFrom('apiKeys')
    .selectAll()
    .where('accountId', '=', accountId)
    .orderBy('id', 'desc')
    .execute()
}

export const apiKeyCommands = {
  createApiKey: command<ApiKeyRow, void>(async (tx, key) => {
    await tx.db.insertInto('apiKeys').values(key).execute()
  }),

  /** False when the account has no such key. */
  deleteApiKey: command<{ accountId: Id; id: Id }, boolean>(async (tx, { accountId, id }) => {
    const { numDeletedRows } = await tx.db
      .deleteFrom('apiKeys')
      .where('accountId', '=', accountId)
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    return numDeletedRows > 0n
  }),

  touchApiKeys: command<{ ids: Id[]; at: number }, void>(async (tx, { ids, at }) => {
    await tx.db.updateTable('apiKeys').set({ lastUsedAt: at }).where('id', 'in', ids).execute()
  }),
}
