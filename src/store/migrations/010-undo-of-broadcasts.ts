/** Adds the time until which the sending of a broadcast can be undone. Called by `migrate.ts`. */
import type { Kysely } from 'kysely'
import type { Columns } from '../model/columns.ts'

export async function up({ schema }: Kysely<unknown>, { integer }: Columns): Promise<void> {
  await schema.alterTable('broadcasts').addColumn('undo_until', integer).execute()
}
