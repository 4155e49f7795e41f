/** Adds the client of a session and of a logged request. Called by `migrate.ts`. */
import type { Kysely } from 'kysely'
import type { Columns } from '../model/columns.ts'

export async function up(db: Kysely<unknown>, { text }: Columns): Promise<void> {
  await db.schema.alterTable('sessions').addColumn('client_address', text).execute()
  await db.schema.alterTable('sessions').addColumn('user_agent', text).execute()
  await db.schema.alterTable('logged_requests').addColumn('client_address', text).execute()
}
