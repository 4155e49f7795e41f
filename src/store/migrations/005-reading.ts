/** Creates the search index of emails and the table of links that show an email to others. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, columns: Columns): Promise<void> {
  const { id, text, integer, serial, bytes, clustered } = columns
  await schema
    .createTable('email_segments')
    .addColumn('id', serial, c => c.primaryKey())
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('after_id', id, c => c.notNull())
    .addColumn('last_id', id, c => c.notNull())
    .addColumn('earliest_at', integer, c => c.notNull())
    .addColumn('latest_at', integer, c => c.notNull())
    .addColumn('ids', bytes, c => c.notNull())
    .addColumn('subjects', bytes, c => c.notNull())
    .execute()
  await schema
    .createIndex('email_segments_account')
    .on('email_segments')
    .columns(['account_id', 'last_id'])
    .unique()
    .execute()
  await schema
    .createTable('email_segment_statuses')
    .addColumn('segment_id', integer, c => c.primaryKey())
    .addColumn('statuses', bytes, c => c.notNull())
    .execute()
  await schema
    .createTable('email_terms')
    .addColumn('segment_id', integer, c => c.notNull())
    .addColumn('term', text, c => c.notNull())
    .addColumn('ordinals', bytes, c => c.notNull())
    .addPrimaryKeyConstraint('email_terms_pk', ['segment_id', 'term'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createTable('email_shares')
    .addColumn('id', id, c => c.primaryKey())
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('email_id', id, c => c.notNull())
    .addColumn('token_hash', bytes, c => c.notNull().unique())
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('expires_at', integer, c => c.notNull())
    .execute()
  await schema
    .createIndex('email_shares_email')
    .on('email_shares')
    .columns(['account_id', 'email_id'])
    .execute()
}
