/**
 * Creates the table of the recipients of a broadcast that no email tells about: those who were skipped, and
 * those who unsubscribed by it. Called by `migrate.ts`.
 */
import { type Kysely, sql } from 'kysely'
import type { Columns } from '../model/columns.ts'

export async function up({ schema }: Kysely<unknown>, { id, text, clustered }: Columns): Promise<void> {
  await schema
    .createTable('broadcast_outcomes')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('broadcast_id', id, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('email', text)
    .addColumn('skip_reason', text)
    .addPrimaryKeyConstraint('broadcast_outcomes_key', ['account_id', 'broadcast_id', 'id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createIndex('broadcast_outcomes_unsubscribed')
    .on('broadcast_outcomes')
    .columns(['account_id', 'broadcast_id', 'email'])
    .unique()
    .where(sql<boolean>`skip_reason is null`)
    .execute()
}
