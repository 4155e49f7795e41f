/**
 * Adds aliases, default addresses, declared variables and drafts to templates. A template that exists counts
 * as published, which the API said of it before.
 */
import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { Columns } from './columns.ts'

export async function up(db: Kysely<unknown>, { text, integer }: Columns): Promise<void> {
  const { schema } = db
  for (const table of ['templates', 'template_versions'])
    for (const column of ['sender', 'reply_to_list', 'variables'])
      await schema.alterTable(table).addColumn(column, text).execute()
  await schema.alterTable('templates').addColumn('alias', text).execute()
  await schema.alterTable('templates').addColumn('published_at', integer).execute()
  await schema.alterTable('templates').addColumn('published_version', integer).execute()
  await sql`update templates set published_at = updated_at`.execute(db)
  await schema
    .createIndex('templates_alias')
    .on('templates')
    .columns(['account_id', 'alias'])
    .unique()
    .execute()
}
