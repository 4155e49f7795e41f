/** Creates the tables of mail received for customers' domains. */
import { type Kysely, sql } from 'kysely'
import type { Columns } from './columns.ts'

const VERDICTS = ['spam_verdict', 'virus_verdict', 'spf_verdict', 'dkim_verdict', 'dmarc_verdict'] as const
const LISTS = ['from_list', 'to_list', 'cc_list', 'bcc_list', 'reply_to_list'] as const

export async function up({ schema }: Kysely<unknown>, columns: Columns): Promise<void> {
  const { id, bytes, text, integer, clustered } = columns
  let messages = schema
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
  for (const list of LISTS) messages = messages.addColumn(list, text)
  for (const verdict of VERDICTS)
    messages = messages.addColumn(verdict, text, c => c.notNull().defaultTo('DISABLED'))
  await messages
    .addColumn('verdict_detail', text)
    .addColumn('authentication_results', text)
    .addColumn('attachments', text)
    .addColumn('content_id', integer)
    .addPrimaryKeyConstraint('inbound_messages_pk', ['account_id', 'id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createIndex('inbound_messages_unlisted')
    .on('inbound_messages')
    .column('id')
    .where(sql`listed_at`, 'is', sql`null`)
    .execute()
  await schema
    .createIndex('inbound_messages_source')
    .on('inbound_messages')
    .columns(['source_email_id', 'source_ordinal'])
    .unique()
    .where(sql`source_email_id`, 'is not', sql`null`)
    .execute()
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
