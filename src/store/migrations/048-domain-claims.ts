/** Creates the table of claims to domains of other accounts, and marks the domains that were claimed. */
import { type Kysely, sql } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { id, text, integer }: Columns): Promise<void> {
  await schema.alterTable('domains').addColumn('claimed_at', integer).execute()
  await schema
    .createIndex('domains_claimed')
    .on('domains')
    .column('name')
    .where(sql`claimed_at`, 'is not', null)
    .execute()
  await schema
    .createTable('domain_claims')
    .addColumn('id', id, c => c.primaryKey())
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('domain_id', id, c => c.notNull().references('domains.id').onDelete('cascade'))
    .addColumn('token', text, c => c.notNull())
    .addColumn('status', text, c => c.notNull())
    .addColumn('failure', text)
    .addColumn('proven_at', integer)
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('expires_at', integer, c => c.notNull())
    .execute()
  await schema.createIndex('domain_claims_domain').on('domain_claims').columns(['domain_id', 'id']).execute()
}
