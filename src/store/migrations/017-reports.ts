/** Creates the table of received reports, with the message and the parsed fields. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { id, bytes, text, integer }: Columns): Promise<void> {
  await schema
    .createTable('reports')
    .addColumn('id', id, c => c.primaryKey())
    .addColumn('received_at', integer, c => c.notNull())
    .addColumn('door', text, c => c.notNull())
    .addColumn('email_id', id)
    .addColumn('ordinal', integer)
    .addColumn('sender', text, c => c.notNull())
    .addColumn('recipient', text, c => c.notNull())
    .addColumn('client_ip', text, c => c.notNull())
    .addColumn('size_bytes', integer, c => c.notNull())
    .addColumn('blob_hash', bytes, c => c.notNull())
    .addColumn('state', integer, c => c.notNull())
    .addColumn('read_at', integer)
    .addColumn('kind', text)
    .addColumn('effect', text)
    .addColumn('detail', text)
    .addColumn('fault', text)
    .execute()
  await schema.createIndex('reports_unread').on('reports').columns(['state', 'id']).execute()
  await schema.createIndex('reports_of_email').on('reports').columns(['email_id', 'ordinal']).execute()
}
