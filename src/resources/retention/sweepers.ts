/**
 * Deletes what is beyond the retention of its account: events of contacts, domains and received mail,
 * logged requests, outcomes of broadcasts, and logs of routes; and files that no row names. Events of emails
 * are deleted with their email.
 */
import { firstIdAt, type Id } from '../../lib/ids.ts'
import { inSteps } from '../../lib/sweeper.ts'
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import { command, type Run } from '../../store/model/command.ts'
import type { Db } from '../../store/model/schema.ts'
import type { inboundRouteLogCommands } from '../emails/inbound-route-log.ts'
import type { broadcastOutcomeCommands } from '../events/broadcast-outcomes.ts'
import { countDeletedEvents } from '../events/record.ts'
import type { requestLogCommands } from '../request-log/commands.ts'
import { logHorizon } from '../request-log/horizon.ts'
import type { Beyond } from './commands.ts'
import { type HorizonsOptions, horizons } from './horizons.ts'

interface EventSweeperOptions extends HorizonsOptions {
  run: Run<typeof eventSweepCommands>
}

const ROWS_PER_STEP_MAX = 500

export const eventSweepCommands = {
  /**
   * @param before events with lower ids are deleted
   * @returns the number of deleted events
   */
  deleteOldEvents: command<{ accountId: Id; before: Id; limit: number }, number>(
    async (tx, { accountId, before, limit }) => {
      const old = await tx.db
        .selectFrom('events')
        .select(['subjectId', 'id'])
        .where('accountId', '=', accountId)
        .where('id', '<', before)
        .where(eb =>
          eb.or([
            eb('type', 'like', 'contact.%'),
            eb('type', 'like', 'domain.%'),
            eb('type', '=', 'email.received'),
          ]),
        )
        .orderBy('id')
        .limit(limit)
        .execute()
      for (const { subjectId, id } of old)
        await tx.db.deleteFrom('events').where('subjectId', '=', subjectId).where('id', '=', id).execute()
      countDeletedEvents(tx, accountId, old.length)
      return old.length
    },
  ),
}

/** @param forget deletes at most `limit` rows of the account, and returns their number */
async function* ofEachAccount(
  options: HorizonsOptions,
  forget: (account: Beyond, limit: number) => Promise<number>,
): AsyncGenerator<void> {
  for await (const accounts of horizons(options))
    for (const account of accounts) yield* inSteps(ROWS_PER_STEP_MAX, limit => forget(account, limit))
}

export async function* sweepEvents({ run, ...options }: EventSweeperOptions): AsyncGenerator<void> {
  yield* ofEachAccount(options, ({ accountId, horizon }, limit) =>
    run('deleteOldEvents', { accountId, before: firstIdAt(horizon), limit }),
  )
}

/** Files per step. */
const FILES_PER_STEP = 50

/**
 * Deletes blob files that no row names. Crashes leave such files behind, and so do refused requests whose
 * files could not be deleted.
 */
export async function* sweepFiles({ db, blobs }: { db: Db; blobs: BlobFiles }): AsyncGenerator<void> {
  let checkedCount = 0
  for await (const names of blobs.names())
    for (const name of names) {
      await blobs.discard(db, name)
      if (++checkedCount % FILES_PER_STEP === 0) yield
    }
}

interface RequestSweeperOptions extends HorizonsOptions {
  run: Run<typeof requestLogCommands>
  retentionDays: number
}

/** Deletes logged requests beyond the retention of the log and of their account's plan. */
export async function* sweepRequests({
  run,
  retentionDays,
  ...options
}: RequestSweeperOptions): AsyncGenerator<void> {
  yield* ofEachAccount(options, ({ accountId, horizon }, limit) => {
    const before = firstIdAt(logHorizon(horizon, retentionDays, options.clock.now()) + 1)
    return run('forgetRequests', { accountId, before, limit })
  })
}

interface RouteLogSweeperOptions extends HorizonsOptions {
  run: Run<typeof inboundRouteLogCommands>
}

/** Deletes what the routes of received mail have logged beyond the retention of their account. */
export async function* sweepRouteLogs({ run, ...options }: RouteLogSweeperOptions): AsyncGenerator<void> {
  yield* ofEachAccount(options, ({ accountId, horizon }, limit) =>
    run('forgetRouteLog', { accountId, before: firstIdAt(horizon + 1), limit }),
  )
}

interface OutcomeSweeperOptions extends HorizonsOptions {
  run: Run<typeof broadcastOutcomeCommands>
}

/** Deletes outcomes of broadcasts beyond the retention of their account, and those of deleted broadcasts. */
export async function* sweepOutcomes({ run, ...options }: OutcomeSweeperOptions): AsyncGenerator<void> {
  const { db } = options
  for await (const accounts of horizons(options))
    for (const { accountId, horizon } of accounts) {
      const earliest = firstIdAt(horizon)
      for (let after: Id = new Uint8Array(16); ; ) {
        const oldest = await oldestOutcomeAfter(db, accountId, after)
        if (!oldest) break
        const { broadcastId } = oldest
        const before = (await hasBroadcast(db, accountId, broadcastId)) ? earliest : null
        if (before === null || Buffer.compare(oldest.id, before) < 0)
          yield* inSteps(ROWS_PER_STEP_MAX, limit =>
            run('forgetOutcomes', { accountId, broadcastId, before, limit }),
          )
        else yield
        after = broadcastId
      }
    }
}

/** Returns the oldest outcome of the next broadcast that has any. */
function oldestOutcomeAfter(db: Db, accountId: Id, broadcastId: Id) {
  return db
    .selectFrom('broadcastOutcomes')
    .select(['broadcastId', 'id'])
    .where('accountId', '=', accountId)
    .where('broadcastId', '>', broadcastId)
    .orderBy('broadcastId')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
}

async function hasBroadcast(db: Db, accountId: Id, id: Id): Promise<boolean> {
  const row = await db
    .selectFrom('broadcasts')
    .select('id')
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row !== undefined
}
