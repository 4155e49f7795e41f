import * as assert from 'uvu/assert'
import { isRefusal } from '../../../../src/pipeline/accept/refusal.ts'
import type { DomainStatus } from '../../../../src/store/model/schema.ts'
import { postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('accept/sender-domain')
const SIMULATED = 'delivered@simulator.test'

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  /** `taken`, or the kind of the refusal. */
  const outcome = async (from: string, ...to: string[]) => {
    const result = await post.submit(accountId, { from, to: to.length > 0 ? to : ['a@there.test'] })
    return isRefusal(result) ? `${result.refused}: ${result.message}` : 'taken'
  }
  const emails = () =>
    store.rows(
      'select case when domain_id is null then 0 else 1 end as signed, feedback from emails order by id',
    )
  return { ...store, ...post, accountId, outcome, emails }
}

test('sender domain: an unregistered domain cannot send', async t => {
  const { outcome, rows } = await open(t)
  assert.is(
    await outcome('x@here.test'),
    'domain_not_verified: The here.test domain in `from` is not registered. Add and verify the domain, then retry.',
  )
  for (const table of ['emails', 'deliveries', 'contents', 'events', 'counters'])
    assert.equal(rows(`select * from ${table}`), [], table)
})

for (const [status, isTaken] of [
  ['pending', false],
  ['failed', false],
  ['verified', true],
  ['temporary_failure', true],
] satisfies [DomainStatus, boolean][])
  test(`sender domain: a domain that is ${status} ${isTaken ? 'can' : 'cannot'} send`, async t => {
    const { outcome, domain, accountId } = await open(t)
    domain(accountId, 'here.test', { status })
    const refused =
      'domain_not_verified: The here.test domain in `from` is not verified. Add its DNS records, then verify the domain.'
    assert.is(await outcome('x@here.test'), isTaken ? 'taken' : refused)
  })

test('sender domain: the domain of another account counts as unregistered', async t => {
  const { outcome, domain, account } = await open(t)
  domain(account('Other'), 'here.test')
  assert.match(
    await outcome('x@here.test'),
    /^domain_not_verified: The here.test domain in `from` is not registered/,
  )
})

test('sender domain: a verified domain does not cover its parent or subdomains', async t => {
  const { outcome, domain, accountId } = await open(t)
  domain(accountId, 'mail.here.test')
  assert.match(await outcome('x@here.test'), /^domain_not_verified/)
  assert.match(await outcome('x@sub.mail.here.test'), /^domain_not_verified/)
  assert.is(await outcome('x@mail.here.test'), 'taken')
  assert.is(await outcome('x@MAIL.Here.Test'), 'taken')
})

test('sender domain: mail to the simulator needs no verified domain and is signed if there is one', async t => {
  const { outcome, domain, accountId, emails } = await open(t)
  domain(accountId, 'pending.test', { status: 'pending' })
  domain(accountId, 'here.test')
  assert.is(await outcome('you@example.com', SIMULATED), 'taken')
  assert.is(await outcome('x@pending.test', SIMULATED, 'bounced+1@simulator.test'), 'taken')
  assert.is(await outcome('x@here.test', SIMULATED), 'taken')
  assert.equal(emails(), [
    { signed: 0, feedback: 1 },
    { signed: 0, feedback: 1 },
    { signed: 1, feedback: 1 },
  ])
})

test('sender domain: a verified domain is needed if one recipient is real', async t => {
  const { outcome, domain, accountId } = await open(t)
  assert.match(await outcome('x@here.test', SIMULATED, 'a@there.test'), /^domain_not_verified/)
  domain(accountId, 'here.test')
  assert.is(await outcome('x@here.test', SIMULATED, 'a@there.test'), 'taken')
})

test('sender domain: only the exact domain of the simulator is exempt', async t => {
  const { outcome } = await open(t)
  for (const to of [
    'delivered@sub.simulator.test',
    'delivered@simulator.test.evil.test',
    'a@notsimulator.test',
  ])
    assert.match(await outcome('x@here.test', to), /^domain_not_verified/)
  assert.is(await outcome('x@here.test', 'delivered@SIMULATOR.test'), 'taken')
})

test('delivery feedback: it depends on the region of the domain and is always on for the simulator', async t => {
  const { outcome, domain, accountId, emails } = await open(t)
  domain(accountId, 'fed.test', { region: 'us-west-2' })
  domain(accountId, 'unfed.test', { region: 'eu-west-1' })
  await outcome('x@fed.test', 'a@there.test')
  await outcome('x@unfed.test', 'a@there.test')
  await outcome('x@unfed.test', SIMULATED)
  await outcome('x@unfed.test', SIMULATED, 'a@there.test')
  assert.equal(
    (emails() as { feedback: number }[]).map(({ feedback }) => feedback),
    [1, 0, 1, 0],
  )
})

test('sender domain: the status at the time of the commit counts', async t => {
  const { domain, accountId, change, outcome } = await open(t)
  domain(accountId, 'here.test')
  assert.is(await outcome('x@here.test'), 'taken')
  change("update domains set status = 'failed'")
  assert.match(await outcome('x@here.test'), /is not verified/)
  change('delete from domains')
  assert.match(await outcome('x@here.test'), /is not registered/)
})

test.run()
