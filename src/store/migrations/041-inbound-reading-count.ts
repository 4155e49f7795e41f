/** Adds the number of runs of the service that began to read a received message. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { integer }: Columns): Promise<void> {
  await schema
    .alterTable('inbound_messages')
    .addColumn('reading_count', integer, c => c.notNull().defaultTo(0))
    .execute()
}
