/**
 * Pauses destinations per source address. Attempts record that the host failed, and deliveries are found by
 * their destination, so that exactly these are retried when the destination responds again.
 */
import { type Kysely, sql } from 'kysely'
import type { Columns } from './columns.ts'

export async function up(db: Kysely<unknown>, columns: Columns): Promise<void> {
  const { schema } = db
  const { integer, text, flag, clustered } = columns
  await schema.alterTable('site_states').renameTo('former_site_states').execute()
  await schema
    .createTable('site_states')
    .addColumn('site', text, c => c.notNull())
    .addColumn('source', text, c => c.notNull())
    .addColumn('paused_until', integer, c => c.notNull())
    .addColumn('pause_ms', integer, c => c.notNull())
    .addColumn('reason', text, c => c.notNull())
    .addColumn('changed_at', integer, c => c.notNull())
    .addPrimaryKeyConstraint('site_states_pk', ['site', 'source'])
    .modifyEnd(clustered)
    .execute()
  await sql`insert into site_states select site, '', paused_until, pause_ms, reason, changed_at from former_site_states`.execute(
    db,
  )
  await schema.dropTable('former_site_states').execute()
  await schema.alterTable('attempts').addColumn('broke_off', flag).execute()
  await schema.createIndex('domain_sites_site').on('domain_sites').columns(['site', 'domain']).execute()
}
