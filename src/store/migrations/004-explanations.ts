/**
 * Adds what explains the state of a delivery: the cause of its last result, the time of its lease, and who
 * has set a hold. Called by `migrate.ts`.
 */
import { type Kysely, sql } from 'kysely'
import type { Columns } from '../model/columns.ts'

export async function up(db: Kysely<unknown>, { text, integer }: Columns): Promise<void> {
  await db.schema.alterTable('deliveries').addColumn('cause', text).execute()
  await db.schema.alterTable('deliveries').addColumn('leased_at', integer).execute()
  await db.schema
    .alterTable('queue_holds')
    .addColumn('origin', text, c => c.notNull().defaultTo('operator'))
    .execute()
  await sql`update queue_holds set origin = 'account' where is_pause = 1`.execute(db)
  await sql`update queue_holds set origin = 'automatic'
    where reason like 'paused by itself:%' or reason like 'the service ended in the middle of an attempt%'`.execute(
    db,
  )
}
