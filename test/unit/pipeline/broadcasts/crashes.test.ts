import * as assert from 'uvu/assert'
import { idKey } from '../../../../src/lib/ids.ts'
import type { broadcastCommands } from '../../../../src/pipeline/broadcasts/commands.ts'
import type { Run } from '../../../../src/store/model/command.ts'
import { suite } from '../../../kit/suite.ts'
import { manyContacts, openBroadcasts } from './scene.ts'

const test = suite('broadcasts/crashes')
const CRASH = 'the process died'

/** Dies before its nth command, or after it has been committed and before anybody heard. */
function dyingRun(run: Run<typeof broadcastCommands>, nth: number, isCommitted: boolean) {
  let count = 0
  return (async (name, input) => {
    const dies = ++count === nth
    if (dies && !isCommitted) throw new Error(CRASH)
    const output = await run(name, input)
    if (dies) throw new Error(CRASH)
    return output
  }) as Run<typeof broadcastCommands>
}

for (const isCommitted of [false, true])
  test(`crashes: killed ${isCommitted ? 'after' : 'before'} every commit: each contact gets one email`, async t => {
    const scene = await openBroadcasts(t)
    const { contacts, sending, work, rows, run, detail } = scene
    contacts([...manyContacts(1_100), { email: 'gone@there.test', unsubscribed: true }])
    for (let nth = 1; ; nth++) {
      const id = await sending()
      const dying = dyingRun(run, nth, isCommitted)
      const died = await work(1_000, { run: dying }).then(
        () => false,
        error => error.message === CRASH,
      )
      await work()
      const addresses = rows<{ address: string }>(
        'select address from deliveries join emails on id = email_id where broadcast_id = ?',
        id,
      )
      assert.is(addresses.length, 1_100)
      assert.is(new Set(addresses.map(({ address }) => address)).size, 1_100)
      const { broadcast, counts } = await detail(id)
      assert.equal([broadcast.memberCount, broadcast.expandedCount], [1_101, 1_101])
      assert.equal([counts['status.queued'], counts['skipped.unsubscribed']], [1_100, 1])
      if (!died) return assert.ok(nth > 6, 'all commits were looked at')
    }
  })

test('a broadcast that was changed while its content was made ready does not begin with the former one', async t => {
  const { contacts, sending, work, run, detail } = await openBroadcasts(t)
  contacts(manyContacts(1))
  const id = await sending()
  type Input = Parameters<Run<typeof broadcastCommands>>[1] & {
    contentId: number
    previewText: string | null
  }
  let input: Input | undefined
  const taking = (async (name, given) => {
    if (name !== 'beginBroadcast') return run(name, given)
    input = given as Input
    throw new Error(CRASH)
  }) as Run<typeof broadcastCommands>
  await work(1_000, { run: taking }).catch(() => {})
  const hasBegun = async () => (await detail(id)).broadcast.sentContentId !== null
  const begin = (change: object) => run('beginBroadcast', { ...input!, ...change } as never)
  for (const change of [{ contentId: input!.contentId + 1 }, { previewText: 'another one' }]) {
    await begin(change)
    assert.is(await hasBegun(), false, JSON.stringify(change))
  }
  await begin({})
  assert.is(await hasBegun(), true)
})

test('crashes: two processes at once: each contact gets one email', async t => {
  const { contacts, sending, runner, rows, work, db } = await openBroadcasts(t)
  contacts(manyContacts(1_100))
  const id = await sending()
  await Promise.all([work(), work(), work()])
  assert.is(rows('select distinct address from deliveries').length, 1_100)
  assert.is(rows('select address from deliveries').length, 1_100)
  assert.equal(rows('select count(*) as count from contents'), [{ count: 1 }])
  assert.ok(idKey(id) && runner && db)
})

test('crashes: canceled and killed at every commit: no email is left waiting', async t => {
  const scene = await openBroadcasts(t)
  const { contacts, sending, work, broadcasts, accountId, run, counts, clock, rows } = scene
  contacts(manyContacts(700))
  for (let nth = 1; ; nth++) {
    const id = await sending()
    await work()
    await broadcasts.cancel(accountId, id)
    const died = await work(1_000, { run: dyingRun(run, nth, nth % 2 === 0) }).then(
      () => false,
      error => error.message === CRASH,
    )
    clock.advance(1_000)
    await work()
    assert.equal(await counts(id), { 'status.canceled': 700 })
    assert.equal(rows('select 1 from queue_holds where released_at is null'), [])
    if (!died) return assert.ok(nth > 3)
  }
})

test.run()
