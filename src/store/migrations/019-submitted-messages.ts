/** Adds the column for emails that were submitted as complete messages, which are stored unchanged. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { bytes }: Columns): Promise<void> {
  await schema.alterTable('emails').addColumn('raw', bytes).execute()
}
