import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { sweepDeletedDomains } from '../../../../src/pipeline/queue/deleted-domains.ts'
import { createQueueAdmin } from '../../../../src/pipeline/queue/queue-admin.ts'
import { DELIVERY_CLASS } from '../../../../src/store/model/schema.ts'
import { finishFor, HOUR_MS, newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('queue/deleted-domains')
const REASON = 'The here.test domain was deleted.'

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  const domainId = post.domain(accountId, 'here.test')
  post.domain(accountId, 'stays.test')
  const { clock } = post
  const sweep = () => sweepDeletedDomains({ db: store.db, run: store.run, clock })
  return {
    ...store,
    ...post,
    accountId,
    domainId,
    sweep,
    remove: (id: Id = domainId) => store.run('deleteDomain', { accountId, id, at: clock.now() }),
    swept: async () => {
      for await (const _ of sweep()) void _
    },
    statuses: () =>
      store
        .rows<{ subject: string; status: string }>('select subject, status from emails order by subject')
        .map(({ subject, status }) => `${subject} ${status}`),
    events: (subject: string) =>
      store
        .rows<{ type: string; data: string }>(
          'select type, data from events where subject_id = (select id from emails where subject = ?) order by id',
          subject,
        )
        .map(({ type, data }) => [type, JSON.parse(data).failed?.reason]),
    left: () => store.rows('select name from deleted_domains').length,
  }
}

test('deleted domains: waiting, deferred, held and scheduled mail of the domain fails; other mail stays', async t => {
  const { send, accountId, account, domain, claim, run, clock, ...rest } = await open(t)
  const other = account('Other')
  domain(other, 'other.test')
  const deferred = await send(accountId, { subject: 'deferred', to: ['d@slow.test'] })
  const [claimed] = await claim(accountId, 'slow.test')
  const later = {
    status: 'delivery_delayed' as const,
    outcome: 'deferred' as const,
    nextAt: clock.now() + HOUR_MS,
  }
  const event = { type: 'email.delivery_delayed' as const, data: { delay: {} } }
  await run('finish', finishFor(claimed!, clock.now(), { ...later, event }))
  await send(accountId, { subject: 'fresh', to: ['a@there.test', 'b@far.test'] })
  const held = await send(accountId, { subject: 'held', to: ['h@there.test'] })
  await send(accountId, { subject: 'later', scheduledAt: clock.now() + HOUR_MS })
  await send(accountId, { subject: 'kept fresh', from: 'x@stays.test' })
  await send(accountId, { subject: 'kept later', from: 'x@stays.test', scheduledAt: clock.now() + HOUR_MS })
  await send(other, { subject: 'of others', from: 'x@other.test' })
  const admin = createQueueAdmin({ db: rest.db, run, clock, newId })
  await admin.hold({ domain: null, accountId: null, broadcastId: null, emailId: held }, null)
  await claim(accountId, 'there.test', { class: DELIVERY_CLASS.transactional }).then(leases =>
    Promise.all(leases.map(lease => run('release', lease))),
  )
  assert.ok(deferred)

  assert.is(await rest.remove(), true)
  await rest.swept()
  assert.equal(rest.statuses(), [
    'deferred failed',
    'fresh failed',
    'held failed',
    'kept fresh queued',
    'kept later scheduled',
    'later failed',
    'of others queued',
  ])
  assert.equal(rest.events('fresh'), [
    ['email.failed', REASON],
    ['email.failed', REASON],
  ])
  assert.equal(rest.events('later').at(-1), ['email.failed', REASON])
  assert.equal(rest.events('deferred').at(-1), ['email.failed', REASON])
  assert.equal(rest.rows("select distinct error from emails where status = 'failed'"), [{ error: REASON }])
  assert.is(rest.left(), 0)
})

test('deleted domains: an attempt in progress ends normally and is not repeated', async t => {
  const { send, accountId, claim, run, clock, remove, swept, statuses } = await open(t)
  await send(accountId, { subject: 'under way' })
  const [claimed] = await claim(accountId)
  await remove()
  await swept()
  assert.equal(statuses(), ['under way queued'])
  await run('finish', finishFor(claimed!, clock.now()))
  assert.equal(statuses(), ['under way delivered'])
})

test('deleted domains: the sweep works in steps and resumes after a crash', async t => {
  const { send, accountId, remove, sweep, swept, left, rows } = await open(t)
  for (let i = 0; i < 9; i++)
    await send(accountId, { to: Array.from({ length: 50 }, (_, r) => `u${i}-${r}@there.test`) })
  await remove()
  const failed = () =>
    Number(rows<{ n: number }>("select count(*) as n from deliveries where status = 'failed'")[0]!.n)
  const cut = sweep()
  await cut.next()
  assert.is(failed(), 200)
  await cut.return(undefined)
  assert.equal([failed(), left()], [200, 1])
  await swept()
  assert.equal([failed(), left()], [450, 0])
  await swept()
  assert.is(failed(), 450)
})

test('deleted domains: mail of a new domain with the same name is not touched', async t => {
  const { send, accountId, domain, remove, swept, statuses } = await open(t)
  await send(accountId, { subject: 'former' })
  await remove()
  domain(accountId, 'here.test')
  await send(accountId, { subject: 'present' })
  await swept()
  assert.equal(statuses(), ['former failed', 'present queued'])
})

test.run()
