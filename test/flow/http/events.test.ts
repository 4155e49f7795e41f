import * as assert from 'uvu/assert'
import { addAccount, openSession } from '../../kit/accounts.ts'
import { openEventStream } from '../../kit/event-stream.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('events over HTTP')
let mailhorn: Mailhorn
let session: string
test.before(async () => {
  mailhorn = await startMailhorn()
  session = openSession(mailhorn, 'bearer')
})
test.after(() => mailhorn.close())

const MAIL = { from: 'ann@here.example', subject: 's', text: 't' }

async function sendTo(name: string, key = mailhorn.apiKey): Promise<string> {
  const body = { ...MAIL, to: `${name}@simulator.test` }
  return (await mailhorn.call('POST', '/emails', { key, body })).body.id
}

const list = (query = '') => mailhorn.call('GET', `/activity${query}`, { session })
const typesOf = ({ body }: { body: { data: { type: string }[] } }) => body.data.map(({ type }) => type)

test('events are listed newest first with a cursor', async () => {
  const stream = await openEventStream(mailhorn.baseUrl, { session })
  const id = await sendTo('complained')
  const seen = await stream.types(3)
  await stream.close()
  assert.equal(seen, ['email.sent', 'email.delivered', 'email.complained'])
  const all = await list()
  assert.equal(typesOf(all), seen.toReversed())
  assert.equal([all.body.total, all.body.has_more], [3, false])
  const [newest] = all.body.data
  assert.equal([newest.subject_id, newest.recipient], [id, 'complained@simulator.test'])
  const { subject } = await mailhorn.email(id)
  assert.ok(all.body.data.every((event: { subject: string | null }) => event.subject === subject))
  const first = await list('?limit=1')
  assert.equal([typesOf(first), first.body.has_more], [['email.complained'], true])
  const second = await list(`?limit=1&after=${first.body.data[0].id}`)
  assert.equal([typesOf(second), second.body.has_more], [['email.delivered'], true])
  const third = await list(`?limit=1&after=${second.body.data[0].id}`)
  assert.equal([typesOf(third), third.body.has_more], [['email.sent'], false])
  const back = await list(`?limit=1&before=${third.body.data[0].id}`)
  assert.equal([typesOf(back), back.body.has_more], [['email.delivered'], true])
})

test('a stream begins with the next event or after the last one seen', async () => {
  await sendTo('delivered')
  await until(async () => typesOf(await list())[0] === 'email.delivered')
  const stream = await openEventStream(mailhorn.baseUrl, { session })
  assert.is(stream.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  const id = await sendTo('delivered')
  assert.equal(await stream.types(2), ['email.sent', 'email.delivered'])
  assert.ok(stream.events.every(({ subject_id }) => subject_id === id))
  await stream.close()
  const missed = await sendTo('bounced')
  const lastEventId = stream.events[0]!.id
  for (const again of [{ lastEventId }, { query: `?after=${lastEventId}` }]) {
    const resumed = await openEventStream(mailhorn.baseUrl, { session, ...again })
    assert.equal(await resumed.types(3), ['email.delivered', 'email.sent', 'email.bounced'])
    assert.is(resumed.events[2]!.subject_id, missed)
    await resumed.close()
  }
})

test('another account sees no events', async () => {
  const other = addAccount(mailhorn, 'other')
  const since = (await list()).body.data[0].id
  const theirs = await openEventStream(mailhorn.baseUrl, { session: other.session, lastEventId: since })
  const own = await openEventStream(mailhorn.baseUrl, { session })
  await sendTo('delivered')
  await own.types(2)
  const id = await sendTo('suppressed', other.apiKey)
  await theirs.types(1)
  assert.ok(theirs.events.every(({ subject_id }) => subject_id === id))
  const { body } = await mailhorn.call('GET', '/activity', { session: other.session })
  assert.ok(
    body.data.every((event: { recipient: string | null }) => !event.recipient?.startsWith('delivered')),
  )
  await theirs.close()
  await own.close()
})

test('a quiet stream sends heartbeats and ends with its session', async () => {
  const own = openSession(mailhorn, 'bearer')
  const stream = await openEventStream(mailhorn.baseUrl, { session: own })
  await until(() => {
    mailhorn.clock.advance(1_000)
    return stream.heartbeatCount >= 1
  })
  await mailhorn.call('POST', '/auth/logout', { session: own })
  const count = stream.heartbeatCount
  await until(async () => {
    mailhorn.clock.advance(16_000)
    return Promise.race([stream.ended.then(() => true), new Promise(resolve => setTimeout(resolve, 5))])
  })
  assert.is(stream.heartbeatCount, count)
})

test('an invalid event id is refused', async () => {
  const refused = await list('?after=nonsense')
  assert.equal([refused.status, refused.body.errors[0].path], [422, 'after'])
  const id = (await list()).body.data[0].id
  assert.is((await list(`?after=${id}&before=${id}`)).status, 422)
  const { status } = await mailhorn.call('GET', '/activity/stream', {
    session,
    headers: { 'last-event-id': 'nonsense' },
  })
  assert.is(status, 422)
})

test('a stream does not delay the stop of the service', async () => {
  const own = await startMailhorn()
  const stream = await openEventStream(own.baseUrl, { session: openSession(own, 'bearer') })
  await own.close()
  await stream.ended
})

test.run()
