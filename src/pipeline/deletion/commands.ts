/**
 * Commands that delete an account: one closes it at once, the others remove its rows in small steps. The row
 * of the account stays until nothing else is left, so that a crash at any moment forgets nothing.
 *
 * Called through the writer by `delete-accounts.ts`, the HTTP API and the command line.
 */
import { sql } from 'kysely'
import type { Id } from '../../lib/ids.ts'
import { announceDeletedKeys } from '../../resources/accounts/api-key-rows.ts'
import { releaseContents } from '../../resources/emails/content-rows.ts'
import type { Deleted } from '../../resources/retention/commands.ts'
import { command, type Tx } from '../../store/model/command.ts'
import { releaseAttachments } from '../broadcasts/attachments.ts'
import { startHold } from '../queue/hold.ts'

/** Announcement topic; the messages are deleted accounts. */
export const ACCOUNT_DELETED = 'account_deleted'

export interface DeletedAccount {
  id: Id
  name: string
}

/** `operator`: the account has an operator, so it cannot be deleted. */
export type Deletion = 'deleted' | 'missing' | 'operator'

/** Why an account with an operator stays. */
export const HAS_OPERATOR =
  'The account has an operator, so it cannot be deleted. This includes the first account.'

/** Tables whose rows have nothing else to release, with the columns of their key besides the account. */
const PLAIN_TABLES = {
  events: ['subject_id', 'id'],
  logged_bodies: ['request_id'],
  logged_requests: ['id'],
  suppressions: ['email'],
  opt_outs: ['email', 'scope'],
  property_definitions: ['id'],
  email_shares: ['id'],
  broadcast_outcomes: ['broadcast_id', 'id'],
  inbound_routes: ['id'],
  inbound_route_log: ['id'],
  idempotency_keys: ['endpoint', 'key'],
  counters: ['kind', 'period'],
} as const
/** Each index block has some thousand emails. */
const INDEX_BLOCKS_PER_STEP = 4

export const deletionCommands = {
  /**
   * Closes an account: its users, keys and tokens are gone, and no attempt starts for its queued mail. Its
   * rows are removed later.
   */
  deleteAccount: command<{ id: Id; now: number }, Deletion>(async (tx, { id, now }) => {
    const { db } = tx
    const account = await db
      .selectFrom('accounts')
      .select(['name', 'suspendedAt'])
      .where('id', '=', id)
      .where('deletedAt', 'is', null)
      .executeTakeFirst()
    if (!account) return 'missing'
    const users = await db.selectFrom('users').select('operator').where('accountId', '=', id).execute()
    if (users.some(({ operator }) => operator === 1)) return 'operator'
    for (const table of ['accessTokens', 'apiKeys', 'users'] as const)
      await db.deleteFrom(table).where('accountId', '=', id).execute()
    announceDeletedKeys(tx)
    const suspendedAt = account.suspendedAt ?? now
    await tx.rows.update('accounts', ['id'], [{ id, suspendedAt, deletedAt: now }])
    const mail = { domain: null, accountId: id, broadcastId: null, emailId: null }
    const hold = { ...mail, id: tx.newId(now), reason: 'the account was deleted', createdAt: now }
    await startHold(tx, { ...hold, origin: 'operator', isPause: 1, releasedAt: null })
    tx.announce('account', id)
    tx.announce(ACCOUNT_DELETED, { id, name: account.name } satisfies DeletedAccount)
    return 'deleted'
  }),

  /** Deletes one broadcast of the account, in any state; its emails stay. */
  deleteBroadcastOf: command<Id, Pick<Deleted, 'more' | 'unusedFiles'>>(async (tx, accountId) => {
    const { db } = tx
    const broadcast = await db
      .selectFrom('broadcasts')
      .select(['id', 'contentId', 'sentContentId', 'attachments'])
      .where('accountId', '=', accountId)
      .limit(1)
      .executeTakeFirst()
    if (!broadcast) return { more: false, unusedFiles: [] }
    const { id, contentId, sentContentId, attachments } = broadcast
    await db.deleteFrom('broadcastPages').where('broadcastId', '=', id).execute()
    await db.deleteFrom('broadcastLinks').where('broadcastId', '=', id).execute()
    await db.deleteFrom('queueHolds').where('broadcastId', '=', id).execute()
    await db.deleteFrom('broadcasts').where('accountId', '=', accountId).where('id', '=', id).execute()
    await releaseContents(tx, sentContentId === null ? [contentId] : [contentId, sentContentId])
    return { more: true, unusedFiles: await releaseAttachments(tx, attachments) }
  }),

  /** Deletes at most `limit` rows of tables that nothing refers to. False when none is left. */
  deletePlainRowsOf: command<{ accountId: Id; limit: number }, boolean>(
    async (tx, { accountId, limit }) => {
      for (const [table, key] of Object.entries(PLAIN_TABLES)) {
        const [name, columns] = [sql.table(table), sql.join(key.map(column => sql.ref(column)))]
        const found = sql`select ${columns} from ${name} where account_id = ${accountId} limit ${limit}`
        const { numAffectedRows = 0n } =
          await sql`delete from ${name} where account_id = ${accountId} and (${columns}) in (${found})`.execute(
            tx.db,
          )
        if (numAffectedRows > 0n) return true
      }
      return deleteIndexBlocks(tx, accountId)
    },
    { weigh: ({ limit }) => limit },
  ),

  /** Deletes the row of the account. False while mail of it is left, such as an attempt in progress. */
  forgetAccount: command<Id, boolean>(async ({ db }, id) => {
    for (const table of ['emails', 'inboundMessages', 'deletedAudiences', 'domains', 'broadcasts'] as const) {
      const row = await db
        .selectFrom(table)
        .select('accountId')
        .where('accountId', '=', id)
        .limit(1)
        .executeTakeFirst()
      if (row) return false
    }
    for (const table of ['deletedDomains', 'domainClaims', 'dsnNotices', 'queueHolds'] as const)
      await db.deleteFrom(table).where('accountId', '=', id).execute()
    await db.deleteFrom('accounts').where('id', '=', id).where('deletedAt', 'is not', null).execute()
    return true
  }),
}

async function deleteIndexBlocks({ db }: Tx, accountId: Id): Promise<boolean> {
  const blocks = await db
    .selectFrom('emailSegments')
    .select('id')
    .where('accountId', '=', accountId)
    .limit(INDEX_BLOCKS_PER_STEP)
    .execute()
  if (blocks.length === 0) return false
  const ids = blocks.map(({ id }) => id)
  await db.deleteFrom('emailTerms').where('segmentId', 'in', ids).execute()
  await db.deleteFrom('emailSegmentStatuses').where('segmentId', 'in', ids).execute()
  await db.deleteFrom('emailSegments').where('id', 'in', ids).execute()
  return true
}
