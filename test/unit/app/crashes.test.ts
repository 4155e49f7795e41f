import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { parkedTasks } from '../../../src/app/crashes.ts'
import { tempFolder } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('app/crashes')
const HOUR_MS = 3_600_000
const NOW = Date.UTC(2026, 10, 29)

async function parked(t: TestContext, text: string) {
  const { path } = await t.using(tempFolder())
  writeFileSync(join(path, 'crashes.json'), text)
  return parkedTasks(path, NOW)
}

const crashesAt = (task: unknown, ...ages: number[]) =>
  ages.map((age, i) => ({ task, at: NOW - age, message: `crash ${i + 1}` }))

test('crashes: a task is parked after three within an hour, for an hour after the last', async t => {
  const crashes = [...crashesAt('sweep', 3_000, 2_000, 1_000), ...crashesAt('retry', 3_000, 2_000)]
  assert.equal(await parked(t, JSON.stringify({ crashes })), [
    { task: 'sweep', until: NOW - 1_000 + HOUR_MS, reason: 'crash 3' },
  ])
})

for (const [what, crashes] of [
  ['older than an hour', crashesAt('sweep', HOUR_MS, 2_000, 1_000)],
  ['in the future, after the clock was put back', crashesAt('sweep', 2_000, 1_000, -1)],
  ['without the name of a task', crashesAt(7, 3_000, 2_000, 1_000)],
] as const)
  test(`crashes: one ${what} does not count`, async t => {
    assert.equal(await parked(t, JSON.stringify({ crashes })), [])
  })

test('crashes: a damaged file parks nothing', async t => {
  assert.equal(await parked(t, '{"crashes": [{'), [])
  assert.equal(await parked(t, '{}'), [])
})

test.run()
