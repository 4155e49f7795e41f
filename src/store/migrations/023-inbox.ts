/**
 * Adds marks of unread received mail, and creates the table of messages that belong to conversations. What is
 * stored already counts as read and belongs to none, so that no row is changed. Called by `migrate.ts`.
 */
import { type Kysely, sql } from 'kysely'
import type { Columns } from '../model/columns.ts'

export async function up(db: Kysely<unknown>, columns: Columns): Promise<void> {
  await addUnread(db, columns)
  await createThreadMessages(db, columns)
}

async function addUnread({ schema }: Kysely<unknown>, { flag }: Columns): Promise<void> {
  await schema
    .alterTable('inbound_subjects')
    .addColumn('unread', flag, c => c.notNull().defaultTo(0))
    .execute()
  await schema
    .createIndex('inbound_subjects_unread')
    .on('inbound_subjects')
    .columns(['account_id', 'id'])
    .where(sql<boolean>`unread = 1`)
    .execute()
}

async function createThreadMessages(
  { schema }: Kysely<unknown>,
  { id, bytes, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('thread_messages')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('thread', bytes, c => c.notNull())
    .addColumn('message', bytes)
    .addPrimaryKeyConstraint('thread_messages_key', ['account_id', 'id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createIndex('thread_messages_thread')
    .on('thread_messages')
    .columns(['account_id', 'thread', 'id'])
    .execute()
  await schema
    .createIndex('thread_messages_message')
    .on('thread_messages')
    .columns(['account_id', 'message', 'thread'])
    .where('message', 'is not', null)
    .execute()
}
