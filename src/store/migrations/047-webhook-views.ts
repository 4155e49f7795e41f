/**
 * Adds the second former secret of a webhook, its limit to domains, and the log of the attempts of a
 * delivery. Adds to domains whether mail may be sent from them.
 */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up(
  { schema }: Kysely<unknown>,
  { bytes, integer, text, flag }: Columns,
): Promise<void> {
  await schema.alterTable('webhooks').addColumn('earlier_secret', bytes).execute()
  await schema.alterTable('webhooks').addColumn('earlier_until', integer).execute()
  await schema.alterTable('webhooks').addColumn('domain_ids', text).execute()
  await schema.alterTable('webhook_deliveries').addColumn('attempt_log', text).execute()
  await schema
    .alterTable('domains')
    .addColumn('sending', flag, c => c.notNull().defaultTo(1))
    .execute()
}
