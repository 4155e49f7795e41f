/** Renames the tables and columns that called a destination `site`. Called by `migrate.ts`. */
import type { Kysely } from 'kysely'

export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('domain_sites').renameTo('domain_destinations').execute()
  await schema.alterTable('site_states').renameTo('destination_states').execute()
  await schema.alterTable('site_caps').renameTo('destination_caps').execute()
  for (const table of [
    'domain_destinations',
    'destination_states',
    'destination_caps',
    'destination_replies',
  ])
    await schema.alterTable(table).renameColumn('site', 'destination').execute()
  await schema.dropIndex('domain_sites_site').execute()
  await schema
    .createIndex('domain_destinations_destination')
    .on('domain_destinations')
    .columns(['destination', 'domain'])
    .execute()
}
