/** Adds the time at which the condition of an alert ended. Called by `migrate.ts`. */
import type { Kysely } from 'kysely'
import type { Columns } from '../model/columns.ts'

export async function up({ schema }: Kysely<unknown>, { integer }: Columns): Promise<void> {
  await schema.alterTable('operator_alerts').addColumn('ended_at', integer).execute()
}
