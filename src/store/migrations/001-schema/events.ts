/** Creates the tables of what happens to emails: events, reports, notifications and suppressions. */
import type { Kysely } from 'kysely'
import type { Columns } from '../../model/columns.ts'

export async function events(db: Kysely<unknown>, columns: Columns): Promise<void> {
  await createEvents(db, columns)
  await createReports(db, columns)
}

async function createEvents(
  { schema }: Kysely<unknown>,
  { id, text, integer, bytes, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('events')
    .addColumn('subject_id', id, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('type', text, c => c.notNull())
    .addColumn('recipient', text)
    .addColumn('data', text, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('packed', bytes)
    .addPrimaryKeyConstraint('events_pk', ['subject_id', 'id'])
    .modifyEnd(clustered)
    .execute()
  await schema.createIndex('events_of_account').on('events').columns(['account_id', 'id']).execute()
  await schema
    .createTable('counters')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('kind', text, c => c.notNull())
    .addColumn('period', text, c => c.notNull())
    .addColumn('count', integer, c => c.notNull())
    .addPrimaryKeyConstraint('counters_pk', ['account_id', 'kind', 'period'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createTable('suppressions')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('email', text, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('reason', text, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('source_id', id)
    .addPrimaryKeyConstraint('suppressions_pk', ['account_id', 'email'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createIndex('suppressions_listed')
    .on('suppressions')
    .columns(['account_id', 'id', 'reason', 'email'])
    .execute()
}

/**
 * Received reports with the message and the parsed fields, and delivery status notifications to be sent (RFC
 * 3461).
 */
async function createReports(
  { schema }: Kysely<unknown>,
  { id, text, integer, bytes, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('reports')
    .addColumn('id', id, c => c.primaryKey())
    .addColumn('received_at', integer, c => c.notNull())
    .addColumn('address_kind', text, c => c.notNull())
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
  await schema
    .createTable('dsn_notices')
    .addColumn('email_id', id, c => c.notNull())
    .addColumn('ordinal', integer, c => c.notNull())
    .addColumn('action', text, c => c.notNull())
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('facts', text, c => c.notNull())
    .addColumn('at', integer, c => c.notNull())
    .addColumn('sent_at', integer)
    .addPrimaryKeyConstraint('dsn_notices_pk', ['email_id', 'ordinal', 'action'])
    .modifyEnd(clustered)
    .execute()
}
