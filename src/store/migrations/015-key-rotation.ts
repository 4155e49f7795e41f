/**
 * Adds the rotation of DKIM keys: revoked keys, former keys, and domains whose keys are to be rotated early.
 */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { id, text, integer }: Columns): Promise<void> {
  await schema.alterTable('dkim_keys').addColumn('revoked_at', integer).execute()
  await schema
    .createTable('former_dkim_keys')
    .addColumn('id', id, c => c.primaryKey())
    .addColumn('domain_id', id, c => c.notNull().references('domains.id').onDelete('cascade'))
    .addColumn('token', text, c => c.notNull())
    .addColumn('algorithm', text, c => c.notNull())
    .addColumn('public_key', text, c => c.notNull())
    .addColumn('retired_at', integer, c => c.notNull())
    .execute()
  await schema.createIndex('former_dkim_keys_domain').on('former_dkim_keys').column('domain_id').execute()
  await schema
    .createTable('key_rotations')
    .addColumn('domain_id', id, c => c.primaryKey().references('domains.id').onDelete('cascade'))
    .addColumn('wanted_at', integer, c => c.notNull())
    .execute()
}
