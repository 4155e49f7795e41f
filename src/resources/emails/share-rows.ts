/**
 * Share links, under which a sent or received email is shown without a login. Only the hash of a link's token
 * is stored.
 */
import type { Clock } from '../../lib/clock.ts'
import type { Id } from '../../lib/ids.ts'
import { inSteps } from '../../lib/sweeper.ts'
import { command, type Run } from '../../store/model/command.ts'
import type { Db, EmailShareRow } from '../../store/model/schema.ts'
import type { Find } from '../../store/reading/read.ts'

/** Maximum number of valid links per email. */
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

/** Lists the valid links of a sent or received email, newest first. */
export async function listShares(
  db: Db,
  { accountId, emailId }: Pick<EmailShareRow, 'accountId' | 'emailId'>,
  now: number,
) {
  return db
    .selectFrom('emailShares')
    .select(['id', 'createdAt', 'expiresAt'])
    .where('accountId', '=', accountId)
    .where('emailId', '=', emailId)
    .where('expiresAt', '>', now)
    .orderBy('id', 'desc')
    .execute()
}

export const shareCommands = {
  shareEmail: command<EmailShareRow, ShareResult>(async (tx, share) => {
    const keys = [{ accountId: share.accountId, id: share.emailId }]
    const [sent] = await tx.rows.find('emails', keys, ['id'])
    const [received] = sent ? [sent] : await tx.rows.find('inboundMessages', keys, ['id'])
    if (!received) return 'gone'
    const good = await listShares(tx.db, share, share.createdAt)
    if (good.length >= SHARES_MAX) return 'too-many'
    await tx.db.insertInto('emailShares').values(share).execute()
    return 'shared'
  }),

  /** Returns false if the email has no such link. */
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
   * Deletes links that expired at `before` (epoch ms) or earlier, at most `limit`.
   * @returns the number of deleted links
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

const SHARES_PER_STEP_MAX = 500

export function sweepShares({ run, clock }: { run: Run<typeof shareCommands>; clock: Clock }) {
  return inSteps(SHARES_PER_STEP_MAX, limit => run('forgetShares', { before: clock.now(), limit }))
}
