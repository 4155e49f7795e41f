/** Adds the SDK with closed types for which the payloads of a webhook are written. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { text }: Columns): Promise<void> {
  await schema.alterTable('webhooks').addColumn('dialect', text).execute()
}
