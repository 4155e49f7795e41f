import * as assert from 'uvu/assert'
import { type Id, sameId } from '../../../../src/lib/ids.ts'
import { isRefusal } from '../../../../src/pipeline/accept/refusal.ts'
import { DELIVERY_STATE, type DefaultSubscription } from '../../../../src/store/model/schema.ts'
import { openAudience } from '../../../kit/audience.ts'
import { planOf } from '../../../kit/database.ts'
import { HOUR_MS, newId, postOver } from '../../../kit/mail.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('accept/topics')
const ANN = 'ann@there.test'
const LEFT_EVERYTHING = 'The recipient has unsubscribed from everything.'
const LEFT_TOPIC = 'The recipient has unsubscribed from the topic.'
const NEVER_JOINED = 'The recipient has not subscribed to the topic.'
const NOT_FOUND = 'Topic not found (`topic_id`).'

async function open(t: TestContext) {
  const audience = await openAudience(t)
  const { run, rows, clock, accountId, audienceId } = audience
  const post = postOver(audience, { clock })
  post.domain(accountId, 'here.test')
  const topic = async (defaultSubscription: DefaultSubscription, ofAccount = accountId): Promise<Id> => {
    const id = newId(clock.now())
    const fields = { name: 'News', description: null, defaultSubscription, visibility: 'private' as const }
    await run('createTopic', { accountId: ofAccount, id, fields, at: clock.now() })
    return id
  }
  return {
    ...audience,
    ...post,
    topic,
    say: (topicId: Id, subscribed: boolean, of = audienceId) =>
      run('subscribe', {
        ...{ accountId, audienceId: of, ref: { email: ANN } },
        subscriptions: [{ topicId, subscribed }],
        at: clock.now(),
      }),
    leaveAll: () => run('unsubscribe', { accountId, email: ANN, topicId: null, at: clock.now() }),
    deliveries: () =>
      rows<{ address: string; status: string }>(
        'select address, status from deliveries order by email_id, ordinal',
      ).map(({ address, status }) => `${address} ${status}`),
    /** Why, by recipient. */
    told: () =>
      rows<{ recipient: string; data: string }>(
        "select recipient, data from events where type = 'email.suppressed' order by id",
      ).map(({ recipient, data }) => [recipient, JSON.parse(data).suppressed.message]),
  }
}

test('topic: an email stores its topic and has unsubscribe links', async t => {
  const { topic, send, accountId, rows } = await open(t)
  const topicId = await topic('opt_in')
  await send(accountId, { topicId })
  await send(accountId)
  const [about, other] = rows<{ topic_id: Id | null; link_terms_id: number | null }>(
    'select topic_id, link_terms_id from emails order by id',
  )
  assert.ok(sameId(about!.topic_id!, topicId))
  assert.type(about!.link_terms_id, 'number')
  assert.equal(other, { topic_id: null, link_terms_id: null })
})

type Opened = Awaited<ReturnType<typeof open>>

for (const [who, prepare, [optIn, optOut]] of [
  ['somebody who is no contact', async () => {}, [null, NEVER_JOINED]],
  ['a contact that has said nothing', async ({ add }) => add({ email: ANN }), [null, NEVER_JOINED]],
  [
    'a contact that wants it',
    async ({ add, say }, topicId) => {
      await add({ email: ANN })
      await say(topicId, true)
    },
    [null, null],
  ],
  [
    'a contact that does not want it',
    async ({ add, say }, topicId) => {
      await add({ email: ANN })
      await say(topicId, false)
    },
    [LEFT_TOPIC, LEFT_TOPIC],
  ],
  [
    'a contact that does not want it in one of two audiences',
    async ({ add, say, newAudience }, topicId) => {
      const other = await newAudience()
      await add({ email: ANN })
      await add({ email: ANN }, other)
      await say(topicId, true)
      await say(topicId, false, other)
    },
    [LEFT_TOPIC, LEFT_TOPIC],
  ],
  [
    'a contact that does not want another topic',
    async ({ add, say, topic }) => {
      await add({ email: ANN })
      await say(await topic('opt_in'), false)
    },
    [null, NEVER_JOINED],
  ],
  [
    'a contact that has unsubscribed from everything, though it wants the topic',
    async ({ add, say, leaveAll }, topicId) => {
      await add({ email: ANN })
      await say(topicId, true)
      await leaveAll()
    },
    [LEFT_EVERYTHING, LEFT_EVERYTHING],
  ],
  [
    'a contact that has left an audience which is gone',
    async ({ run, add, leaveAll, accountId, audienceId: id, clock }) => {
      await add({ email: ANN })
      await leaveAll()
      await run('deleteAudience', { accountId, id, at: clock.now() })
    },
    [LEFT_EVERYTHING, LEFT_EVERYTHING],
  ],
  [
    'a contact that wants it, with a silent contact in an audience which is gone',
    async ({ run, add, say, newAudience, accountId, clock }, topicId) => {
      const gone = await newAudience()
      await add({ email: ANN })
      await add({ email: ANN }, gone)
      await say(topicId, true)
      await run('deleteAudience', { accountId, id: gone, at: clock.now() })
    },
    [null, null],
  ],
  [
    'a contact of another account that has left everything',
    async ({ run, account, newAudience, clock }) => {
      const accountId = account('Other')
      const fields = { email: ANN, firstName: null, lastName: null, unsubscribed: true }
      await run('addContact', {
        ...{ accountId, audienceId: await newAudience(accountId), id: newId(clock.now()), at: clock.now() },
        fields: { ...fields, properties: new Map() },
      })
    },
    [null, NEVER_JOINED],
  ],
] satisfies [
  string,
  (opened: Opened, topicId: Id) => Promise<unknown>,
  [optIn: string | null, optOut: string | null],
][])
  for (const [byDefault, reason] of [
    ['opt_in', optIn],
    ['opt_out', optOut],
  ] as const)
    test(`${who} ${reason === null ? 'gets' : 'does not get'} mail about a topic that is ${byDefault}`, async t => {
      const opened = await open(t)
      const topicId = await opened.topic(byDefault)
      await prepare(opened, topicId)
      await opened.send(opened.accountId, { to: ['Ann@There.test'], topicId })
      const status = reason === null ? 'queued' : 'suppressed'
      assert.equal(opened.deliveries(), [`Ann@there.test ${status}`])
      assert.equal(opened.told(), reason === null ? [] : [['Ann@there.test', reason]])
      assert.equal(opened.rows('select status, error from emails'), [{ status, error: reason }])
    })

test('topic: an email without a topic is sent to contacts who left all topics', async t => {
  const { add, leaveAll, send, accountId, deliveries } = await open(t)
  await add({ email: ANN })
  await leaveAll()
  await send(accountId, { to: [ANN] })
  assert.equal(deliveries(), [`${ANN} queued`])
})

test('topic: every recipient is checked, and the suppression list takes precedence', async t => {
  const { topic, send, suppress, accountId, add, leaveAll, deliveries, told, rows } = await open(t)
  const topicId = await topic('opt_in')
  await add({ email: ANN })
  await leaveAll()
  suppress(accountId, 'bob@there.test')
  await send(accountId, { to: ['cid@there.test'], cc: [ANN], bcc: ['bob@there.test'], topicId })
  assert.equal(deliveries(), ['cid@there.test queued', `${ANN} suppressed`, 'bob@there.test suppressed'])
  await send(accountId, { to: [ANN, 'bob@there.test'], topicId })
  const onList = 'The address is on the suppression list.'
  const both = [
    [ANN, LEFT_EVERYTHING],
    ['bob@there.test', onList],
  ]
  assert.equal(told(), [...both, ...both])
  assert.equal(rows('select status, error from emails order by id'), [
    { status: 'queued', error: null },
    { status: 'suppressed', error: 'All recipients are suppressed or not subscribed to the topic.' },
  ])
})

test('topic: an unknown topic or one of another account is refused', async t => {
  const { topic, run, submit, account, accountId, clock, rows } = await open(t)
  const gone = await topic('opt_in')
  await run('deleteTopic', { accountId, id: gone, at: clock.now() })
  for (const topicId of [newId(0), gone, await topic('opt_in', account('Other'))])
    assert.equal(await submit(accountId, { topicId }), {
      refused: 'unknown_reference',
      message: NOT_FOUND,
      errors: [{ path: 'topic_id', message: NOT_FOUND }],
    })
  for (const table of ['emails', 'deliveries', 'contents', 'events'])
    assert.equal(rows(`select * from ${table}`), [], table)
})

test('topic: an unknown topic in a batch is reported with its index or left out', async t => {
  const { topic, submitBatch, accountId, rows } = await open(t)
  const topicId = await topic('opt_in')
  const batch = [{ topicId }, { topicId: newId(0) }]
  const strict = await submitBatch(accountId, batch)
  assert.equal(isRefusal(strict) && strict.errors, [{ path: '[1].topic_id', message: NOT_FOUND }])
  assert.is(rows('select id from emails').length, 0)
  const permissive = await submitBatch(accountId, batch, { mode: 'permissive' })
  assert.ok(!isRefusal(permissive))
  assert.equal([permissive.ids.length, permissive.leftOut], [1, [{ index: 1, message: NOT_FOUND }]])
})

test('topic: emails of a group are checked against their own topic and account', async t => {
  const { topic, group, request, account, domain, accountId, add, say, deliveries } = await open(t)
  const other = account('Other')
  domain(other, 'other.test')
  await add({ email: ANN })
  const [left, wanted, foreign] = [await topic('opt_in'), await topic('opt_in'), await topic('opt_in', other)]
  await say(left, false)
  const requests = [
    await request(accountId, { to: [ANN], topicId: left }),
    await request(accountId, { to: [ANN], topicId: wanted }),
    await request(other, { from: 'x@other.test', to: [ANN], topicId: foreign }),
    await request(other, { from: 'x@other.test', to: [ANN] }),
  ]
  const { replies } = await group(...requests)
  assert.ok(replies.every(({ ok }) => ok))
  assert.equal(
    deliveries(),
    ['suppressed', 'queued', 'queued', 'queued'].map(status => `${ANN} ${status}`),
  )
})

test('topic: consent is looked up for more recipients than one statement has', async t => {
  const { topic, submitBatch, accountId, add, leaveAll, deliveries } = await open(t)
  const topicId = await topic('opt_in')
  await add({ email: ANN })
  await leaveAll()
  const many = Array.from({ length: 25 }, (_, i) => ({
    to: Array.from({ length: 50 }, (_, j) => (i === 24 && j === 49 ? ANN : `r${i}-${j}@there.test`)),
    topicId,
  }))
  assert.not(isRefusal(await submitBatch(accountId, many)))
  assert.equal(
    deliveries().filter(line => line.endsWith('suppressed')),
    [`${ANN} suppressed`],
  )
})

test('topic: contacts are found by address in a large account', async t => {
  const plan = planOf(
    await open(t),
    `select contacts.id from contacts left join contact_topics on contact_topics.contact_id = contacts.id
       and contact_topics.topic_id in (?) where account_id = ? and email in (?, ?)`,
    ...[newId(0), newId(0), ANN, 'bob@there.test'],
  )
  assert.match(plan, /SEARCH contacts USING .*INDEX contacts_email|Index .*Scan .*contacts_email/)
  assert.not.match(plan, /SCAN|Seq Scan/)
})

async function openScheduled(t: TestContext) {
  const opened = await open(t)
  const { accountId, clock, topic, add, send, run, rows } = opened
  const topicId = await topic('opt_in')
  await add({ email: ANN })
  return {
    ...opened,
    topicId,
    schedule: (...to: string[]) => send(accountId, { to, topicId, scheduledAt: clock.now() + HOUR_MS }),
    async release() {
      clock.advance(HOUR_MS)
      await run('releaseScheduled', { now: clock.now(), limit: 100 })
    },
    emails: () => rows('select status, error from emails order by id'),
  }
}

test('topic: consent for a scheduled email is checked at its time', async t => {
  const { schedule, release, leaveAll, say, topicId, deliveries, told, emails, claim, accountId } =
    await openScheduled(t)
  await say(topicId, false)
  await schedule(ANN)
  await say(topicId, true)
  await schedule(ANN)
  assert.equal(told(), [])
  await release()
  assert.equal([deliveries(), told()], [[`${ANN} queued`, `${ANN} queued`], []])
  await schedule(ANN, 'bob@there.test')
  await schedule(ANN)
  await leaveAll()
  await release()
  assert.equal(deliveries().slice(2), [`${ANN} suppressed`, 'bob@there.test queued', `${ANN} suppressed`])
  assert.equal(told(), [
    [ANN, LEFT_EVERYTHING],
    [ANN, LEFT_EVERYTHING],
  ])
  assert.equal(emails().slice(3), [{ status: 'suppressed', error: LEFT_EVERYTHING }])
  assert.equal(
    (await claim(accountId)).map(({ address }) => address),
    [ANN, ANN, 'bob@there.test'],
  )
})

test('topic: a delivery that has ended is not suppressed when its email is released', async t => {
  const { schedule, release, leaveAll, change, deliveries, told } = await openScheduled(t)
  await schedule(ANN, 'bob@there.test')
  change("update deliveries set state = ?, status = 'bounced' where address = ?", DELIVERY_STATE.done, ANN)
  await leaveAll()
  await release()
  assert.equal([deliveries(), told()], [[`${ANN} bounced`, 'bob@there.test queued'], []])
})

test('topic: a scheduled email whose topic was deleted fails with a reason', async t => {
  const { schedule, release, run, accountId, topicId, clock, emails, claim, told } = await openScheduled(t)
  await schedule(ANN, 'bob@there.test')
  await run('deleteTopic', { accountId, id: topicId, at: clock.now() })
  await release()
  assert.equal(emails(), [{ status: 'failed', error: 'Its topic has been deleted.' }])
  assert.equal([await claim(accountId), told()], [[], []])
})

test.run()
