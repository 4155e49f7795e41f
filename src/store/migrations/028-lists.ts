/** Adds packed records of completed mail, and the table of opt-outs by address, which outlive contacts. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up(
  { schema }: Kysely<unknown>,
  { id, text, integer, bytes, clustered }: Columns,
): Promise<void> {
  await schema.alterTable('deliveries').addColumn('proof', bytes).execute()
  await schema.alterTable('attempts').addColumn('record', bytes).execute()
  await schema.alterTable('events').addColumn('packed', bytes).execute()
  await schema.alterTable('former_dkim_keys').addColumn('private_key', bytes).execute()
  await schema
    .createTable('opt_outs')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('email', text, c => c.notNull())
    .addColumn('scope', bytes, c => c.notNull())
    .addColumn('said_at', integer, c => c.notNull())
    .addPrimaryKeyConstraint('opt_outs_pk', ['account_id', 'email', 'scope'])
    .modifyEnd(clustered)
    .execute()
  await schema.createIndex('opt_outs_scope').on('opt_outs').columns(['scope', 'email']).execute()
}
