/**
 * The client networks from which users have signed in, as keyed hashes: guesses by others do not delay
 * sign-in from there.
 */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up(
  { schema }: Kysely<unknown>,
  { id, bytes, integer, clustered }: Columns,
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
