/** Creates the tables of emails, their contents and the search index. */
import { type Kysely, sql } from 'kysely'
import type { Columns } from '../../model/columns.ts'

export async function emails(db: Kysely<unknown>, columns: Columns): Promise<void> {
  await createContents(db, columns)
  await createEmails(db, columns)
  await createReferences(db, columns)
  await createSearchIndex(db, columns)
}

/**
 * Large blobs are files with SQLite. With a database that several machines share, they are stored in pieces.
 */
async function createContents(
  { schema }: Kysely<unknown>,
  { text, integer, bytes, serial, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('contents')
    .addColumn('id', serial, c => c.primaryKey())
    .addColumn('size_bytes', integer, c => c.notNull())
    .addColumn('encoding', text, c => c.notNull())
    .addColumn('body', bytes, c => c.notNull())
    .addColumn('refs', integer, c => c.notNull())
    .execute()
  await schema
    .createTable('blobs')
    .addColumn('hash', bytes, c => c.primaryKey())
    .addColumn('size_bytes', integer, c => c.notNull())
    .addColumn('body', bytes)
    .addColumn('refs', integer, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .execute()
  await schema
    .createTable('blob_pieces')
    .addColumn('hash', bytes, c => c.notNull())
    .addColumn('number', integer, c => c.notNull())
    .addColumn('staged_at', integer, c => c.notNull())
    .addColumn('body', bytes, c => c.notNull())
    .addPrimaryKeyConstraint('blob_pieces_pk', ['hash', 'number'])
    .modifyEnd(clustered)
    .execute()
}

/**
 * The table is clustered by account and id, and thereby by account and time, so that lists and retention read
 * adjacent rows.
 */
async function createEmails(
  { schema }: Kysely<unknown>,
  { id, text, integer, flag, bytes, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('emails')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('domain_id', id)
    .addColumn('api_key_id', id)
    .addColumn('sender', text, c => c.notNull())
    .addColumn('to_list', text)
    .addColumn('cc_list', text)
    .addColumn('bcc_list', text)
    .addColumn('reply_to_list', text)
    .addColumn('subject', text, c => c.notNull())
    .addColumn('content_id', integer, c => c.notNull())
    .addColumn('headers', text)
    .addColumn('attachments', text)
    .addColumn('tags', text)
    .addColumn('message_id', text, c => c.notNull())
    .addColumn('status', text, c => c.notNull())
    .addColumn('recipient_count', integer, c => c.notNull())
    .addColumn('feedback', flag, c => c.notNull())
    .addColumn('error', text)
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('scheduled_at', integer)
    .addColumn('sent_at', integer)
    .addColumn('last_event_at', integer)
    .addColumn('open_count', integer, c => c.notNull().defaultTo(0))
    .addColumn('click_count', integer, c => c.notNull().defaultTo(0))
    .addColumn('broadcast_id', id)
    .addColumn('template_id', id)
    .addColumn('topic_id', id)
    .addColumn('ended_at', integer)
    .addColumn('raw', bytes)
    .addColumn('variables', text)
    .addColumn('link_terms_id', integer)
    .addColumn('simulated', flag, c => c.notNull().defaultTo(0))
    .addColumn('dsn', text)
    .addPrimaryKeyConstraint('emails_pk', ['account_id', 'id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createIndex('emails_ended')
    .on('emails')
    .columns(['account_id', 'ended_at'])
    .where(sql<boolean>`ended_at is not null`)
    .execute()
  await schema
    .createIndex('emails_scheduled')
    .on('emails')
    .column('scheduled_at')
    .where(sql<boolean>`status = 'scheduled'`)
    .execute()
}

async function createReferences(
  { schema }: Kysely<unknown>,
  { id, text, integer, bytes, clustered }: Columns,
): Promise<void> {
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
  await schema.createIndex('email_shares_expires').on('email_shares').column('expires_at').execute()
  await schema
    .createTable('idempotency_keys')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('endpoint', text, c => c.notNull())
    .addColumn('key', text, c => c.notNull())
    .addColumn('body_hash', bytes, c => c.notNull())
    .addColumn('response', text, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .addPrimaryKeyConstraint('idempotency_keys_pk', ['account_id', 'endpoint', 'key'])
    .modifyEnd(clustered)
    .execute()
  await schema.createIndex('idempotency_keys_created').on('idempotency_keys').column('created_at').execute()
}

async function createSearchIndex(
  { schema }: Kysely<unknown>,
  { id, text, integer, bytes, serial, clustered }: Columns,
): Promise<void> {
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
}
