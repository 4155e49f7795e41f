import * as assert from 'uvu/assert'
import { startMaintenance } from '../../../src/app/maintenance.ts'
import { WEBHOOK_CHANGED } from '../../../src/pipeline/webhooks/commands.ts'
import { CONTACTS_DELETED } from '../../../src/resources/contacts/audience-commands.ts'
import { DOMAIN_DELETED } from '../../../src/resources/domains/deleted.ts'
import { createManualClock, settled } from '../../kit/manual-clock.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('app/maintenance')
const MINUTE_MS = 60_000

/** Time between two rounds of each task, in minutes. */
const MINUTES = {
  'check bounce and complaint rates': 10,
  'delete accounts': 1,
  'delete mail of deleted domains': 60,
  'delete contacts of deleted audiences': 60,
  'finish interrupted imports': 10,
  'delete deliveries of deleted webhooks': 60,
  'delete old events': 24 * 60,
  'delete old idempotency keys': 60,
  'delete expired sessions': 60,
  'delete old sign-in locations': 24 * 60,
  'delete expired links to emails': 60,
  'delete old reports': 60,
  'delete emails beyond retention': 10,
  'delete received mail beyond retention': 10,
  'delete logged requests beyond retention': 60,
  'delete logs of routes beyond retention': 24 * 60,
  'delete metrics beyond retention': 24 * 60,
  'delete outcomes of broadcasts beyond retention': 60,
  'delete expired MTA-STS policies': 24 * 60,
  'delete old destination counters': 24 * 60,
  'delete unused files': 24 * 60,
}
const TASKS = Object.keys(MINUTES).sort()

/** Maintenance of a store that is away: each round of a task fails at once, and is known by its log line. */
async function begin() {
  const clock = createManualClock()
  const listeners = new Map<string, (payloads: unknown[]) => void>()
  const rounds: string[] = []
  const away: object = new Proxy(() => {}, {
    get: () => away,
    apply: () => {
      throw new Error('the store is away')
    },
  })
  const maintenance = startMaintenance({
    store: { db: away, run: away, find: away, blobs: away, on: listeners.set.bind(listeners) },
    ...{ plans: away, rates: {}, logRetentionDays: 1, clock },
    log: { error: ({ task }: { task: string }) => rounds.push(task) },
  } as never)
  await settled()
  return {
    ...{ clock, maintenance },
    notice: (topic: string) => listeners.get(topic)?.([]),
    /** Tasks that have had a round since the last look. */
    async done() {
      await settled()
      return rounds.splice(0).sort()
    },
  }
}

test('each task has a round at the start and then one at the end of its interval', async () => {
  const { clock, maintenance, done } = await begin()
  assert.equal(await done(), TASKS)
  for (const minutes of [1, 10, 60, 24 * 60]) {
    const fresh = await begin()
    await fresh.done()
    fresh.clock.advance(minutes * MINUTE_MS - 1)
    const early = await fresh.done()
    fresh.clock.advance(1)
    const due = TASKS.filter(task => MINUTES[task as keyof typeof MINUTES] === minutes)
    const later = TASKS.filter(task => MINUTES[task as keyof typeof MINUTES] >= minutes)
    assert.equal(
      early.filter(task => later.includes(task)),
      [],
    )
    assert.equal(
      (await fresh.done()).filter(task => later.includes(task)),
      due,
    )
    await fresh.maintenance.stop()
  }
  await maintenance.stop()
  clock.advance(24 * 60 * MINUTE_MS)
  assert.equal(await done(), [])
})

for (const [topic, task] of [
  [DOMAIN_DELETED, 'delete mail of deleted domains'],
  [CONTACTS_DELETED, 'delete contacts of deleted audiences'],
  [WEBHOOK_CHANGED, 'delete deliveries of deleted webhooks'],
] as const)
  test(`the notice ${topic} brings the next round of one task forward`, async () => {
    const { maintenance, notice, done } = await begin()
    await done()
    notice(topic)
    assert.equal(await done(), [task])
    await maintenance.stop()
  })

test('stopped maintenance leaves no timer', async () => {
  const { clock, maintenance } = await begin()
  assert.is(clock.timerCount, TASKS.length)
  await maintenance.stop()
  assert.is(clock.timerCount, 0)
})

test.run()
