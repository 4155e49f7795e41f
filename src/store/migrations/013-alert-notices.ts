/** Creates the table of what the webhook of operators was sent. Called by `migrate.ts`. */
import type { Kysely } from 'kysely'
import type { Columns } from '../model/columns.ts'

export async function up(
  { schema }: Kysely<unknown>,
  { id, text, integer, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('alert_notices')
    .addColumn('kind', text, c => c.notNull())
    .addColumn('provider', text, c => c.notNull())
    .addColumn('source_ip', text, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('event', text, c => c.notNull())
    .addColumn('since', integer, c => c.notNull())
    .addColumn('ended_at', integer)
    .addColumn('domain', text, c => c.notNull())
    .addColumn('text', text, c => c.notNull())
    .addColumn('made_at', integer, c => c.notNull())
    .addColumn('due_at', integer)
    .addColumn('attempts', integer, c => c.notNull())
    .addPrimaryKeyConstraint('alert_notices_key', ['kind', 'provider', 'source_ip'])
    .modifyEnd(clustered)
    .execute()
}
