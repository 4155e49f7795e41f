import * as assert from 'uvu/assert'
import { backups } from '../../../../src/interfaces/doctor/backup.ts'
import type { BackupRecord } from '../../../../src/store/backup/record.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('doctor: backups')
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const clock = createManualClock()
const ago = (ms: number) => clock.now() - ms
const made = (ms: number): Partial<BackupRecord> => ({ made: { '/old': 1, '/b': ago(ms) } })
const failed: Partial<BackupRecord> = {
  made: { '/b': ago(HOUR_MS) },
  failed: { '/b': { at: Date.UTC(2026, 10, 21), reason: 'the disk of /b is full' } },
}

/** Examines an installation that is so old, with a schedule or not. */
async function found(record: Partial<BackupRecord>, folder: string | null, ageMs: number | undefined) {
  const [finding] = await backups({
    read: () => ({ made: {}, failed: {}, ...record }),
    folder,
    daysMax: 7,
    madeAt: async () => (ageMs === undefined ? undefined : ago(ageMs)),
    clock,
  }).examine(new AbortController().signal)
  return finding!
}

for (const [what, record, folder, ageMs, status, message] of [
  ['a new backup', made(90_000), null, 30 * DAY_MS, 'ok', 'The last backup was made 1 minute ago.'],
  ['a backup of today', made(5 * HOUR_MS), '/b', 30 * DAY_MS, 'ok', 'The last backup was made 5 hours ago.'],
  ['one of last week', made(7 * DAY_MS - 1), null, 30 * DAY_MS, 'ok', 'The last backup was made 6 days ago.'],
  [
    'an older one',
    made(9 * DAY_MS),
    null,
    30 * DAY_MS,
    'failed',
    'No backup for 7 days: the last backup was made 9 days ago.',
  ],
  [
    'an older one despite a schedule',
    made(9 * DAY_MS),
    '/b',
    DAY_MS,
    'failed',
    'No backup for 7 days: the last backup was made 9 days ago.',
  ],
  ['none after a week', {}, null, 7 * DAY_MS, 'failed', 'No backup for 7 days: none was ever made.'],
  ['none yet', {}, null, DAY_MS, 'warning', 'No backup has been made yet.'],
  [
    'none yet with a schedule',
    {},
    '/b',
    DAY_MS,
    'unknown',
    'The first scheduled backup has not been made yet.',
  ],
  ['no database', {}, null, undefined, 'unknown', 'There is nothing to back up yet.'],
  [
    'a schedule that fails',
    failed,
    '/b',
    DAY_MS,
    'failed',
    'The scheduled backup failed at 2026-11-21T00:00:00.000Z: the disk of /b is full.',
  ],
  ['a failure of a former schedule', failed, null, DAY_MS, 'ok', 'The last backup was made 1 hour ago.'],
  ['a backup of the future', made(-DAY_MS), null, DAY_MS, 'ok', 'The last backup was made 0 minutes ago.'],
] as const)
  test(`${what} is ${status}`, async () => {
    const finding = await found(record, folder, ageMs)
    assert.equal([finding.status, finding.message], [status, message])
    assert.is(finding.advice !== null, status === 'failed' || status === 'warning')
  })

test('the advice names the setting unless it is set', async () => {
  assert.match((await found({}, null, 7 * DAY_MS)).advice!, /backup\.folder/)
  assert.match((await found(made(9 * DAY_MS), '/b', 0)).advice!, /backup_failed in the log/)
})

test.run()
