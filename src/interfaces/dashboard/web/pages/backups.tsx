/** Backups page for operators: the last and the next backup, their list, making and checking one. */
import { call } from '../api/client.ts'
import { type Loaded, useLoad } from '../api/load.ts'
import type { Backups } from '../api/types.ts'
import { Button, Copy } from '../components/controls.tsx'
import { confirm } from '../components/dialog.tsx'
import { Note, Pending, say } from '../components/feedback.tsx'
import { actions, type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { Facts, Head, Time } from '../components/show.tsx'
import { bytes, counted } from '../labels/numbers.ts'

type Backup = NonNullable<Backups['data']>[number]

const LIVE_MS = 5_000

export function BackupsPage() {
  const backups = useLoad<Backups>('/installation/backups', { everyMs: LIVE_MS })
  const { data } = backups
  return (
    <>
      <Head title="Backups">
        <Button kind="main" disabled={!data?.folder || data.running} onClick={() => askRun(backups.reload)}>
          {data?.running ? 'Backing up …' : 'Back up now'}
        </Button>
      </Head>
      {data ? <State backups={data} /> : <Pending of={backups} />}
      {data?.folder && <BackupList backups={backups} />}
    </>
  )
}

function State({ backups }: { backups: Backups }) {
  const { folder, last, next_at, failure, every_hours, keep } = backups
  return (
    <>
      {failure && (
        <Note tone="bad">
          The backup at <Time at={failure.at} /> failed: {failure.reason}.
        </Note>
      )}
      {folder === null && (
        <Note tone="warn">
          <p>No backups are scheduled. Set a place on another disk and restart the service:</p>
          <Copy text="MAILHORN_BACKUP_FOLDER=/var/backups/mailhorn" />
        </Note>
      )}
      <Verification backups={backups} />
      <Facts
        rows={[
          ['Last backup', last ? <LastBackup last={last} /> : 'None yet'],
          folder !== null && ['Next backup', <Time key="next" at={next_at} />],
          folder !== null && [
            'Schedule',
            `every ${counted(every_hours, 'hour')}, the newest ${keep} are kept`,
          ],
          folder !== null && ['Place', <code key="place">{folder}</code>],
          ['Restore', 'mailhorn restore, while the service is stopped'],
        ]}
      />
    </>
  )
}

function LastBackup({ last }: { last: NonNullable<Backups['last']> }) {
  return (
    <>
      <Time at={last.at} /> <span class="quiet">in {last.folder}</span>
    </>
  )
}

function Verification({ backups: { verification } }: { backups: Backups }) {
  if (!verification) return null
  const { name, faults, finished_at } = verification
  if (!faults) return <Note>Checking {name} … This reads all of its files.</Note>
  if (faults.length === 0)
    return (
      <Note tone="good">
        {name} is complete and undamaged. Checked at <Time at={finished_at} />.
      </Note>
    )
  return (
    <Note tone="bad">
      <p>{name} cannot be relied on:</p>
      <ul>
        {faults.slice(0, FAULTS_SHOWN_MAX).map(fault => (
          <li key={fault}>{fault}</li>
        ))}
      </ul>
      {faults.length > FAULTS_SHOWN_MAX && <p>… and {faults.length - FAULTS_SHOWN_MAX} more.</p>}
    </Note>
  )
}

const FAULTS_SHOWN_MAX = 10

function BackupList({ backups: { data, error, reload } }: { backups: Loaded<Backups> }) {
  if (data && data.data === null)
    return <Note tone="warn">The list of backups cannot be shown: {data.error}</Note>
  return (
    <ResourceList<Backup>
      name="Backups"
      list={{ error, reload, data: data && { data: data.data ?? [] } }}
      columns={columnsOf(reload, data?.verification?.faults === null)}
      keyOf={({ name }) => name}
      empty={{ icon: 'save', title: 'No backups yet', children: 'The first one is made soon.' }}
    />
  )
}

function columnsOf(reload: () => void, isChecking: boolean): Column<Backup>[] {
  return [
    { head: 'Backup', text: ({ name }) => name },
    { head: 'Version', width: '22%', text: ({ version, error }) => error ?? version },
    { head: 'Database', kind: 'number', text: ({ database_bytes: n }) => (n === null ? null : bytes(n)) },
    { head: 'Files', kind: 'number', isExtra: true, text: ({ files }) => files && bytes(files.bytes) },
    {
      head: 'Secret key',
      width: 120,
      isExtra: true,
      text: ({ secret_key: has }) => (has === null ? null : has ? 'Included' : 'Not included'),
    },
    timeColumn('Made', ({ created_at }) => created_at),
    actions(
      ({ name }) => (
        <Button small disabled={isChecking} onClick={() => verify(name, reload)}>
          Verify
        </Button>
      ),
      88,
    ),
  ]
}

interface Started {
  started: boolean
  reason: string | null
}

function askRun(reload: () => void): void {
  confirm({
    title: 'Back up now?',
    text: 'The service goes on accepting and sending email. Old backups beyond the number that is kept are removed afterwards.',
    act: 'Back up now',
    harmless: true,
    async work() {
      const { reason } = await call<Started>('POST', '/installation/backups/run')
      say(reason ?? 'The backup is being made.')
      reload()
    },
  })
}

function verify(name: string, reload: () => void): void {
  confirm({
    title: `Verify ${name}?`,
    text: 'All files of the backup are read and compared with their hashes, at a low priority. That takes a while for large backups.',
    act: 'Verify backup',
    harmless: true,
    async work() {
      const { reason } = await call<Started>('POST', '/installation/backups/verify', { name })
      say(reason ?? 'The backup is being checked.')
      reload()
    },
  })
}
