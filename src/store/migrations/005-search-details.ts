/**
 * Adds names, addresses, tags and Message-IDs to the search index. Index blocks are removed, and sealed anew
 * in the background; until then their emails are searched one by one. Called by `migrate.ts`.
 */
import { type Kysely, sql } from 'kysely'
import type { Columns } from '../model/columns.ts'

export async function up(db: Kysely<unknown>, { bytes }: Columns): Promise<void> {
  for (const table of ['email_terms', 'email_segment_statuses', 'email_segments'])
    await sql`delete from ${sql.table(table)}`.execute(db)
  await db.schema
    .alterTable('email_segments')
    .addColumn('details', bytes, c => c.notNull().defaultTo(''))
    .execute()
}
