/** Storage page for operators: disk and database, their growth, and the days left. */
import { useLoad } from '../api/load.ts'
import type { Storage } from '../api/types.ts'
import { Note, Pending } from '../components/feedback.tsx'
import { Facts, Head, Meter, Time } from '../components/show.tsx'
import { bytes, counted, percent } from '../labels/numbers.ts'

const LIVE_MS = 15_000
/** Share of the disk in use above which the meter warns. */
const MUCH = 0.9
const FEW_DAYS = 14

export function StoragePage() {
  const storage = useLoad<Storage>('/installation/storage', { everyMs: LIVE_MS })
  return (
    <>
      <Head title="Storage" />
      {storage.data ? <Sizes storage={storage.data} /> : <Pending of={storage} />}
    </>
  )
}

function Sizes({ storage: { data_dir, disk, database, growth } }: { storage: Storage }) {
  const { free_bytes: free, size_bytes: size } = disk
  const share = free === null || !size ? undefined : 1 - free / size
  const left = growth?.days_left ?? null
  return (
    <>
      {left !== null && left < FEW_DAYS && (
        <Note tone="warn">
          At the present rate the disk is full in {counted(left, 'day')}. Free space or shorten the retention
          of plans: email is not accepted when the disk is full.
        </Note>
      )}
      {share !== undefined && <Meter share={share} label="Disk: used" bad={share > MUCH} />}
      <Facts
        rows={[
          [
            'Disk',
            share === undefined ? UNKNOWN : `${bytes(free!)} of ${bytes(size!)} free, ${percent(share)} used`,
          ],
          ['Data folder', <code key="folder">{data_dir}</code>],
          ['Database', `${sizeText(database.bytes)}, ${ENGINES[database.engine]}`],
          database.engine === 'sqlite' && ['Write-ahead log', sizeText(database.wal_bytes)],
          ['Growth', growth ? <GrowthText growth={growth} /> : 'Known after a day'],
          growth && ['Full in', left === null ? 'The use of the disk does not grow' : counted(left, 'day')],
        ]}
      />
    </>
  )
}

const UNKNOWN = 'Unknown'
const ENGINES = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const

function GrowthText({ growth }: { growth: NonNullable<Storage['growth']> }) {
  const { since, disk_bytes_per_day: disk, database_bytes_per_day: database } = growth
  return (
    <>
      {signed(disk)} a day on the disk, {signed(database)} of them in the database, since <Time at={since} />
    </>
  )
}

function signed(n: number): string {
  return n < 0 ? `−${bytes(-n)}` : bytes(n)
}

function sizeText(n: number | null): string {
  return n === null ? UNKNOWN : bytes(n)
}
