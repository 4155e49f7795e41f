/** Check of the database's schema: pending migrations, and snapshots of former schemas. */
import type { SchemaSnapshot } from '../../store/opening/snapshots.ts'
import { bad, type Examination, good, unknownFinding } from './finding.ts'

interface SchemaOptions {
  /** Returns the names of the migrations of the database; empty when there is none yet. */
  applied(): Promise<readonly string[]>
  /** Names of the migrations of this version. */
  known: readonly string[]
  /** Returns the complete snapshots, the oldest first; null when none are made of such a database. */
  snapshots(): readonly SchemaSnapshot[] | null
  /** Number of snapshots that stay; 0 when none are made. */
  keep: number
}

const CHECK = 'database_schema'
const GO_BACK =
  'Install the newer version again, or run mailhorn restore with a snapshot of this version, or restore a backup.'
const MB_BYTES = 1024 * 1024

export function databaseSchema({ applied, known, snapshots, keep }: SchemaOptions): Examination {
  return {
    check: CHECK,
    async examine() {
      const names = await applied()
      if (names.length === 0) return [unknownFinding(CHECK, null, 'There is no database yet.')]
      const pending = known.filter(name => !names.includes(name))
      const made = snapshots()
      const shown = made === null ? '' : ` ${listed(made)}`
      if (names.some(name => !known.includes(name)))
        return [bad('failed', CHECK, null, `The database was made by a newer version.${shown}`, GO_BACK)]
      if (pending.length === 0) return [good(CHECK, null, `The schema is that of this version.${shown}`)]
      const text = `The next start applies ${pending.join(', ')}.${shown}`
      return [bad('warning', CHECK, null, text, adviceFor(made !== null && keep > 0, made === null))]
    },
  }
}

function listed(made: readonly SchemaSnapshot[]): string {
  if (made.length === 0) return 'There are no snapshots.'
  const names = made.map(
    ({ path, madeAt, bytes }) => `${path} (${madeAt}, ${Math.ceil(bytes / MB_BYTES)} MB)`,
  )
  return `Snapshots: ${names.join(', ')}.`
}

function adviceFor(hasSnapshot: boolean, isPostgres: boolean): string {
  if (hasSnapshot) return 'The start makes a snapshot before; back up all the same.'
  return isPostgres
    ? 'Run mailhorn backup before: no snapshot is made of a PostgreSQL database.'
    : 'Back up before: database.snapshots is 0, so that no snapshot is made.'
}
