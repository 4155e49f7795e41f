/** Indexes sessions by the time of their last use. */
import type { Kysely } from 'kysely'

export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createIndex('sessions_seen').on('sessions').column('last_seen_at').execute()
}
