/** Creates the table of names, colours and logos that recipients' pages show. Called by `migrate.ts`. */
import type { Kysely } from 'kysely'
import type { Columns } from '../model/columns.ts'

export async function up({ schema }: Kysely<unknown>, { id, text, bytes }: Columns): Promise<void> {
  await schema
    .createTable('domain_brands')
    .addColumn('domain_id', id, c => c.primaryKey().notNull())
    .addColumn('name', text)
    .addColumn('color', text)
    .addColumn('logo_type', text)
    .addColumn('logo_hash', bytes)
    .addColumn('logo', bytes)
    .execute()
  await schema.createIndex('domain_brands_logo').on('domain_brands').column('logo_hash').execute()
}
