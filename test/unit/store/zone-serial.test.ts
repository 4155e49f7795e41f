import * as assert from 'uvu/assert'
import { findZoneSerial, MTA_STS_ID } from '../../../src/store/reading/settings.ts'
import { openLocalStore } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('serial of the provider zone')
const LAST = 2 ** 32 - 1
const NOW = 1_795_599_549

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const serial = () => findZoneSerial(store.db)
  const start = async (digest: string, second: number) => {
    await store.run('noteZoneRecords', { digest, now: second * 1_000 + 999 })
    return serial()
  }
  return { store, serial, start }
}

test('zone serial: there is none before the first start, and then it is the time', async t => {
  const { store, serial, start } = await open(t)
  await store.run('putSetting', { key: MTA_STS_ID, value: 'a' })
  assert.is(await serial(), undefined)
  assert.is(await start('one', NOW), NOW)
})

for (const [what, first, digest, second, expected] of [
  ['the same records keep it', NOW, 'one', NOW + 5, NOW],
  ['other records take the time', NOW, 'two', NOW + 5, NOW + 5],
  ['other records within the same second take the next number', NOW, 'two', NOW, NOW + 1],
  ['other records with a clock set back take the next number', NOW, 'two', NOW - 86_400, NOW + 1],
  ['the same records with a clock set back keep it', NOW, 'one', NOW - 5, NOW],
  ['a clock that has passed the last number is ahead', LAST - 5, 'two', LAST + 1 + 7, 7],
  ['a clock set back across the last number is behind', LAST + 1 + 3, 'two', LAST, 4],
] as const)
  test(`zone serial: at a restart, ${what}`, async t => {
    const { start } = await open(t)
    await start('one', first)
    assert.is(await start(digest, second), expected)
  })

test('zone serial: it follows the MTA-STS id, and no other setting', async t => {
  const { store, serial, start } = await open(t)
  await start('one', NOW)
  const put = (key: string, value: string) => store.run('putSetting', { key, value })
  await put('last_ready_at', '1')
  await put(MTA_STS_ID, '')
  assert.is(await serial(), NOW)
  await put(MTA_STS_ID, 'a')
  assert.is(await serial(), NOW + 1)
  await put(MTA_STS_ID, 'a')
  assert.is(await serial(), NOW + 1)
  await put(MTA_STS_ID, '')
  assert.is(await serial(), NOW + 2)
})

test('zone serial: the number after the last one is 0', async t => {
  const { store, serial, start } = await open(t)
  await start('one', LAST)
  await store.run('putSetting', { key: MTA_STS_ID, value: 'a' })
  assert.is(await serial(), 0)
})

test.run()
