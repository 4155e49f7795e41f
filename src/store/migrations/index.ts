/**
 * All migrations, oldest first. A migration never changes once it is released. Called by `store/migrate.ts`
 * when the writer starts.
 */
import type { Kysely } from 'kysely'
import { up as schema } from './001-schema/schema.ts'
import type { Columns } from './columns.ts'

export interface Migration {
  name: string
  up(db: Kysely<unknown>, columns: Columns): Promise<void>
}

export const migrations: readonly Migration[] = [{ name: '001-schema', up: schema }]
