/** Adds the domain of the sender that a hold selects mail by. Called by `migrate.ts`. */
import type { Kysely } from 'kysely'
import type { Columns } from '../model/columns.ts'

export async function up({ schema }: Kysely<unknown>, { text }: Columns): Promise<void> {
  await schema.alterTable('queue_holds').addColumn('sender_domain', text).execute()
}
