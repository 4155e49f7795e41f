/** Adds the time since which an account is suspended. Called by `migrate.ts`. */
import type { Kysely } from 'kysely'
import type { Columns } from '../model/columns.ts'

export async function up({ schema }: Kysely<unknown>, { integer }: Columns): Promise<void> {
  await schema.alterTable('accounts').addColumn('suspended_at', integer).execute()
}
