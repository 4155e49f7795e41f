/** When reading of a received message began, so that one whose reading ended the process is not read in full again. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { integer }: Columns): Promise<void> {
  await schema.alterTable('inbound_messages').addColumn('reading_at', integer).execute()
}
