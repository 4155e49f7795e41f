/** Creates the tables of broadcasts and their remaining members, and adds the variables of an email. */
import { type Kysely, sql } from 'kysely'
import type { Columns } from './columns.ts'

export async function up(db: Kysely<unknown>, columns: Columns): Promise<void> {
  await createBroadcasts(db, columns)
  const { schema } = db
  const { id, integer, bytes, text, flag } = columns
  await schema
    .createTable('broadcast_pages')
    .addColumn('broadcast_id', id, c => c.notNull())
    .addColumn('number', integer, c => c.notNull())
    .addColumn('ids', bytes, c => c.notNull())
    .addPrimaryKeyConstraint('broadcast_pages_pk', ['broadcast_id', 'number'])
    .execute()
  await schema.alterTable('emails').addColumn('variables', text).execute()
  await schema
    .alterTable('queue_holds')
    .addColumn('is_pause', flag, c => c.notNull().defaultTo(0))
    .execute()
}

async function createBroadcasts(
  { schema }: Kysely<unknown>,
  { id, text, integer, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('broadcasts')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('name', text, c => c.notNull())
    .addColumn('folded_name', text, c => c.notNull())
    .addColumn('audience_id', id, c => c.notNull())
    .addColumn('segment_id', id)
    .addColumn('topic_id', id)
    .addColumn('template_id', id)
    .addColumn('sender', text, c => c.notNull())
    .addColumn('reply_to_list', text)
    .addColumn('subject', text, c => c.notNull())
    .addColumn('preview_text', text)
    .addColumn('content_id', integer, c => c.notNull())
    .addColumn('status', text, c => c.notNull())
    .addColumn('error', text)
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('updated_at', integer, c => c.notNull())
    .addColumn('scheduled_at', integer)
    .addColumn('started_at', integer)
    .addColumn('sent_at', integer)
    .addColumn('next_at', integer)
    .addColumn('sent_content_id', integer)
    .addColumn('variables', text)
    .addColumn('filters', text)
    .addColumn('to_contact_id', id)
    .addColumn('last_contact_id', id)
    .addColumn('counted_at', integer)
    .addColumn('member_count', integer, c => c.notNull())
    .addColumn('expanded_count', integer, c => c.notNull())
    .addColumn('expanded_at', integer)
    .addColumn('first_email_id', id)
    .addColumn('last_email_id', id)
    .addColumn('hold_id', id)
    .addColumn('canceled_to', id)
    .addPrimaryKeyConstraint('broadcasts_pk', ['account_id', 'id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createIndex('broadcasts_due')
    .on('broadcasts')
    .column('next_at')
    .where(sql`next_at`, 'is not', null)
    .execute()
}
