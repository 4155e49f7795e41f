/** Adds columns and indexes for quotas, retention and suppressions. */
import { type Kysely, sql } from 'kysely'
import type { Columns } from './columns.ts'

export async function up(db: Kysely<unknown>, { id, integer }: Columns): Promise<void> {
  const { schema } = db
  await schema.alterTable('emails').addColumn('ended_at', integer).execute()
  await sql`
    update emails set ended_at = coalesce(last_event_at, created_at)
    where not exists (select 1 from deliveries where email_id = emails.id and state <> 2)`.execute(db)
  await schema
    .createIndex('emails_ended')
    .on('emails')
    .columns(['account_id', 'ended_at'])
    .where(sql`ended_at`, 'is not', sql`null`)
    .execute()
  await schema.createIndex('users_account').on('users').columns(['account_id', 'id']).execute()
  await schema.alterTable('suppressions').addColumn('source_id', id).execute()
  await schema
    .createIndex('suppressions_listed')
    .on('suppressions')
    .columns(['account_id', 'id', 'reason', 'email'])
    .execute()
  await sql`
    insert into counters (account_id, kind, period, count)
    select account_id, 'suppressions.' || reason, '', count(*) from suppressions group by account_id, reason`.execute(
    db,
  )
}
