import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { growthOf, recordDisk } from '../../../../src/store/opening/disk-use.ts'
import { tempFolder } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('store/opening/disk-use')
const DAY_MS = 86_400_000
const START = Date.parse('2026-11-29T00:00Z')
const SIZE_BYTES = 1_000_000

/** A disk of a million bytes, of which so many are used. */
const used = (diskUsed: number, databaseBytes: number) => ({
  ...{ diskFree: SIZE_BYTES - diskUsed, diskSize: SIZE_BYTES, databaseBytes },
})

test('growth is told from the first measurement that is a day old, and so are the days left', async t => {
  const { path } = await t.using(tempFolder())
  recordDisk(path, used(200_000, 1_000), START)
  assert.is(growthOf(path, used(210_000, 2_000), START + DAY_MS - 1), undefined)
  assert.equal(growthOf(path, used(220_000, 6_000), START + 2 * DAY_MS), {
    ...{ since: START, disk: 10_000, database: 2_500, daysLeft: 78 },
  })
})

test('a disk whose use shrinks or stays is not full at any time', async t => {
  const { path } = await t.using(tempFolder())
  recordDisk(path, used(200_000, 1_000), START)
  assert.equal(growthOf(path, used(190_000, 1_000), START + DAY_MS), {
    ...{ since: START, disk: -10_000, database: 0, daysLeft: null },
  })
})

test('one measurement a day is kept, for 31 days, and what cannot be measured is not remembered', async t => {
  const { path } = await t.using(tempFolder())
  const sinceAt = (now: number) => growthOf(path, used(2, 2), now)?.since
  recordDisk(path, { diskFree: 1 }, START)
  assert.equal(readdirSync(path), [])
  for (let hour = 0; hour < 40 * 24; hour += 6) recordDisk(path, used(1, 1), START + (hour * DAY_MS) / 24)
  assert.equal(readdirSync(path), ['disk-use.json'])
  assert.is(sinceAt(START + 40 * DAY_MS), START + 9 * DAY_MS)
})

test('a damaged file is written anew, and times of a wrong clock are dropped', async t => {
  const { path } = await t.using(tempFolder())
  writeFileSync(join(path, 'disk-use.json'), '[{"at":')
  recordDisk(path, used(1, 1), START + 9_000 * DAY_MS)
  recordDisk(path, used(1, 1), START)
  assert.is(growthOf(path, used(1, 1), START + 2 * DAY_MS)?.since, START)
})

test.run()
