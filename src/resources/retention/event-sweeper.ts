/**
 * Deletes events of contacts, domains and received mail beyond their account's horizon; those of emails go
 * with these.
 */

import { firstIdAt, type Id } from '../../lib/ids.ts'
import { command, type Run } from '../../store/command.ts'
import { countDeletedEvents } from '../events/record.ts'
import { type HorizonsOptions, horizons } from './horizons.ts'

interface EventSweeperOptions extends HorizonsOptions {
  run: Run<typeof eventSweepCommands>
}

const EVENTS_AT_ONCE = 500

export const eventSweepCommands = {
  /** @param before only older ones @returns how many there were */
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

/** For a sweeper. */
export async function* sweepEvents({ run, ...options }: EventSweeperOptions): AsyncGenerator<void> {
  for await (const accounts of horizons(options))
    for (const { accountId, horizon } of accounts) {
      const before = firstIdAt(horizon)
      let count: number
      do {
        count = await run('deleteOldEvents', { accountId, before, limit: EVENTS_AT_ONCE })
        yield
      } while (count === EVENTS_AT_ONCE)
    }
}
