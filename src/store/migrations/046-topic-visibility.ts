/** Adds the visibility of topics. Existing topics stay visible to everybody, as they were before. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { text }: Columns): Promise<void> {
  await schema
    .alterTable('topics')
    .addColumn('visibility', text, c => c.notNull().defaultTo('public'))
    .execute()
}
