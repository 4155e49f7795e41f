/** Adds delivery status notifications (RFC 3461): what clients request, and the notifications to send. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up(
  { schema }: Kysely<unknown>,
  { id, text, integer, clustered }: Columns,
): Promise<void> {
  await schema.alterTable('emails').addColumn('dsn', text).execute()
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
