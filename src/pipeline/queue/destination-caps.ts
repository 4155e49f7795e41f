/** Sites that the operator has slowed down: no more messages a minute than this. */
import { command } from '../../store/command.ts'
import type { Db, SiteCapRow } from '../../store/schema.ts'

/** Topic of announcements: names of sites that have been slowed down, or are no more. */
export const SLOWED = 'site-slowed'

/** By name. */
export function listDestinationCaps(db: Db): Promise<SiteCapRow[]> {
  return db.selectFrom('siteCaps').selectAll().orderBy('site').execute()
}

export const destinationCapCommands = {
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
