/** Emails that came as whole messages keep them as they came. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { bytes }: Columns): Promise<void> {
  await schema.alterTable('emails').addColumn('raw', bytes).execute()
}
