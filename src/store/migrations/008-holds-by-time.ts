/** Adds holds on mail that entered the queue before some time. Called by `migrate.ts`. */
import type { Kysely } from 'kysely'
import type { Columns } from '../model/columns.ts'

export async function up({ schema }: Kysely<unknown>, { integer }: Columns): Promise<void> {
  await schema.alterTable('queue_holds').addColumn('entered_before', integer).execute()
}
