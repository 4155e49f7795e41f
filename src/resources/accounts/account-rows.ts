/** Rows of accounts with their owner, the user that was created with the account. */
import { type Id, idKey } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { AccountRow, Db, UserRow } from '../../store/model/schema.ts'

export interface AccountWithOwner extends AccountRow {
  /** Folded email address with which the owner signs in. */
  ownerEmail: string
  /** Time since which all mail of the account is held, in ms since the epoch; null if it is not held. */
  pausedAt: number | null
  pauseReason: string | null
}

/** Fields that are undefined stay. */
interface AccountSet {
  name?: string | undefined
  plan?: string | undefined
  ownerEmail?: string | undefined
  suspended?: boolean | undefined
}

export async function findAccountWithOwner(db: Db, id: Id): Promise<AccountWithOwner | undefined> {
  return withOwner(db).where('accounts.id', '=', id).executeTakeFirst()
}

/** Lists accounts, newest first. */
export async function listAccounts(
  db: Db,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; rows: AccountWithOwner[] }> {
  const { total } = await db
    .selectFrom('accounts')
    .select(eb => eb.fn.countAll<number>().as('total'))
    .where('deletedAt', 'is', null)
    .executeTakeFirstOrThrow()
  const rows = await withOwner(db).orderBy('accounts.id', 'desc').limit(limit).offset(offset).execute()
  return { total: Number(total), rows }
}

/** Returns the names of accounts by `idKey` of their ids. */
export async function accountNames(db: Db, ids: readonly Id[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await db.selectFrom('accounts').select(['id', 'name']).where('id', 'in', ids).execute()
  return new Map(rows.map(({ id, name }) => [idKey(id), name]))
}

/** Returns the names of the plans in use. */
export async function plansInUse(db: Db): Promise<string[]> {
  const plans = db.selectFrom('accounts').select('plan').distinct().where('deletedAt', 'is', null)
  return (await plans.execute()).map(({ plan }) => plan)
}

export const accountCommands = {
  /** Creates an account and its owner. Returns false if a user with this address exists. */
  createAccount: command<{ account: AccountRow; owner: UserRow }, boolean>(async (tx, { account, owner }) => {
    if (await isTaken(tx, owner.email)) return false
    await tx.db.insertInto('accounts').values(account).execute()
    await tx.db.insertInto('users').values(owner).execute()
    return true
  }),

  /**
   * Changes the given fields. Returns `missing` if there is no such account, `taken` if another user has the
   * address.
   */
  changeAccount: command<{ id: Id; set: AccountSet; now: number }, 'changed' | 'missing' | 'taken'>(
    async (tx, { id, set: { ownerEmail, name, plan, suspended }, now }) => {
      const account = await findAccountWithOwner(tx.db, id)
      if (!account) return 'missing'
      if (ownerEmail !== undefined && ownerEmail !== account.ownerEmail) {
        if (await isTaken(tx, ownerEmail)) return 'taken'
        await tx.db
          .updateTable('users')
          .set({ email: ownerEmail })
          .where('email', '=', account.ownerEmail)
          .execute()
      }
      const since = account.suspendedAt ?? now
      const row = {
        id,
        name: name ?? account.name,
        plan: plan ?? account.plan,
        suspendedAt: suspended === undefined ? account.suspendedAt : suspended ? since : null,
      }
      await tx.rows.update('accounts', ['id'], [row])
      tx.announce('account', id)
      return 'changed'
    },
  ),

  /** Replaces the password of the owner and ends all sessions. Returns false if there is no such account. */
  resetOwnerPassword: command<{ id: Id; passwordHash: string }, boolean>(async (tx, { id, passwordHash }) => {
    const account = await findAccountWithOwner(tx.db, id)
    if (!account) return false
    const { id: userId } = await tx.db
      .updateTable('users')
      .set({ passwordHash })
      .where('email', '=', account.ownerEmail)
      .returning('id')
      .executeTakeFirstOrThrow()
    await tx.db.deleteFrom('sessions').where('userId', '=', userId).execute()
    return true
  }),
}

async function isTaken(tx: Tx, email: string): Promise<boolean> {
  const [user] = await tx.rows.find('users', [{ email }], ['id'])
  return user !== undefined
}

function withOwner(db: Db) {
  return db
    .selectFrom('accounts')
    .innerJoin('users', join =>
      join.on('users.id', '=', eb =>
        eb
          .selectFrom('users as first')
          .select('first.id')
          .whereRef('first.accountId', '=', 'accounts.id')
          .orderBy('first.id')
          .limit(1),
      ),
    )
    .leftJoin('queueHolds', join =>
      join
        .onRef('queueHolds.accountId', '=', 'accounts.id')
        .on('queueHolds.domain', 'is', null)
        .on('queueHolds.broadcastId', 'is', null)
        .on('queueHolds.emailId', 'is', null)
        .on('queueHolds.senderDomain', 'is', null)
        .on('queueHolds.releasedAt', 'is', null),
    )
    .select([
      'accounts.id',
      'accounts.name',
      'accounts.plan',
      'accounts.createdAt',
      'accounts.suspendedAt',
      'users.email as ownerEmail',
      'queueHolds.createdAt as pausedAt',
      'queueHolds.reason as pauseReason',
    ])
}
