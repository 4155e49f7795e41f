/** Adds the target of a link for one recipient, if it differs from the target of the first visit. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { text }: Columns): Promise<void> {
  await schema.alterTable('visits').addColumn('url', text).execute()
}
