/** Rows of access tokens. */
import type { Id } from '../../lib/ids.ts'
import { type Networks, networks } from '../../lib/networks.ts'
import { command } from '../../store/model/command.ts'
import { changeOwn, deleteOwn, type OwnKey } from '../../store/model/own-row.ts'
import type { AccessTokenRow, Db } from '../../store/model/schema.ts'
import type { Find } from '../../store/reading/read.ts'
import { announceDeletedKeys } from './api-key-rows.ts'
import { isScope, type TokenScope } from './scopes.ts'

/** Facts about an access token that each request needs. */
export interface TokenHolder
  extends Pick<AccessTokenRow, 'id' | 'accountId' | 'userId' | 'name' | 'expiresAt'> {
  scopes: readonly TokenScope[]
  /** Entries of `networks`; null if the token may be used from any address. */
  networkEntries: readonly string[] | null
  networks: Networks | null
  /** Whether an operator has granted the rights of operators. */
  operator: boolean
}

export async function findTokenHolder(find: Find, tokenHash: Uint8Array): Promise<TokenHolder | undefined> {
  const [row] = await find(
    'accessTokens',
    [{ tokenHash }],
    ['id', 'accountId', 'userId', 'name', 'scopes', 'operator', 'networks', 'expiresAt'],
  )
  if (!row) return undefined
  const networkEntries = entriesOf(row)
  return {
    ...row,
    scopes: scopesOf(row),
    networkEntries,
    networks: networkEntries && networks(networkEntries),
    operator: row.operator === 1,
  }
}

/** Returns the scopes of a row. A scope that another version has introduced grants nothing. */
export function scopesOf({ scopes }: Pick<AccessTokenRow, 'scopes'>): TokenScope[] {
  return (JSON.parse(scopes) as string[]).filter(isScope)
}

export function entriesOf({ networks: text }: Pick<AccessTokenRow, 'networks'>): string[] | null {
  return text === null ? null : (JSON.parse(text) as string[])
}

/**
 * Tells whether the creator of a token with operator rights still has them. A token of the command line,
 * which has no creator, keeps them.
 */
export async function isOperatorStill(find: Find, userId: Id | null): Promise<boolean> {
  if (userId === null) return true
  const [user] = await find('users', [{ id: userId }], ['operator'])
  return user?.operator === 1
}

export type ShownToken = AccessTokenRow & {
  /** `operator` of the creator; null without a creator. */
  creatorIsOperator: AccessTokenRow['operator'] | null
}

/** Lists the access tokens of an account, newest first. */
export async function listAccessTokens(db: Db, accountId: Id): Promise<ShownToken[]> {
  return withCreator(db)
    .where('accessTokens.accountId', '=', accountId)
    .orderBy('accessTokens.id', 'desc')
    .execute()
}

export async function findAccessToken(db: Db, accountId: Id, id: Id): Promise<ShownToken | undefined> {
  return withCreator(db)
    .where('accessTokens.accountId', '=', accountId)
    .where('accessTokens.id', '=', id)
    .executeTakeFirst()
}

/** Lists the access tokens of all accounts, oldest first. */
export async function listEveryAccessToken(db: Db): Promise<(ShownToken & { account: string })[]> {
  return withCreator(db)
    .innerJoin('accounts', 'accounts.id', 'accessTokens.accountId')
    .select('accounts.name as account')
    .orderBy('accessTokens.id')
    .execute()
}

/** Returns the account of an access token; undefined if there is no such token. */
export async function findAccessTokenAccount(db: Db, id: Id): Promise<Id | undefined> {
  const token = await db
    .selectFrom('accessTokens')
    .select('accountId')
    .where('id', '=', id)
    .executeTakeFirst()
  return token?.accountId
}

function withCreator(db: Db) {
  return db
    .selectFrom('accessTokens')
    .leftJoin('users', 'users.id', 'accessTokens.userId')
    .selectAll('accessTokens')
    .select('users.operator as creatorIsOperator')
}

export const accessTokenCommands = {
  createAccessToken: command<AccessTokenRow, void>(async (tx, token) => {
    await tx.db.insertInto('accessTokens').values(token).execute()
  }),

  /** Returns false if the account has no such token. */
  renameAccessToken: command<OwnKey & { name: string }, boolean>(
    async (tx, { name, ...key }) => (await changeOwn(tx.db, 'accessTokens', key, { name })) !== undefined,
  ),

  /** Returns false if the account has no such token. */
  deleteAccessToken: command<OwnKey, boolean>(async (tx, key) => {
    const deleted = await deleteOwn(tx.db, 'accessTokens', key)
    announceDeletedKeys(tx)
    return deleted !== undefined
  }),

  touchAccessTokens: command<{ ids: Id[]; at: number }, void>(async (tx, { ids, at }) => {
    await tx.db.updateTable('accessTokens').set({ lastUsedAt: at }).where('id', 'in', ids).execute()
  }),
}
