/** Renames the column that holds the kind of the local address which received a report. */
import type { Kysely } from 'kysely'

export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('reports').renameColumn('door', 'address_kind').execute()
}
