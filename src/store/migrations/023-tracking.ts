/** Creates the tables of link settings, opens and clicks. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up(
  { schema }: Kysely<unknown>,
  { id, text, integer, flag, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('link_terms')
    .addColumn('id', integer, c => c.primaryKey())
    .addColumn('base_url', text, c => c.notNull())
    .addColumn('track_opens', flag, c => c.notNull())
    .addColumn('track_clicks', flag, c => c.notNull())
    .addUniqueConstraint('link_terms_are_one', ['base_url', 'track_opens', 'track_clicks'])
    .execute()
  await schema.alterTable('emails').addColumn('link_terms_id', integer).execute()
  await schema
    .createTable('visits')
    .addColumn('email_id', id, c => c.notNull())
    .addColumn('ordinal', integer, c => c.notNull())
    .addColumn('link', integer, c => c.notNull())
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('count', integer, c => c.notNull())
    .addColumn('machine_count', integer, c => c.notNull())
    .addColumn('first_at', integer, c => c.notNull())
    .addColumn('last_at', integer, c => c.notNull())
    .addPrimaryKeyConstraint('visits_key', ['email_id', 'ordinal', 'link'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createTable('broadcast_links')
    .addColumn('broadcast_id', id, c => c.notNull())
    .addColumn('link', integer, c => c.notNull())
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('url', text, c => c.notNull())
    .addColumn('click_count', integer, c => c.notNull())
    .addColumn('unique_count', integer, c => c.notNull())
    .addColumn('machine_count', integer, c => c.notNull())
    .addPrimaryKeyConstraint('broadcast_links_key', ['broadcast_id', 'link'])
    .modifyEnd(clustered)
    .execute()
}
