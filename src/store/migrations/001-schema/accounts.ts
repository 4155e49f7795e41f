/** Creates the tables of accounts, users and credentials. */
import type { Kysely } from 'kysely'
import type { Columns } from '../../model/columns.ts'

export async function accounts(db: Kysely<unknown>, columns: Columns): Promise<void> {
  await createUsers(db, columns)
  await createSignInPlaces(db, columns)
  await createCredentials(db, columns)
}

async function createUsers(
  { schema }: Kysely<unknown>,
  { id, text, integer, flag, bytes }: Columns,
): Promise<void> {
  await schema
    .createTable('accounts')
    .addColumn('id', id, c => c.primaryKey())
    .addColumn('name', text, c => c.notNull())
    .addColumn('plan', text, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .execute()
  await schema
    .createTable('users')
    .addColumn('id', id, c => c.primaryKey())
    .addColumn('account_id', id, c => c.notNull().references('accounts.id'))
    .addColumn('email', text, c => c.notNull().unique())
    .addColumn('password_hash', text, c => c.notNull())
    .addColumn('operator', flag, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .execute()
  await schema.createIndex('users_account').on('users').columns(['account_id', 'id']).execute()
  await schema
    .createTable('sessions')
    .addColumn('id', id, c => c.primaryKey())
    .addColumn('user_id', id, c => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('token_hash', bytes, c => c.notNull().unique())
    .addColumn('kind', text, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('last_seen_at', integer, c => c.notNull())
    .execute()
  await schema.createIndex('sessions_user').on('sessions').column('user_id').execute()
  await schema.createIndex('sessions_seen').on('sessions').column('last_seen_at').execute()
}

/**
 * The client networks from which users have signed in, as keyed hashes: guesses by others do not delay
 * sign-in from there.
 */
async function createSignInPlaces(
  { schema }: Kysely<unknown>,
  { id, integer, bytes, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('sign_in_places')
    .addColumn('user_id', id, c => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('network_hash', bytes, c => c.notNull())
    .addColumn('last_at', integer, c => c.notNull())
    .addPrimaryKeyConstraint('sign_in_places_pk', ['user_id', 'network_hash'])
    .modifyEnd(clustered)
    .execute()
  await schema.createIndex('sign_in_places_last').on('sign_in_places').column('last_at').execute()
}

async function createCredentials(
  { schema }: Kysely<unknown>,
  { id, text, integer, flag, bytes }: Columns,
): Promise<void> {
  await schema
    .createTable('api_keys')
    .addColumn('id', id, c => c.primaryKey())
    .addColumn('account_id', id, c => c.notNull().references('accounts.id'))
    .addColumn('name', text, c => c.notNull())
    .addColumn('token_hash', bytes, c => c.notNull().unique())
    .addColumn('token_start', text, c => c.notNull())
    .addColumn('domain_id', id)
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('last_used_at', integer)
    .execute()
  await schema.createIndex('api_keys_account').on('api_keys').column('account_id').execute()
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
