/** Creates the tables of mail received for customers' domains. */
import { type Kysely, sql } from 'kysely'
import type { Columns } from '../../model/columns.ts'

export async function inbound(db: Kysely<unknown>, columns: Columns): Promise<void> {
  await createInboundMessages(db, columns)
  await createInboundSubjects(db, columns)
}

async function createInboundMessages(
  { schema }: Kysely<unknown>,
  { id, text, integer, bytes, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('inbound_messages')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('domain_id', id, c => c.notNull())
    .addColumn('sender', text, c => c.notNull())
    .addColumn('recipients', text, c => c.notNull())
    .addColumn('client_ip', text)
    .addColumn('helo', text)
    .addColumn('tls', text)
    .addColumn('size_bytes', integer, c => c.notNull())
    .addColumn('raw_hash', bytes, c => c.notNull())
    .addColumn('source_email_id', id)
    .addColumn('source_ordinal', integer)
    .addColumn('listed_at', integer)
    .addColumn('parse_error', text)
    .addColumn('subject', text, c => c.notNull().defaultTo(''))
    .addColumn('message_id', text)
    .addColumn('from_list', text)
    .addColumn('to_list', text)
    .addColumn('cc_list', text)
    .addColumn('bcc_list', text)
    .addColumn('reply_to_list', text)
    .addColumn('spam_verdict', text, c => c.notNull().defaultTo('DISABLED'))
    .addColumn('virus_verdict', text, c => c.notNull().defaultTo('DISABLED'))
    .addColumn('spf_verdict', text, c => c.notNull().defaultTo('DISABLED'))
    .addColumn('dkim_verdict', text, c => c.notNull().defaultTo('DISABLED'))
    .addColumn('dmarc_verdict', text, c => c.notNull().defaultTo('DISABLED'))
    .addColumn('verdict_detail', text)
    .addColumn('authentication_results', text)
    .addColumn('attachments', text)
    .addColumn('content_id', integer)
    .addColumn('reading_at', integer)
    .addColumn('reading_count', integer, c => c.notNull().defaultTo(0))
    .addColumn('automatic', text)
    .addPrimaryKeyConstraint('inbound_messages_pk', ['account_id', 'id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createIndex('inbound_messages_unlisted')
    .on('inbound_messages')
    .column('id')
    .where(sql<boolean>`listed_at is null`)
    .execute()
  await schema
    .createIndex('inbound_messages_source')
    .on('inbound_messages')
    .columns(['source_email_id', 'source_ordinal'])
    .unique()
    .where(sql<boolean>`source_email_id is not null`)
    .execute()
  await schema
    .createIndex('inbound_messages_unlisted_large')
    .on('inbound_messages')
    .columns(['account_id', 'id'])
    .where(sql<boolean>`listed_at is null and size_bytes > 65536`)
    .execute()
}

async function createInboundSubjects(
  { schema }: Kysely<unknown>,
  { id, text, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('inbound_subjects')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('subject', text, c => c.notNull())
    .addColumn('domains', text, c => c.notNull())
    .addPrimaryKeyConstraint('inbound_subjects_pk', ['account_id', 'id'])
    .modifyEnd(clustered)
    .execute()
}
