/** Replaces the final sigma in folded text, which `lib/fold-text.ts` no longer produces. */
import { type Kysely, sql } from 'kysely'

const FOLDED = [
  ['contacts', 'folded_email'],
  ['contacts', 'folded_first_name'],
  ['contacts', 'folded_last_name'],
  ['contact_values', 'folded_value'],
  ['broadcasts', 'folded_name'],
  ['templates', 'folded_name'],
  ['inbound_subjects', 'subject'],
] as const

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, name] of FOLDED) {
    const column = sql.ref(name)
    await sql`update ${sql.table(table)} set ${column} = replace(${column}, 'ς', 'σ') where ${column} like '%ς%'`.execute(
      db,
    )
  }
}
