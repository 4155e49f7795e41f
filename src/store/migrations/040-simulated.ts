/** Marks emails and deliveries to the simulator, which count for no rate. */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { flag }: Columns): Promise<void> {
  for (const table of ['emails', 'deliveries'])
    await schema
      .alterTable(table)
      .addColumn('simulated', flag, c => c.notNull().defaultTo(0))
      .execute()
}
