/** Creates the tables of certificates from an authority: accounts, certificates and challenges. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { bytes, text, integer }: Columns): Promise<void> {
  await schema
    .createTable('acme_accounts')
    .addColumn('directory_url', text, c => c.primaryKey())
    .addColumn('key', bytes, c => c.notNull())
    .addColumn('url', text)
    .addColumn('created_at', integer, c => c.notNull())
    .execute()
  await schema
    .createTable('certificates')
    .addColumn('host', text, c => c.primaryKey())
    .addColumn('directory_url', text, c => c.notNull())
    .addColumn('names', text, c => c.notNull())
    .addColumn('chain', text)
    .addColumn('key', bytes)
    .addColumn('starts_at', integer)
    .addColumn('ends_at', integer)
    .addColumn('next_at', integer, c => c.notNull())
    .addColumn('order_url', text)
    .addColumn('order_key', bytes)
    .addColumn('failures', integer, c => c.notNull())
    .addColumn('fault', text)
    .addColumn('failed_at', integer)
    .addColumn('lease_owner', text)
    .addColumn('lease_until', integer, c => c.notNull())
    .execute()
  await schema
    .createTable('acme_challenges')
    .addColumn('token', text, c => c.primaryKey())
    .addColumn('type', text, c => c.notNull())
    .addColumn('name', text, c => c.notNull())
    .addColumn('answer', text, c => c.notNull())
    .addColumn('expires_at', integer, c => c.notNull())
    .execute()
  await schema.createIndex('acme_challenges_of_name').on('acme_challenges').column('name').execute()
}
