/** Creates the tables of webhooks and their deliveries. */
import { type Kysely, sql } from 'kysely'
import type { Columns } from '../../model/columns.ts'

export async function webhooks(db: Kysely<unknown>, columns: Columns): Promise<void> {
  await createWebhooks(db, columns)
}

async function createWebhooks(
  { schema }: Kysely<unknown>,
  { id, text, integer, flag, bytes }: Columns,
): Promise<void> {
  await schema
    .createTable('webhooks')
    .addColumn('id', id, c => c.primaryKey())
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('url', text, c => c.notNull())
    .addColumn('events', text, c => c.notNull())
    .addColumn('secret', bytes, c => c.notNull())
    .addColumn('former_secret', bytes)
    .addColumn('former_until', integer)
    .addColumn('standard', flag, c => c.notNull())
    .addColumn('enabled', flag, c => c.notNull())
    .addColumn('failing_since', integer)
    .addColumn('disabled_at', integer)
    .addColumn('disabled_reason', text)
    .addColumn('notice_due', flag, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('earlier_secret', bytes)
    .addColumn('earlier_until', integer)
    .addColumn('domain_ids', text)
    .addColumn('dialect', text)
    .execute()
  await schema.createIndex('webhooks_account').on('webhooks').columns(['account_id', 'id']).execute()
  await schema
    .createIndex('webhooks_notices')
    .on('webhooks')
    .column('id')
    .where(sql<boolean>`notice_due = 1`)
    .execute()
  await schema
    .createTable('webhook_deliveries')
    .addColumn('webhook_id', id, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('event_id', id, c => c.notNull())
    .addColumn('event_type', text, c => c.notNull())
    .addColumn('body', text, c => c.notNull())
    .addColumn('is_test', flag, c => c.notNull())
    .addColumn('state', integer, c => c.notNull())
    .addColumn('success', flag, c => c.notNull())
    .addColumn('attempts', integer, c => c.notNull())
    .addColumn('next_at', integer, c => c.notNull())
    .addColumn('lease_until', integer)
    .addColumn('last_attempt_at', integer)
    .addColumn('duration_ms', integer)
    .addColumn('url', text)
    .addColumn('response_status', integer)
    .addColumn('response_body', text)
    .addColumn('error', text)
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('attempt_log', text)
    .addPrimaryKeyConstraint('webhook_deliveries_pk', ['webhook_id', 'id'])
    .execute()
  await schema
    .createIndex('webhook_deliveries_due')
    .on('webhook_deliveries')
    .columns(['webhook_id', 'next_at'])
    .where(sql<boolean>`state = 0`)
    .execute()
  await schema
    .createIndex('webhook_deliveries_done')
    .on('webhook_deliveries')
    .columns(['webhook_id', 'id'])
    .where(sql<boolean>`state = 1`)
    .execute()
}
