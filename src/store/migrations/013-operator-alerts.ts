/** Creates the table of alerts to the operator: one row per kind, provider and source address an hour. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { text, integer, clustered }: Columns): Promise<void> {
  await schema
    .createTable('operator_alerts')
    .addColumn('hour', integer, c => c.notNull())
    .addColumn('kind', text, c => c.notNull())
    .addColumn('provider', text, c => c.notNull())
    .addColumn('source_ip', text, c => c.notNull())
    .addColumn('raised_at', integer, c => c.notNull())
    .addColumn('mx_host', text)
    .addColumn('domain', text, c => c.notNull())
    .addColumn('reply', text, c => c.notNull())
    .addPrimaryKeyConstraint('operator_alerts_key', ['hour', 'kind', 'provider', 'source_ip'])
    .modifyEnd(clustered)
    .execute()
}
