/** Adds access tokens, the credentials of programs that manage an account. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up(
  { schema }: Kysely<unknown>,
  { id, bytes, text, integer, flag }: Columns,
): Promise<void> {
  await schema
    .createTable('access_tokens')
    .addColumn('id', id, c => c.primaryKey())
    .addColumn('account_id', id, c => c.notNull().references('accounts.id'))
    // no foreign key: a deleted creator must not turn into "created on the command line"
    .addColumn('user_id', id)
    .addColumn('name', text, c => c.notNull())
    .addColumn('token_hash', bytes, c => c.notNull().unique())
    .addColumn('token_start', text, c => c.notNull())
    .addColumn('scopes', text, c => c.notNull())
    .addColumn('operator', flag, c => c.notNull())
    .addColumn('networks', text)
    .addColumn('expires_at', integer)
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('last_used_at', integer)
    .execute()
  await schema.createIndex('access_tokens_account').on('access_tokens').column('account_id').execute()
}
