/**
 * Stored state of destinations: pauses of the circuit breaker by source address, and rate limits that the
 * operator has set. In the database a destination is called `site`.
 */
import { command } from '../../store/model/command.ts'
import type { Db, SiteCapRow, SiteStateRow } from '../../store/model/schema.ts'

/** Announcement topic; the messages are names of destinations whose pause the operator has ended. */
export const RESUMED = 'site-resumed'

/** All mail to the destination has expired by then. */
const RETENTION_MS = 14 * 86_400_000

export function listPausedDestinations(db: Db, now: number): Promise<SiteStateRow[]> {
  return db.selectFrom('siteStates').selectAll().where('pausedUntil', '>', now).execute()
}

/** Announcement topic; the messages are names of destinations whose rate limit was set or removed. */
export const SLOWED = 'site-slowed'

/** Sorted by destination. */
export function listDestinationCaps(db: Db): Promise<SiteCapRow[]> {
  return db.selectFrom('siteCaps').selectAll().orderBy('site').execute()
}

export const destinationStateCommands = {
  putSiteState: command<SiteStateRow, void>(async (tx, row) => {
    const { site: _, source: __, ...state } = row
    await tx.db
      .insertInto('siteStates')
      .values(row)
      .onConflict(conflict => conflict.columns(['site', 'source']).doUpdateSet(state))
      .execute()
    await tx.db
      .deleteFrom('siteStates')
      .where('changedAt', '<', row.changedAt - RETENTION_MS)
      .execute()
  }),

  /** Ends the pauses of the destination. Returns false when it has none. */
  resumeSite: command<{ site: string; now: number }, boolean>(async (tx, { site, now: pausedUntil }) => {
    const { numUpdatedRows } = await tx.db
      .updateTable('siteStates')
      .set({ pausedUntil })
      .where('site', '=', site)
      .where('pausedUntil', '>', pausedUntil)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows > 0) tx.announce(RESUMED, site)
    return numUpdatedRows > 0
  }),

  /** Removes the state of the source address, and the state that concerns all source addresses. */
  clearSiteState: command<{ site: string; source: string }, void>(async (tx, { site, source }) => {
    await tx.db
      .deleteFrom('siteStates')
      .where('site', '=', site)
      .where('source', 'in', [source, ''])
      .execute()
  }),

  /** Sets the rate limit of the destination, and replaces an earlier one. */
  slowSite: command<SiteCapRow, void>(async (tx, { site, ...cap }) => {
    await tx.db
      .insertInto('siteCaps')
      .values({ site, ...cap })
      .onConflict(conflict => conflict.column('site').doUpdateSet(cap))
      .execute()
    tx.announce(SLOWED, site)
  }),

  /** Removes the rate limit. Returns false when there was none. */
  unslowSite: command<string, boolean>(async (tx, site) => {
    const { numDeletedRows } = await tx.db
      .deleteFrom('siteCaps')
      .where('site', '=', site)
      .executeTakeFirstOrThrow()
    if (numDeletedRows > 0) tx.announce(SLOWED, site)
    return numDeletedRows > 0
  }),
}
