/** Creates the tables of the routes of received mail, and of their logs. Called by `migrate.ts`. */
import type { Kysely } from 'kysely'
import type { Columns } from '../model/columns.ts'

export async function up({ schema }: Kysely<unknown>, columns: Columns): Promise<void> {
  const { id, text, integer, clustered } = columns
  await schema
    .createTable('inbound_routes')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('position', integer, c => c.notNull())
    .addColumn('pattern', text, c => c.notNull())
    .addColumn('action', text, c => c.notNull())
    .addColumn('webhook_id', id)
    .addColumn('forward_to', text)
    .addPrimaryKeyConstraint('inbound_routes_key', ['account_id', 'id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createTable('inbound_route_log')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('route_id', id, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('message_id', id)
    .addColumn('sender', text, c => c.notNull())
    .addColumn('recipient', text, c => c.notNull())
    .addColumn('subject', text, c => c.notNull())
    .addColumn('outcome', text, c => c.notNull())
    .addColumn('reason', text)
    .addColumn('email_id', id)
    .addPrimaryKeyConstraint('inbound_route_log_key', ['account_id', 'id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createIndex('inbound_route_log_route')
    .on('inbound_route_log')
    .columns(['account_id', 'route_id', 'id'])
    .execute()
}
