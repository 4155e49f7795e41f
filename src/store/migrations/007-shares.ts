/** Indexes links to emails by the time at which they expire. */
import type { Kysely } from 'kysely'

export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createIndex('email_shares_expires').on('email_shares').column('expires_at').execute()
}
