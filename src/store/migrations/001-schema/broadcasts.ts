/** Creates the tables of templates, broadcasts and tracking. */
import { type Kysely, sql } from 'kysely'
import type { Columns } from '../../model/columns.ts'

export async function broadcasts(db: Kysely<unknown>, columns: Columns): Promise<void> {
  await createTemplates(db, columns)
  await createBroadcasts(db, columns)
  await createTracking(db, columns)
}

async function createTemplates(
  { schema }: Kysely<unknown>,
  { id, text, integer, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('templates')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('name', text, c => c.notNull())
    .addColumn('folded_name', text, c => c.notNull())
    .addColumn('subject', text)
    .addColumn('content_id', integer, c => c.notNull())
    .addColumn('version_count', integer, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('updated_at', integer, c => c.notNull())
    .addColumn('sender', text)
    .addColumn('reply_to_list', text)
    .addColumn('variables', text)
    .addColumn('alias', text)
    .addColumn('published_at', integer)
    .addColumn('published_version', integer)
    .addPrimaryKeyConstraint('templates_pk', ['account_id', 'id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createIndex('templates_alias')
    .on('templates')
    .columns(['account_id', 'alias'])
    .unique()
    .execute()
  await schema
    .createTable('template_versions')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('template_id', id, c => c.notNull())
    .addColumn('version', integer, c => c.notNull())
    .addColumn('name', text, c => c.notNull())
    .addColumn('subject', text)
    .addColumn('content_id', integer, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('sender', text)
    .addColumn('reply_to_list', text)
    .addColumn('variables', text)
    .addPrimaryKeyConstraint('template_versions_pk', ['account_id', 'template_id', 'version'])
    .modifyEnd(clustered)
    .execute()
}

async function createBroadcasts(
  { schema }: Kysely<unknown>,
  { id, text, integer, bytes, clustered }: Columns,
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
    .addColumn('sent_subject', text)
    .addPrimaryKeyConstraint('broadcasts_pk', ['account_id', 'id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createIndex('broadcasts_due')
    .on('broadcasts')
    .column('next_at')
    .where(sql<boolean>`next_at is not null`)
    .execute()
  await schema
    .createTable('broadcast_pages')
    .addColumn('broadcast_id', id, c => c.notNull())
    .addColumn('number', integer, c => c.notNull())
    .addColumn('ids', bytes, c => c.notNull())
    .addPrimaryKeyConstraint('broadcast_pages_pk', ['broadcast_id', 'number'])
    .execute()
}

async function createTracking(
  { schema }: Kysely<unknown>,
  { id, text, integer, flag, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('link_terms')
    .addColumn('id', integer, c => c.primaryKey())
    .addColumn('base_url', text, c => c.notNull())
    .addColumn('track_opens', flag, c => c.notNull())
    .addColumn('track_clicks', flag, c => c.notNull())
    .addUniqueConstraint('link_terms_are_one', ['base_url', 'track_opens', 'track_clicks'])
    .execute()
  await schema
    .createTable('visits')
    .addColumn('email_id', id, c => c.notNull())
    .addColumn('ordinal', integer, c => c.notNull())
    .addColumn('link', integer, c => c.notNull())
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('count', integer, c => c.notNull())
    .addColumn('machine_count', integer, c => c.notNull())
    .addColumn('first_at', integer, c => c.notNull())
    .addColumn('last_at', integer, c => c.notNull())
    .addColumn('url', text)
    .addPrimaryKeyConstraint('visits_key', ['email_id', 'ordinal', 'link'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createTable('broadcast_links')
    .addColumn('broadcast_id', id, c => c.notNull())
    .addColumn('link', integer, c => c.notNull())
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('url', text, c => c.notNull())
    .addColumn('click_count', integer, c => c.notNull())
    .addColumn('unique_count', integer, c => c.notNull())
    .addColumn('machine_count', integer, c => c.notNull())
    .addPrimaryKeyConstraint('broadcast_links_key', ['broadcast_id', 'link'])
    .modifyEnd(clustered)
    .execute()
}
