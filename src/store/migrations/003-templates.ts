/** Creates the tables of templates and their versions. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up(
  { schema }: Kysely<unknown>,
  { id, text, integer, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('templates')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('name', text, c => c.notNull())
    .addColumn('folded_name', text, c => c.notNull())
    .addColumn('subject', text)
    .addColumn('content_id', integer, c => c.notNull())
    .addColumn('version_count', integer, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('updated_at', integer, c => c.notNull())
    .addPrimaryKeyConstraint('templates_pk', ['account_id', 'id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createTable('template_versions')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('template_id', id, c => c.notNull())
    .addColumn('version', integer, c => c.notNull())
    .addColumn('name', text, c => c.notNull())
    .addColumn('subject', text)
    .addColumn('content_id', integer, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .addPrimaryKeyConstraint('template_versions_pk', ['account_id', 'template_id', 'version'])
    .modifyEnd(clustered)
    .execute()
}
