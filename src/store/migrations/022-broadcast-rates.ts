/** Adds the limit of emails of a broadcast in an hour. Called by `migrate.ts`. */
import type { Kysely } from 'kysely'
import type { Columns } from '../model/columns.ts'

export async function up({ schema }: Kysely<unknown>, { integer }: Columns): Promise<void> {
  await schema.alterTable('broadcasts').addColumn('emails_per_hour', integer).execute()
}
