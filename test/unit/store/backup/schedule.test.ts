import * as assert from 'uvu/assert'
import type { Log } from '../../../../src/lib/log.ts'
import { BackupFault, BackupInProgress } from '../../../../src/store/backup/backup-fault.ts'
import type { MadeBackup } from '../../../../src/store/backup/create.ts'
import { readRecord, recordMade } from '../../../../src/store/backup/record.ts'
import { BackupSchedule, isDue } from '../../../../src/store/backup/schedule.ts'
import { createManualClock, settled } from '../../../kit/manual-clock.ts'
import { tempFolder } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('store/backup/schedule')
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const FOLDER = '/backups'
const DAILY = { everyMs: 24 * HOUR_MS, atMs: 3 * HOUR_MS }
const MADE: MadeBackup = {
  path: `${FOLDER}/20261121T130000Z`,
  databaseBytes: 1_000,
  blobs: { count: 2, bytes: 20 },
  newBlobs: 1,
  lostBlobs: [],
  removed: [],
  unrecorded: null,
}

for (const [what, madeAt, now, expected] of [
  ['there is none', undefined, '2026-11-28T02:00Z', true],
  [
    'the last one is of yesterday, before the time of the day',
    '2026-11-27T03:00Z',
    '2026-11-28T02:59Z',
    false,
  ],
  ['the last one is of yesterday, at the time of the day', '2026-11-27T03:00Z', '2026-11-28T03:00Z', true],
  ['it was made today', '2026-11-28T03:00Z', '2026-11-28T23:59Z', false],
  ['days were missed', '2026-11-20T03:00Z', '2026-11-28T01:00Z', true],
  [
    'the last one is of the future, because the clock was wrong',
    '2037-01-01T03:00Z',
    '2026-11-28T01:00Z',
    true,
  ],
] as const)
  test(`a daily backup is ${expected ? '' : 'not '}due when ${what}`, () => {
    const made = madeAt === undefined ? undefined : Date.parse(madeAt)
    assert.is(isDue(DAILY, { madeAt: made, now: Date.parse(now) }), expected)
  })

test('a backup every six hours is counted from the time of the day', () => {
  const times = { everyMs: 6 * HOUR_MS, atMs: 3 * HOUR_MS }
  const dueAt = (now: string) =>
    isDue(times, { madeAt: Date.parse('2026-11-28T03:00Z'), now: Date.parse(now) })
  assert.equal([dueAt('2026-11-28T08:59Z'), dueAt('2026-11-28T09:00Z')], [false, true])
})

/** A schedule of which the test makes the backups. */
async function start(t: TestContext) {
  const { path: dataDir } = await t.using(tempFolder())
  const clock = createManualClock()
  const events: string[] = []
  const write = ({ event, reason }: { event: string; reason?: string }) =>
    void events.push(reason === undefined ? event : `${event}: ${reason}`)
  const log = { info: write, error: write } as unknown as Log
  const making: PromiseWithResolvers<MadeBackup>[] = []
  const schedule = new BackupSchedule({
    make() {
      const next = Promise.withResolvers<MadeBackup>()
      making.push(next)
      return next.promise
    },
    abort: async () => making.at(-1)?.reject(new Error('the process ended')),
    ...{ dataDir, folder: FOLDER, clock, log },
    ...DAILY,
  })
  t.after(() => schedule.stop())
  await settled()
  const wait = async (ms: number) => {
    for (let waited = 0; waited < ms; waited += MINUTE_MS) {
      clock.advance(MINUTE_MS)
      await settled()
    }
  }
  return {
    ...{ dataDir, clock, events, making, schedule, wait },
    /** The backup in progress is made, as its process does it. */
    async made(more: Partial<MadeBackup> = {}) {
      recordMade(dataDir, MADE.path, clock.now())
      making.at(-1)!.resolve({ ...MADE, ...more })
      await settled()
    },
    async fails(error: Error) {
      making.at(-1)!.reject(error)
      await settled()
    },
  }
}

test('the first backup is made at once, the next at its time, and never two together', async t => {
  const { making, made, schedule, wait, events } = await start(t)
  assert.equal([making.length, schedule.isUnderWay], [1, true])
  await wait(30 * HOUR_MS)
  assert.is(making.length, 1, 'the first one is still in progress')
  await made()
  assert.equal([schedule.isUnderWay, events], [false, ['backup_made']])
  await wait(7 * HOUR_MS) // from 19:00 to 02:00
  assert.is(making.length, 1)
  await wait(HOUR_MS)
  assert.is(making.length, 2)
})

test('a failure is recorded, logged and tried again after an hour; the next backup ends it', async t => {
  const { making, made, fails, wait, events, dataDir, clock } = await start(t)
  const failedAt = clock.now()
  await fails(new BackupFault('the disk is full'))
  assert.equal(events, ['backup_failed: the disk is full'])
  assert.equal(readRecord(dataDir).failed, { [FOLDER]: { at: failedAt, reason: 'the disk is full' } })
  await wait(HOUR_MS - MINUTE_MS)
  assert.is(making.length, 1)
  await wait(MINUTE_MS)
  assert.is(making.length, 2)
  await made()
  assert.equal(readRecord(dataDir).failed, {})
})

test('a backup that another process makes is waited for, and no failure', async t => {
  const { making, fails, wait, events, dataDir } = await start(t)
  await fails(new BackupInProgress('another backup is being made'))
  assert.equal(events, ['backup_postponed: another backup is being made'])
  assert.equal(readRecord(dataDir).failed, {})
  await wait(MINUTE_MS)
  assert.is(making.length, 2)
})

test('a backup that lacks files counts as made, and as failed', async t => {
  const { making, made, wait, events, dataDir } = await start(t)
  await made({ lostBlobs: [{ name: 'abc', fault: 'missing' }] })
  const reason = 'the backup lacks 1 files that are missing or damaged: abc (missing)'
  assert.equal(events, ['backup_made', `backup_lacks_files: ${reason}`])
  assert.is(readRecord(dataDir).failed[FOLDER]!.reason, reason)
  await wait(2 * HOUR_MS)
  assert.is(making.length, 1)
})

test('a stop ends the backup in progress, which is no failure', async t => {
  const { schedule, events, dataDir } = await start(t)
  await schedule.stop()
  assert.equal(events, ['backup_stopped'])
  assert.equal(readRecord(dataDir).failed, {})
})

test('a backup that is asked for is made at once, once, and the schedule goes on', async t => {
  const { making, made, schedule, wait, clock } = await start(t)
  assert.is(schedule.runSoon(), false, 'the first one is in progress')
  await made()
  assert.is(schedule.nextAt, Date.parse('2026-11-22T03:00Z'))
  assert.is(schedule.runSoon(), true)
  assert.is(schedule.runSoon(), false, 'it was asked for already')
  await wait(MINUTE_MS)
  assert.equal([making.length, schedule.isUnderWay], [2, true])
  await made()
  await wait(2 * MINUTE_MS)
  assert.is(making.length, 2)
  assert.ok(schedule.nextAt > clock.now())
})

test('the next backup after a failure is that of the retry', async t => {
  const { fails, schedule, clock } = await start(t)
  await fails(new BackupFault('the disk is full'))
  assert.is(schedule.nextAt, clock.now() + HOUR_MS)
})

test.run()
