/** Creates the table of silenced alerts. Called by `migrate.ts`. */
import type { Kysely } from 'kysely'
import type { Columns } from '../model/columns.ts'

export async function up({ schema }: Kysely<unknown>, { text, integer, clustered }: Columns): Promise<void> {
  await schema
    .createTable('alert_silences')
    .addColumn('kind', text, c => c.notNull())
    .addColumn('provider', text, c => c.notNull())
    .addColumn('source_ip', text, c => c.notNull())
    .addColumn('until', integer, c => c.notNull())
    .addColumn('created_by', text, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .addPrimaryKeyConstraint('alert_silences_key', ['kind', 'provider', 'source_ip'])
    .modifyEnd(clustered)
    .execute()
}
