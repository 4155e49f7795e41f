/**
 * Creates the table of rate limits of destinations. Emails are also found by API key and by source, so the
 * index blocks are deleted; the service builds them again after its start.
 */
import { type Kysely, sql } from 'kysely'
import type { Columns } from './columns.ts'

export async function up(db: Kysely<unknown>, { text, integer, clustered }: Columns): Promise<void> {
  await db.schema
    .createTable('site_caps')
    .addColumn('site', text, c => c.primaryKey())
    .addColumn('per_minute', integer, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .modifyEnd(clustered)
    .execute()
  for (const table of ['email_terms', 'email_segment_statuses', 'email_segments'])
    await sql`delete from ${sql.table(table)}`.execute(db)
}
