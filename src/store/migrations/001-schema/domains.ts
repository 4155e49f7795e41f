/** Creates the tables of domains, their DKIM keys and claims to them. */
import { type Kysely, sql } from 'kysely'
import type { Columns } from '../../model/columns.ts'

export async function domains(db: Kysely<unknown>, columns: Columns): Promise<void> {
  await createDomains(db, columns)
  await createDeletedDomains(db, columns)
  await createKeys(db, columns)
}

async function createDomains(
  { schema }: Kysely<unknown>,
  { id, text, integer, flag }: Columns,
): Promise<void> {
  await schema
    .createTable('domains')
    .addColumn('id', id, c => c.primaryKey())
    .addColumn('account_id', id, c => c.notNull().references('accounts.id'))
    .addColumn('name', text, c => c.notNull())
    .addColumn('region', text, c => c.notNull())
    .addColumn('status', text, c => c.notNull())
    .addColumn('verification_token', text, c => c.notNull())
    .addColumn('open_tracking', flag, c => c.notNull())
    .addColumn('click_tracking', flag, c => c.notNull())
    .addColumn('receiving', flag, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('verified_at', integer)
    .addColumn('last_checked_at', integer)
    .addColumn('failing_since', integer)
    .addColumn('checks', text)
    .addColumn('tls', text, c => c.notNull().defaultTo('opportunistic'))
    .addColumn('check_at', integer)
    .addColumn('tracking_subdomain', text)
    .addColumn('tracking_terms', integer)
    .addColumn('sending', flag, c => c.notNull().defaultTo(1))
    .addColumn('claimed_at', integer)
    .addUniqueConstraint('domains_of_account', ['account_id', 'name'])
    .execute()
  await schema
    .createIndex('domains_verified')
    .on('domains')
    .column('name')
    .unique()
    .where(sql<boolean>`status in ('verified', 'temporary_failure')`)
    .execute()
  await schema
    .createIndex('domains_check')
    .on('domains')
    .column('check_at')
    .where(sql<boolean>`check_at is not null`)
    .execute()
  await schema
    .createIndex('domains_claimed')
    .on('domains')
    .column('name')
    .where(sql<boolean>`claimed_at is not null`)
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

/** Deleted domains whose mail has not been processed yet. */
async function createDeletedDomains(
  { schema }: Kysely<unknown>,
  { id, text, integer, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('deleted_domains')
    .addColumn('id', id, c => c.primaryKey())
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('name', text, c => c.notNull())
    .addColumn('deleted_at', integer, c => c.notNull())
    .modifyEnd(clustered)
    .execute()
}

async function createKeys({ schema }: Kysely<unknown>, { id, text, integer, bytes }: Columns): Promise<void> {
  await schema
    .createTable('dkim_keys')
    .addColumn('id', id, c => c.primaryKey())
    .addColumn('domain_id', id, c => c.notNull().references('domains.id').onDelete('cascade'))
    .addColumn('slot', integer, c => c.notNull())
    .addColumn('token', text, c => c.notNull().unique())
    .addColumn('algorithm', text, c => c.notNull())
    .addColumn('public_key', text, c => c.notNull())
    .addColumn('private_key', bytes, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('active_from', integer)
    .addColumn('retired_at', integer)
    .addColumn('revoked_at', integer)
    .execute()
  await schema.createIndex('dkim_keys_domain').on('dkim_keys').column('domain_id').execute()
  await schema
    .createTable('former_dkim_keys')
    .addColumn('id', id, c => c.primaryKey())
    .addColumn('domain_id', id, c => c.notNull().references('domains.id').onDelete('cascade'))
    .addColumn('token', text, c => c.notNull())
    .addColumn('algorithm', text, c => c.notNull())
    .addColumn('public_key', text, c => c.notNull())
    .addColumn('retired_at', integer, c => c.notNull())
    .addColumn('private_key', bytes)
    .execute()
  await schema.createIndex('former_dkim_keys_domain').on('former_dkim_keys').column('domain_id').execute()
  await schema
    .createTable('key_rotations')
    .addColumn('domain_id', id, c => c.primaryKey().references('domains.id').onDelete('cascade'))
    .addColumn('wanted_at', integer, c => c.notNull())
    .execute()
}
