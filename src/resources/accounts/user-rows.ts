/** Rows of users, their accounts and their sessions. */
import type { Id } from '../../lib/ids.ts'
import { command } from '../../store/model/command.ts'
import type { AccountRow, ApiKeyRow, Db, SessionRow, UserRow } from '../../store/model/schema.ts'
import { rememberPlace } from './known-places.ts'

const SESSIONS_OF_A_USER_MAX = 30

/** Account and user that a request acts for. */
export interface Person {
  userId: Id
  accountId: Id
  email: string
  operator: boolean
}

export async function findUser(db: Db, id: Id): Promise<UserRow | undefined> {
  return db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function findAccount(db: Db, id: Id): Promise<AccountRow | undefined> {
  const accounts = db.selectFrom('accounts').selectAll().where('deletedAt', 'is', null)
  return accounts.where('id', '=', id).executeTakeFirst()
}

/** Lists all users, oldest first. */
export async function listUsers(
  db: Db,
): Promise<(Pick<UserRow, 'id' | 'accountId' | 'email' | 'operator' | 'createdAt'> & { account: string })[]> {
  return db
    .selectFrom('users')
    .innerJoin('accounts', 'accounts.id', 'users.accountId')
    .select(['users.id', 'users.accountId', 'users.email', 'users.operator', 'users.createdAt'])
    .select('accounts.name as account')
    .orderBy('users.id')
    .execute()
}

/** Returns the only account; undefined if there are several or none. */
export async function findOnlyAccount(db: Db): Promise<AccountRow | undefined> {
  const [account, another] = await db
    .selectFrom('accounts')
    .selectAll()
    .where('deletedAt', 'is', null)
    .limit(2)
    .execute()
  return another ? undefined : account
}

export async function hasUsers(db: Db): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined
}

/** Finds the session with this token hash and its user. The caller checks the expiry. */
export async function findSession(
  db: Db,
  tokenHash: Uint8Array,
): Promise<(Person & Pick<SessionRow, 'id' | 'kind' | 'lastSeenAt'>) | undefined> {
  const row = await db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.userId')
    .select(['sessions.id', 'sessions.kind', 'sessions.lastSeenAt', 'sessions.userId'])
    .select(['users.accountId', 'users.email', 'users.operator'])
    .where('tokenHash', '=', tokenHash)
    .executeTakeFirst()
  return row && { ...row, operator: row.operator === 1 }
}

export async function isOpenSession(db: Db, id: Id): Promise<boolean> {
  const session = await db.selectFrom('sessions').select('id').where('id', '=', id).executeTakeFirst()
  return session !== undefined
}

const SESSION_FACTS = ['id', 'kind', 'clientAddress', 'userAgent', 'createdAt', 'lastSeenAt'] as const
export type SessionFacts = Pick<SessionRow, (typeof SESSION_FACTS)[number]>

/**
 * Lists the sessions of a user, last seen first.
 *
 * @param since ms since the epoch; sessions last seen earlier have expired
 */
export async function listSessions(db: Db, userId: Id, since: number): Promise<SessionFacts[]> {
  return db
    .selectFrom('sessions')
    .select(SESSION_FACTS)
    .where('userId', '=', userId)
    .where('lastSeenAt', '>=', since)
    .orderBy('lastSeenAt', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

/**
 * Finds the account of a user, or the first account.
 * @param email folded; null for the first account
 */
export async function findAccountOfUser(db: Db, email: string | null): Promise<Id | undefined> {
  const users = db.selectFrom('users').select('accountId')
  const wanted = email === null ? users.orderBy('createdAt').orderBy('id') : users.where('email', '=', email)
  return (await wanted.limit(1).executeTakeFirst())?.accountId
}

export const userCommands = {
  /** Creates the first account, its operator and its first API key. Returns false if a user exists. */
  createFirstUser: command<{ account: AccountRow; user: UserRow; apiKey: ApiKeyRow }, boolean>(
    async (tx, { account, user, apiKey }) => {
      if (await hasUsers(tx.db)) return false
      await tx.db.insertInto('accounts').values(account).execute()
      await tx.db.insertInto('users').values(user).execute()
      await tx.db.insertInto('apiKeys').values(apiKey).execute()
      return true
    },
  ),

  /** Creates a user in an existing or new account. */
  createUser: command<{ user: UserRow; newAccount: AccountRow | null }, 'created' | 'taken' | 'no-account'>(
    async (tx, { user, newAccount }) => {
      const [known] = await tx.rows.find('users', [{ email: user.email }], ['id'])
      if (known) return 'taken'
      if (newAccount) await tx.db.insertInto('accounts').values(newAccount).execute()
      const [account] = await tx.rows.find('accounts', [{ id: user.accountId }], ['id'])
      if (!account) return 'no-account'
      await tx.db.insertInto('users').values(user).execute()
      return 'created'
    },
  ),

  /**
   * Replaces the password and ends all sessions of the user. Returns their number; undefined if there is no
   * such user.
   */
  resetPassword: command<{ email: string; passwordHash: string }, number | undefined>(
    async (tx, { email, passwordHash }) => {
      const user = await tx.db
        .updateTable('users')
        .set({ passwordHash })
        .where('email', '=', email)
        .returning('id')
        .executeTakeFirst()
      if (!user) return undefined
      const { numDeletedRows } = await tx.db
        .deleteFrom('sessions')
        .where('userId', '=', user.id)
        .executeTakeFirstOrThrow()
      return Number(numDeletedRows)
    },
  ),

  /**
   * Opens a session and ends those beyond the limit: the ones of programs before those of browsers, each kind
   * last seen first. Returns false if the checked password is no longer that of the user.
   * @param networkHash network to remember as a known place; null for none
   * @param seen sessions of the user that were used since their `lastSeenAt` was written
   */
  createSession: command<
    {
      session: SessionRow
      passwordHash: string
      networkHash: Uint8Array | null
      seen: readonly { id: Id; at: number }[]
    },
    boolean
  >(async (tx, { session, passwordHash, networkHash, seen }) => {
    const { userId, createdAt } = session
    const user = await tx.db
      .selectFrom('users')
      .select('id')
      .where('id', '=', userId)
      .where('passwordHash', '=', passwordHash)
      .executeTakeFirst()
    if (!user) return false
    for (const { id, at } of seen)
      await tx.db
        .updateTable('sessions')
        .set({ lastSeenAt: at })
        .where('id', '=', id)
        .where('lastSeenAt', '<', at)
        .execute()
    const newest = tx.db
      .selectFrom('sessions')
      .select('id')
      .where('userId', '=', userId)
      .orderBy(eb => eb.case().when('kind', '=', 'cookie').then(0).else(1).end())
      .orderBy('lastSeenAt', 'desc')
      .orderBy('id', 'desc')
      .limit(SESSIONS_OF_A_USER_MAX - 1)
    await tx.db.deleteFrom('sessions').where('userId', '=', userId).where('id', 'not in', newest).execute()
    await tx.db.insertInto('sessions').values(session).execute()
    if (networkHash) await rememberPlace(tx, { userId, networkHash, lastAt: createdAt })
    return true
  }),

  touchSession: command<{ id: Id; at: number }, void>(async (tx, { id, at }) => {
    await tx.db.updateTable('sessions').set({ lastSeenAt: at }).where('id', '=', id).execute()
  }),

  endSession: command<{ id: Id }, void>(async (tx, { id }) => {
    await tx.db.deleteFrom('sessions').where('id', '=', id).execute()
  }),

  /** Returns false if the user has no such session. */
  endOwnSession: command<{ userId: Id; id: Id }, boolean>(async (tx, { userId, id }) => {
    const { numDeletedRows } = await tx.db
      .deleteFrom('sessions')
      .where('id', '=', id)
      .where('userId', '=', userId)
      .executeTakeFirstOrThrow()
    return numDeletedRows > 0n
  }),

  /**
   * Deletes sessions last seen before `before` (ms since the epoch), at most `limit`. Returns their number.
   */
  forgetSessions: command<{ before: number; limit: number }, number>(async (tx, { before, limit }) => {
    const ended = tx.db
      .selectFrom('sessions')
      .select('id')
      .where('lastSeenAt', '<', before)
      .orderBy('lastSeenAt')
      .limit(limit)
    const { numDeletedRows } = await tx.db
      .deleteFrom('sessions')
      .where('id', 'in', ended)
      .executeTakeFirstOrThrow()
    return Number(numDeletedRows)
  }),

  /**
   * Replaces the password and ends all other sessions of the user. Returns their number; undefined if the
   * former password is no longer that of the user, or the session has ended.
   */
  changePassword: command<
    { userId: Id; sessionId: Id; former: string; passwordHash: string },
    number | undefined
  >(async (tx, { userId, sessionId, former, passwordHash }) => {
    const own = tx.db.selectFrom('sessions').select('userId').where('id', '=', sessionId)
    const { numUpdatedRows } = await tx.db
      .updateTable('users')
      .set({ passwordHash })
      .where('id', '=', userId)
      .where('passwordHash', '=', former)
      .where('id', 'in', own)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) return undefined
    const { numDeletedRows } = await tx.db
      .deleteFrom('sessions')
      .where('userId', '=', userId)
      .where('id', '!=', sessionId)
      .executeTakeFirstOrThrow()
    return Number(numDeletedRows)
  }),
}
