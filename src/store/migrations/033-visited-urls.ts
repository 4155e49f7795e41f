/** Where a link led one recipient, if that is another place than the first who followed it was led to. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { text }: Columns): Promise<void> {
  await schema.alterTable('visits').addColumn('url', text).execute()
}
