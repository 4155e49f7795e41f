/** Adds the tracking host of a domain, and its link settings once the host has been verified. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { integer, text }: Columns): Promise<void> {
  await schema.alterTable('domains').addColumn('tracking_subdomain', text).execute()
  await schema.alterTable('domains').addColumn('tracking_terms', integer).execute()
}
