/** Sessions that nobody uses any more are found by when they were last used. */
import type { Kysely } from 'kysely'

export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createIndex('sessions_seen').on('sessions').column('last_seen_at').execute()
}
