/** Adds the kind of received mail that programs send. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { text }: Columns): Promise<void> {
  await schema.alterTable('inbound_messages').addColumn('automatic', text).execute()
}
