/** Adds the time of the next check of a domain, and deleted domains whose mail has not been processed yet. */
import { type Kysely, sql } from 'kysely'
import type { Columns } from './columns.ts'

export async function up(db: Kysely<unknown>, { id, text, integer, clustered }: Columns): Promise<void> {
  const { schema } = db
  await schema.alterTable('domains').addColumn('check_at', integer).execute()
  // existing domains are checked at the next start
  await sql`update domains set check_at = created_at`.execute(db)
  await schema
    .createIndex('domains_check')
    .on('domains')
    .column('check_at')
    .where(sql`check_at`, 'is not', null)
    .execute()
  await schema
    .createTable('deleted_domains')
    .addColumn('id', id, c => c.primaryKey())
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('name', text, c => c.notNull())
    .addColumn('deleted_at', integer, c => c.notNull())
    .modifyEnd(clustered)
    .execute()
}
