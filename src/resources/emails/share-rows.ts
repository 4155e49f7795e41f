/** Links under which emails are shown to whoever has them, as stored: of a link only its hash is kept. */
import type { Clock } from '../../lib/clock.ts'
import type { Id } from '../../lib/ids.ts'
import { command, type Run } from '../../store/command.ts'
import type { Find } from '../../store/read.ts'
import type { Db, EmailShareRow } from '../../store/schema.ts'

/** Of one email at a time. */
export const SHARES_MAX = 100

type ShareResult = 'shared' | 'too-many' | 'gone'

export async function findShare(find: Find, tokenHash: Uint8Array): Promise<EmailShareRow | undefined> {
  const [share] = await find(
    'emailShares',
    [{ tokenHash }],
    ['id', 'accountId', 'emailId', 'tokenHash', 'createdAt', 'expiresAt'],
  )
  return share
}

/** Those of an email that are still good, newest first. */
export async function listShares(db: Db, email: { accountId: Id; id: Id }, now: number) {
  return db
    .selectFrom('emailShares')
    .select(['id', 'createdAt', 'expiresAt'])
    .where('accountId', '=', email.accountId)
    .where('emailId', '=', email.id)
    .where('expiresAt', '>', now)
    .orderBy('id', 'desc')
    .execute()
}

export const shareCommands = {
  shareEmail: command<EmailShareRow, ShareResult>(async (tx, share) => {
    const { accountId, emailId, createdAt } = share
    const [email] = await tx.rows.find('emails', [{ accountId, id: emailId }], ['id'])
    if (!email) return 'gone'
    const good = await listShares(tx.db, { accountId, id: emailId }, createdAt)
    if (good.length >= SHARES_MAX) return 'too-many'
    await tx.db.insertInto('emailShares').values(share).execute()
    return 'shared'
  }),

  /** False when the email has no such link. */
  revokeShare: command<{ accountId: Id; emailId: Id; id: Id }, boolean>(
    async (tx, { accountId, emailId, id }) => {
      const { numDeletedRows } = await tx.db
        .deleteFrom('emailShares')
        .where('accountId', '=', accountId)
        .where('emailId', '=', emailId)
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      return numDeletedRows > 0n
    },
  ),

  /**
   * Deletes links that were good until `before` (epoch ms) or less long, at most `limit`. @returns how many
   * there were
   */
  forgetShares: command<{ before: number; limit: number }, number>(async (tx, { before, limit }) => {
    const { numDeletedRows } = await tx.db
      .deleteFrom('emailShares')
      .where(({ eb, selectFrom }) =>
        eb(
          'id',
          'in',
          selectFrom('emailShares')
            .select('id')
            .where('expiresAt', '<=', before)
            .orderBy('expiresAt')
            .limit(limit),
        ),
      )
      .executeTakeFirstOrThrow()
    return Number(numDeletedRows)
  }),
}

const CONCURRENT_MAX = 500

/** Those whose time is over; for a sweeper. */
export async function* sweepShares({
  run,
  clock,
}: {
  run: Run<typeof shareCommands>
  clock: Clock
}): AsyncGenerator<void> {
  for (let deleted = CONCURRENT_MAX; deleted === CONCURRENT_MAX; yield)
    deleted = await run('forgetShares', { before: clock.now(), limit: CONCURRENT_MAX })
}
