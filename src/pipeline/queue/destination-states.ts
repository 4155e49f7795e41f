/**
 * Stored state of destinations: pauses of the circuit breaker by source address, and rate limits that the
 * operator has set.
 */
import { command } from '../../store/model/command.ts'
import type { Db, DestinationCapRow, DestinationStateRow } from '../../store/model/schema.ts'

/** Announcement topic; the messages are names of destinations whose pause the operator has ended. */
export const RESUMED = 'destination-resumed'

/** All mail to the destination has expired by then. */
const RETENTION_MS = 14 * 86_400_000

export function listPausedDestinations(db: Db, now: number): Promise<DestinationStateRow[]> {
  return db.selectFrom('destinationStates').selectAll().where('pausedUntil', '>', now).execute()
}

/** Announcement topic; the messages are names of destinations whose rate limit was set or removed. */
export const SLOWED = 'destination-slowed'

/** Sorted by destination. */
export function listDestinationCaps(db: Db): Promise<DestinationCapRow[]> {
  return db.selectFrom('destinationCaps').selectAll().orderBy('destination').execute()
}

export const destinationStateCommands = {
  putDestinationState: command<DestinationStateRow, void>(async (tx, row) => {
    const { destination: _, source: __, ...state } = row
    await tx.db
      .insertInto('destinationStates')
      .values(row)
      .onConflict(conflict => conflict.columns(['destination', 'source']).doUpdateSet(state))
      .execute()
    await tx.db
      .deleteFrom('destinationStates')
      .where('changedAt', '<', row.changedAt - RETENTION_MS)
      .execute()
  }),

  /** Ends the pauses of the destination. Returns false when it has none. */
  resumeDestination: command<{ destination: string; now: number }, boolean>(
    async (tx, { destination, now: pausedUntil }) => {
      const { numUpdatedRows } = await tx.db
        .updateTable('destinationStates')
        .set({ pausedUntil })
        .where('destination', '=', destination)
        .where('pausedUntil', '>', pausedUntil)
        .executeTakeFirstOrThrow()
      if (numUpdatedRows > 0) tx.announce(RESUMED, destination)
      return numUpdatedRows > 0
    },
  ),

  /** Removes the state of the source address, and the state that concerns all source addresses. */
  clearDestinationState: command<{ destination: string; source: string }, void>(
    async (tx, { destination, source }) => {
      await tx.db
        .deleteFrom('destinationStates')
        .where('destination', '=', destination)
        .where('source', 'in', [source, ''])
        .execute()
    },
  ),

  /** Sets the rate limit of the destination, and replaces an earlier one. */
  slowDestination: command<DestinationCapRow, void>(async (tx, { destination, ...cap }) => {
    await tx.db
      .insertInto('destinationCaps')
      .values({ destination, ...cap })
      .onConflict(conflict => conflict.column('destination').doUpdateSet(cap))
      .execute()
    tx.announce(SLOWED, destination)
  }),

  /** Removes the rate limit. Returns false when there was none. */
  unslowDestination: command<string, boolean>(async (tx, destination) => {
    const { numDeletedRows } = await tx.db
      .deleteFrom('destinationCaps')
      .where('destination', '=', destination)
      .executeTakeFirstOrThrow()
    if (numDeletedRows > 0) tx.announce(SLOWED, destination)
    return numDeletedRows > 0
  }),
}
