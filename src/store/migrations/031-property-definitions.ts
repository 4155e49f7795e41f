/** Creates the table of property definitions, and adds the subject of a broadcast as its emails have it. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up(
  { schema }: Kysely<unknown>,
  { id, text, integer, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('property_definitions')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('key', text, c => c.notNull())
    .addColumn('type', text, c => c.notNull())
    .addColumn('fallback', text)
    .addColumn('created_at', integer, c => c.notNull())
    .addPrimaryKeyConstraint('property_definitions_pk', ['account_id', 'id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createIndex('property_definitions_key')
    .on('property_definitions')
    .columns(['account_id', 'key'])
    .unique()
    .execute()
  await schema.alterTable('broadcasts').addColumn('sent_subject', text).execute()
}
