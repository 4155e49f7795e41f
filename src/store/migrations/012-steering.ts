/** Creates the tables of holds and of the replies of destinations, and an index of held deliveries. */
import { type Kysely, sql } from 'kysely'
import type { Columns } from './columns.ts'

export async function up(
  { schema }: Kysely<unknown>,
  { id, text, integer, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('queue_holds')
    .addColumn('id', id, c => c.primaryKey())
    .addColumn('domain', text)
    .addColumn('account_id', id)
    .addColumn('broadcast_id', id)
    .addColumn('email_id', id)
    .addColumn('reason', text)
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('released_at', integer)
    .execute()
  await schema
    .createIndex('deliveries_held')
    .on('deliveries')
    .columns(['email_id', 'ordinal', 'domain', 'class', 'account_id'])
    .where(sql`state`, '=', sql`4`)
    .execute()
  await schema
    .createTable('domain_sites')
    .addColumn('domain', text, c => c.primaryKey())
    .addColumn('site', text, c => c.notNull())
    .addColumn('seen_at', integer, c => c.notNull())
    .modifyEnd(clustered)
    .execute()
  await schema
    .createTable('destination_replies')
    .addColumn('day', text, c => c.notNull())
    .addColumn('site', text, c => c.notNull())
    .addColumn('form', text, c => c.notNull())
    .addColumn('example', text, c => c.notNull())
    .addColumn('result', text, c => c.notNull())
    .addColumn('class', text, c => c.notNull())
    .addColumn('count', integer, c => c.notNull())
    .addColumn('last_at', integer, c => c.notNull())
    .addPrimaryKeyConstraint('destination_replies_pk', ['day', 'site', 'form'])
    .modifyEnd(clustered)
    .execute()
}
