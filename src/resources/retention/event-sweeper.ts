/**
 * Deletes events of contacts, domains and received mail beyond their account's horizon. Events of emails are
 * deleted with their email.
 */

import { firstIdAt, type Id } from '../../lib/ids.ts'
import { inSteps } from '../../lib/sweeper.ts'
import { command, type Run } from '../../store/model/command.ts'
import { countDeletedEvents } from '../events/record.ts'
import { type HorizonsOptions, horizons } from './horizons.ts'

interface EventSweeperOptions extends HorizonsOptions {
  run: Run<typeof eventSweepCommands>
}

const EVENTS_PER_STEP_MAX = 500

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

export async function* sweepEvents({ run, ...options }: EventSweeperOptions): AsyncGenerator<void> {
  for await (const accounts of horizons(options))
    for (const { accountId, horizon } of accounts) {
      const before = firstIdAt(horizon)
      yield* inSteps(EVENTS_PER_STEP_MAX, limit => run('deleteOldEvents', { accountId, before, limit }))
    }
}
