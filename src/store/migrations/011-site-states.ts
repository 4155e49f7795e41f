/** Creates the table of paused destinations, so that a restart does not contact them again at once. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { text, integer, clustered }: Columns): Promise<void> {
  await schema
    .createTable('site_states')
    .addColumn('site', text, c => c.primaryKey())
    .addColumn('paused_until', integer, c => c.notNull())
    .addColumn('pause_ms', integer, c => c.notNull())
    .addColumn('reason', text, c => c.notNull())
    .addColumn('changed_at', integer, c => c.notNull())
    .modifyEnd(clustered)
    .execute()
}
