import * as assert from 'uvu/assert'
import { idText } from '../../../src/lib/ids.ts'
import { countSuppressions, findSuppression } from '../../../src/resources/suppressions/suppression-rows.ts'
import { endings, finishFor, postOver } from '../../kit/mail.ts'
import { openLocalStore } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('store/suppressions')

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const entry = (email: string, over = {}) => ({
    accountId,
    email,
    reason: 'manual' as const,
    sourceId: null,
    at: post.clock.now(),
    ...over,
  })
  const count = () => countSuppressions(store.find, accountId, null)
  return { ...store, ...post, accountId, entry, count }
}

test('suppressions: an existing address keeps its entry', async t => {
  const { run, entry, rows, count } = await open(t)
  const [first] = await run('suppress', [entry('a@there.test', { reason: 'bounce' })])
  const [second] = await run('suppress', [entry('a@there.test')])
  assert.equal([first!.isNew, second!.isNew], [true, false])
  assert.is(idText(second!.row.id), idText(first!.row.id))
  assert.equal(rows('select email, reason from suppressions'), [{ email: 'a@there.test', reason: 'bounce' }])
  assert.is(await count(), 1)
})

test('suppressions: an address that is listed twice gets one entry', async t => {
  const { run, entry, count } = await open(t)
  const added = await run('suppress', [entry('a@there.test'), entry('b@there.test'), entry('a@there.test')])
  assert.equal(
    added.map(({ row, isNew }) => [row.email, isNew]),
    [
      ['a@there.test', true],
      ['b@there.test', true],
      ['a@there.test', false],
    ],
  )
  assert.is(idText(added[2]!.row.id), idText(added[0]!.row.id))
  assert.is(await count(), 2)
})

test('suppressions: requests of one group see each other', async t => {
  const { group, entry, count } = await open(t)
  const { replies } = await group(
    { name: 'suppress', input: [entry('a@there.test')] },
    { name: 'suppress', input: [entry('a@there.test')] },
  )
  const isNew = replies.map(reply => reply.ok && (reply.output as { isNew: boolean }[])[0]!.isNew)
  assert.equal(isNew, [true, false])
  assert.is(await count(), 1)
})

test('suppressions: an entry is found and removed by id or address, by its account only', async t => {
  const { run, entry, find, accountId, account, count } = await open(t)
  const [a, b] = await run('suppress', [entry('a@there.test'), entry('b@there.test')])
  const other = account('Other')
  for (const ref of [{ id: a!.row.id }, { email: 'a@there.test' }]) {
    assert.equal((await findSuppression(find, accountId, ref))?.email, 'a@there.test')
    assert.is(await findSuppression(find, other, ref), undefined)
    assert.equal(await run('unsuppress', { accountId: other, refs: [ref] }), [undefined])
  }
  const refs = [
    { id: a!.row.id },
    { email: 'nobody@there.test' },
    { email: 'b@there.test' },
    { id: b!.row.id },
  ]
  const removed = await run('unsuppress', { accountId, refs })
  assert.equal(
    removed.map(row => row?.email),
    ['a@there.test', undefined, 'b@there.test', undefined],
  )
  assert.is(await count(), 0)
})

test('suppressions: a bounce or complaint records the email that caused it', async t => {
  const { run, send, claim, accountId, rows, clock, find } = await open(t)
  const bounced = await send(accountId, { to: ['a@there.test'] })
  const complained = await send(accountId, { to: ['b@there.test'] })
  const deliveries = await claim(accountId)
  await run('finish', finishFor(deliveries[0]!, clock.now(), { ...endings.bounced(), suppress: true }))
  await run('finish', finishFor(deliveries[1]!, clock.now()))
  const ref = { accountId, emailId: complained, ordinal: 0, at: clock.now(), data: {} }
  await run('complain', { ...ref, suppress: true })
  assert.equal(rows('select email, reason, source_id from suppressions order by email'), [
    { email: 'a@there.test', reason: 'bounce', source_id: Buffer.from(bounced) },
    { email: 'b@there.test', reason: 'complaint', source_id: Buffer.from(complained) },
  ])
  const counts = [null, 'manual', 'bounce', 'complaint'] as const
  assert.equal(
    await Promise.all(counts.map(reason => countSuppressions(find, accountId, reason))),
    [2, 0, 1, 1],
  )
})

test('suppressions: after the removal, waiting mail to the address is delivered', async t => {
  const { run, send, suppress, claim, accountId, clock, rows } = await open(t)
  await send(accountId, { to: ['a@there.test', 'b@there.test'] })
  for (const delivery of await claim(accountId))
    await run('finish', finishFor(delivery, clock.now(), endings.deferred(clock.now(), 1_000)))
  suppress(accountId, 'a@there.test')
  await run('unsuppress', { accountId, refs: [{ email: 'a@there.test' }] })
  suppress(accountId, 'b@there.test')
  clock.advance(1_000)
  const claimed = await claim(accountId, 'there.test', { class: 2 })
  assert.equal(
    claimed.map(({ address }) => address),
    ['a@there.test'],
  )
  assert.equal(rows("select address from deliveries where status = 'suppressed'"), [
    { address: 'b@there.test' },
  ])
})

test.run()
