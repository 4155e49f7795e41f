/**
 * Adds the time at which parsing of a received message began, so that a message whose parsing ended the
 * process is not parsed in full again, and an index of large unparsed messages by account.
 */
import { type Kysely, sql } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { integer }: Columns): Promise<void> {
  await schema.alterTable('inbound_messages').addColumn('reading_at', integer).execute()
  await schema
    .createIndex('inbound_messages_unlisted_large')
    .on('inbound_messages')
    .columns(['account_id', 'id'])
    .where(sql`listed_at`, 'is', sql`null`)
    .where(sql`size_bytes`, '>', sql`65536`)
    .execute()
}
