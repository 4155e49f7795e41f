/** Sites that rest, by the addresses we go there from, and why. */
import { command } from '../../store/command.ts'
import type { Db, SiteCapRow, SiteStateRow } from '../../store/schema.ts'

/** Topic of announcements: names of sites whose pause the operator has ended. */
export const RESUMED = 'site-resumed'

/** Its mail has expired by then, and so has what is known of it. */
const RETENTION_MS = 14 * 86_400_000

/** Those whose pause has not ended. */
export function listPausedDestinations(db: Db, now: number): Promise<SiteStateRow[]> {
  return db.selectFrom('siteStates').selectAll().where('pausedUntil', '>', now).execute()
}

/** Topic of announcements: names of sites that have been slowed down, or are no more. */
export const SLOWED = 'site-slowed'

/** By name. */
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

  /** Its pauses end now. False when it has none. */
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

  /** The site answers again; what is not of one source holds for none any more. */
  clearSiteState: command<{ site: string; source: string }, void>(async (tx, { site, source }) => {
    await tx.db
      .deleteFrom('siteStates')
      .where('site', '=', site)
      .where('source', 'in', [source, ''])
      .execute()
  }),

  /** In place of what was ordered before. */
  slowSite: command<SiteCapRow, void>(async (tx, { site, ...cap }) => {
    await tx.db
      .insertInto('siteCaps')
      .values({ site, ...cap })
      .onConflict(conflict => conflict.column('site').doUpdateSet(cap))
      .execute()
    tx.announce(SLOWED, site)
  }),

  /** False where it was not slowed down. */
  unslowSite: command<string, boolean>(async (tx, site) => {
    const { numDeletedRows } = await tx.db
      .deleteFrom('siteCaps')
      .where('site', '=', site)
      .executeTakeFirstOrThrow()
    if (numDeletedRows > 0) tx.announce(SLOWED, site)
    return numDeletedRows > 0
  }),
}
