import * as assert from 'uvu/assert'
import { type Id, idText, sameId } from '../../../../src/lib/ids.ts'
import { isRefusal } from '../../../../src/pipeline/accept/refusal.ts'
import { type DueQueueKey, listDueQueueKeys } from '../../../../src/pipeline/queue/queue-key-rows.ts'
import { isOnPostgres, planOf } from '../../../kit/database.ts'
import { finishFor, HOUR_MS, postOver } from '../../../kit/mail.ts'
import { fc } from '../../../kit/property.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('queue/release')

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const { clock } = post
  const accountId = post.account()
  const domainId = post.domain(accountId, 'here.test')
  return {
    ...store,
    ...post,
    accountId,
    domainId,
    schedule: (ms: number, to = ['a@there.test']) =>
      post.send(accountId, { scheduledAt: clock.now() + ms, to }),
    release: (limit = 100) => store.run('releaseScheduled', { now: clock.now(), limit }),
    statuses: () =>
      store.rows<{ status: string }>('select status from emails order by id').map(({ status }) => status),
    totals: () =>
      store.rows("select kind, count from counters where kind like 'emails.%' and count <> 0 order by kind"),
  }
}

test('release: an email enters the queue at its scheduled time and not before', async t => {
  const { schedule, release, claim, accountId, statuses, totals, announced, rows, clock } = await open(t)
  await schedule(HOUR_MS)
  assert.is(await release(), clock.now() + HOUR_MS)
  clock.advance(HOUR_MS - 1)
  assert.is(await release(), clock.now() + 1)
  assert.equal([statuses(), announced('due')], [['scheduled'], []])
  clock.advance(1)
  assert.is(await release(), null)
  assert.equal([statuses(), totals()], [['queued'], [{ kind: 'emails.queued', count: 1 }]])
  const [queueKey] = announced('due') as DueQueueKey[]
  assert.equal([queueKey!.domain, queueKey!.class, queueKey!.at], ['there.test', 0, clock.now()])
  assert.ok(sameId(queueKey!.accountId, accountId))
  assert.equal(
    (await claim(accountId)).map(({ address }) => address),
    ['a@there.test'],
  )
  assert.equal(rows('select type from events'), [{ type: 'email.scheduled' }])
})

test('release: the earliest emails are queued first, up to the limit', async t => {
  const { schedule, release, statuses, clock } = await open(t)
  for (const ms of [300, 100, 400, 200]) await schedule(ms)
  const start = clock.now()
  clock.advance(350)
  assert.is(await release(2), start + 300)
  assert.equal(statuses(), ['scheduled', 'queued', 'scheduled', 'queued'])
  assert.is(await release(2), start + 400)
  assert.equal(statuses(), ['queued', 'queued', 'scheduled', 'queued'])
})

test('release: each queue key is announced once', async t => {
  const { schedule, release, announced, clock } = await open(t)
  for (let i = 0; i < 10; i++) await schedule(1, ['a@there.test', 'b@there.test', `c${i}@far.test`])
  clock.advance(1)
  await release()
  assert.equal(
    announced('due')
      .map(queueKey => (queueKey as { domain: string }).domain)
      .sort(),
    ['far.test', 'there.test'],
  )
})

test('release: a message released late keeps its full delivery lifetime', async t => {
  const { schedule, release, rows, clock } = await open(t)
  await schedule(HOUR_MS)
  clock.advance(100 * HOUR_MS)
  await release()
  assert.equal(rows('select expires_at from deliveries'), [{ expires_at: clock.now() + 48 * HOUR_MS }])
})

test('release: scheduled emails create no queue keys', async t => {
  const { schedule, release, db, clock } = await open(t)
  for (let i = 0; i < 50; i++) await schedule(HOUR_MS, [`a@d${i}.test`])
  assert.equal(await listDueQueueKeys(db), [])
  clock.advance(HOUR_MS)
  await release(20)
  assert.is((await listDueQueueKeys(db)).length, 20)
})

test('release: due emails are found by the index of scheduled emails alone', async t => {
  const plan = planOf(
    await open(t),
    `select account_id, id from emails where status = 'scheduled' and scheduled_at <= ?
     order by scheduled_at limit ?`,
    0,
    1,
  )
  assert.match(plan, /^SEARCH emails USING .*INDEX emails_scheduled|Index Scan using emails_scheduled/)
  assert.not.match(plan, /TEMP B-TREE|Sort/)
})

for (const status of ['pending', 'failed', 'deleted'])
  test(`release: an email whose domain has become ${status} fails with the reason`, async t => {
    const { schedule, release, change, claim, accountId, rows, totals, clock } = await open(t)
    await schedule(HOUR_MS, ['a@there.test', 'b@there.test'])
    if (status === 'deleted') change('delete from domains')
    else change(`update domains set status = '${status}'`)
    clock.advance(HOUR_MS)
    assert.is(await release(), null)
    const reason = 'The here.test domain is no longer verified.'
    assert.equal(rows('select status, error, sent_at from emails'), [
      { status: 'failed', error: reason, sent_at: null },
    ])
    const explanation = {
      ...{ code: 'not_sendable', summary: `Not sent: ${reason}` },
      ...{ action: null, next_attempt_at: null },
    }
    const data = JSON.stringify({ failed: { reason }, explanation })
    assert.equal(
      rows("select type, recipient, data from events where type <> 'email.scheduled' order by id"),
      [
        { type: 'email.failed', recipient: 'a@there.test', data },
        { type: 'email.failed', recipient: 'b@there.test', data },
      ],
    )
    assert.equal(totals(), [{ kind: 'emails.failed', count: 1 }])
    assert.equal(await claim(accountId), [])
  })

test('release: a domain that fails temporarily may still send', async t => {
  const { schedule, release, change, statuses, clock } = await open(t)
  await schedule(HOUR_MS)
  change("update domains set status = 'temporary_failure'")
  clock.advance(HOUR_MS)
  await release()
  assert.equal(statuses(), ['queued'])
})

test('release: a domain registered and verified again takes over its scheduled mail', async t => {
  const { schedule, release, change, domain, accountId, rows, clock } = await open(t)
  await schedule(HOUR_MS)
  change('delete from domains')
  const again = domain(accountId, 'here.test')
  clock.advance(HOUR_MS)
  await release()
  const [email] = rows<{ status: string; domain_id: Uint8Array }>('select status, domain_id from emails')
  assert.equal([email!.status, idText(email!.domain_id)], ['queued', idText(again)])
})

test('release: simulator mail without a domain needs none at release, either', async t => {
  const { submit, accountId, release, statuses, clock } = await open(t)
  await submit(accountId, {
    from: 'ann@nowhere.test',
    to: ['delivered@simulator.test'],
    scheduledAt: clock.now() + 1,
  })
  clock.advance(1)
  await release()
  assert.equal(statuses(), ['queued'])
})

/** Actions of users, time and the queue on scheduled emails, in any order. */
const step = fc.oneof(
  fc.record({ kind: fc.constantFrom('cancel' as const, 'reschedule' as const), which: fc.nat(2) }),
  fc.record({ kind: fc.constantFrom('release' as const, 'claim' as const), which: fc.constant(0) }),
  fc.record({ kind: fc.constantFrom('advance' as const, 'jump' as const), which: fc.nat(40) }),
)

test('release: each email is either sent once or canceled', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async steps => {
      const store = await openLocalStore()
      try {
        const post = postOver(store)
        const { clock } = post
        const accountId = post.account()
        post.domain(accountId, 'here.test')
        const ids: Id[] = []
        for (const minutes of [1, 10, 30])
          ids.push(await post.send(accountId, { scheduledAt: clock.now() + minutes * 60_000 }))
        const canceled = new Set<string>()
        const sent: string[] = []
        const release = () => store.run('releaseScheduled', { now: clock.now(), limit: 2 })
        const deliver = async () => {
          for (const delivery of await post.claim(accountId, 'there.test')) {
            sent.push(idText(delivery.emailId))
            await store.run('finish', finishFor(delivery, clock.now()))
          }
        }

        for (const { kind, which } of steps) {
          const id = ids[which]!
          if (kind === 'cancel') {
            const result = await store.run('cancelEmail', { accountId, id, now: clock.now() })
            if (result === true) canceled.add(idText(id))
          } else if (kind === 'reschedule') {
            const scheduledAt = clock.now() + 20 * 60_000
            const result = await store.run('rescheduleEmail', {
              accountId,
              id,
              scheduledAt,
              now: clock.now(),
            })
            if (result === true) assert.not(sent.includes(idText(id)))
            else assert.ok(isRefusal(result))
          } else if (kind === 'release') await release()
          else if (kind === 'claim') await deliver()
          else if (kind === 'advance') clock.advance(which * 60_000)
          else clock.jump((which - 20) * 60_000)
        }

        clock.advance(48 * HOUR_MS)
        while ((await release()) !== null);
        await deliver()
        for (const id of ids.map(idText)) {
          const times = sent.filter(other => other === id).length
          assert.is(times, canceled.has(id) ? 0 : 1, `${id} was sent ${times} times`)
        }
        const totals = store.rows<{ kind: string; count: number }>(
          "select kind, count from counters where kind like 'emails.%' and count <> 0",
        )
        assert.equal(
          Object.fromEntries(totals.map(({ kind, count }) => [kind, count])),
          Object.fromEntries(
            [
              ['emails.canceled', canceled.size],
              ['emails.delivered', ids.length - canceled.size],
            ].filter(([, count]) => count !== 0),
          ),
        )
      } finally {
        await store.close()
      }
    }),
    { seed: 20261121, numRuns: isOnPostgres ? 12 : 150 },
  )
})

test.run()
