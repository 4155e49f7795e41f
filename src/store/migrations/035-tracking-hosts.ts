/**
 * The host below a domain that links in its mail lead to, and the terms under it, once it has been proven.
 */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { integer, text }: Columns): Promise<void> {
  await schema.alterTable('domains').addColumn('tracking_subdomain', text).execute()
  await schema.alterTable('domains').addColumn('tracking_terms', integer).execute()
}
