/** Adds the import and its row that a contact came from, and the name of the file. Called by `migrate.ts`. */
import type { Kysely } from 'kysely'
import type { Columns } from '../model/columns.ts'

export async function up({ schema }: Kysely<unknown>, { id, integer, text }: Columns): Promise<void> {
  await schema.alterTable('contacts').addColumn('import_id', id).execute()
  await schema.alterTable('contacts').addColumn('import_row', integer).execute()
  await schema.alterTable('contact_imports').addColumn('file_name', text).execute()
}
