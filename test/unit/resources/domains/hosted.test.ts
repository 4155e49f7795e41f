import * as assert from 'uvu/assert'
import { createHostedDomains } from '../../../../src/resources/domains/hosted.ts'
import { StorageUnavailable } from '../../../../src/store/model/command.ts'
import type { Db } from '../../../../src/store/model/schema.ts'
import { postOver } from '../../../kit/mail.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('domains/hosted')

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.example')
  const clock = createManualClock()
  const hosted = createHostedDomains({ db: store.db, clock })
  const set = (column: string, value: unknown) => store.change(`update domains set ${column} = ?`, value)
  const isHosted = async (name = 'here.example') => (await hosted.find(name)) !== undefined
  return { ...store, accountId, clock, hosted, set, isHosted }
}

test('hosted domains: verified and temporary_failure domains receive mail', async t => {
  const { hosted, set, isHosted, accountId } = await open(t)
  assert.equal((await hosted.find('here.example'))?.accountId, Buffer.from(accountId))
  assert.is(await isHosted('elsewhere.example'), false)
  for (const [status, expected] of [
    ['pending', false],
    ['temporary_failure', true],
    ['failed', false],
    ['verified', true],
  ] as const) {
    set('status', status)
    hosted.forget(['here.example'])
    assert.is(await isHosted(), expected, status)
  }
  set('receiving', 0)
  hosted.forget()
  assert.is(await isHosted(), false)
})

test('hosted domains: entries expire after 10 s or on an announcement', async t => {
  const { clock, set, isHosted } = await open(t)
  assert.is(await isHosted(), true)
  set('receiving', 0)
  clock.advance(9_999)
  assert.is(await isHosted(), true)
  clock.advance(1)
  assert.is(await isHosted(), false)
})

test('hosted domains: failed lookups are not cached', async t => {
  const { db, clock } = await open(t)
  let fails = true
  const troubled = {
    selectFrom(table: 'domains') {
      if (fails) throw new StorageUnavailable('locked')
      return db.selectFrom(table)
    },
  } as unknown as Db
  const hosted = createHostedDomains({ db: troubled, clock })
  await hosted.find('here.example').then(
    () => assert.unreachable(),
    error => assert.instance(error, StorageUnavailable),
  )
  fails = false
  assert.ok(await hosted.find('here.example'))
})

test.run()
