/** Indexes scheduled emails by their time, and idempotency keys by their age. */
import { type Kysely, sql } from 'kysely'

export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createIndex('emails_scheduled')
    .on('emails')
    .column('scheduled_at')
    .where(sql`status`, '=', sql`'scheduled'`)
    .execute()
  await schema.createIndex('idempotency_keys_created').on('idempotency_keys').column('created_at').execute()
}
