import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('activity of a contact')
const ADDRESS = 'delivered+ann@simulator.test'
let mailhorn: Mailhorn
let session: string
let contact: string
test.before(async () => {
  mailhorn = await startMailhorn()
  session = await mailhorn.signIn()
  await mailhorn.verifiedDomain('shop.example')
  const audience = await make('/audiences', { name: 'Readers' })
  contact = (await make(`/audiences/${audience.id}/contacts`, { email: ADDRESS })).id
})
test.after(() => mailhorn.close())

const call = (method: string, path: string, body?: object) =>
  mailhorn.call(method, path, { session, ...(body && { body }) })
const make = async (path: string, body: object) => (await call('POST', path, body)).body
const activity = async (query = '', ref = contact) =>
  (await call('GET', `/contacts/${ref}/activity${query}`)).body
const sendTo = (to: string | string[], subject: string) =>
  mailhorn.send({ from: 'orders@shop.example', to, subject, text: 'Hello' })

test('it is empty before anything is sent', async () => {
  const { object, total, data, suppression, opt_outs: optOuts } = await activity()
  assert.equal([object, total, data, suppression, optOuts], ['list', 0, [], null, []])
})

test('it lists the emails to the address, newest first, each with the events of this recipient alone', async () => {
  const first = await sendTo(ADDRESS, 'First')
  await mailhorn.emailWhen(first, 'delivered')
  const both = await sendTo([ADDRESS.toUpperCase(), 'bounced@simulator.test'], 'Second')
  await mailhorn.emailWhen(both, 'bounced')
  await sendTo('delivered+bob@simulator.test', 'For somebody else')
  const { total, data } = await activity()
  assert.is(total, 2)
  assert.equal(
    data.map(({ id, subject }: { id: string; subject: string }) => [id, subject]),
    [
      [both, 'Second'],
      [first, 'First'],
    ],
  )
  for (const { events } of data)
    assert.ok(events.some(({ type }: { type: string }) => type === 'email.delivered'))
  assert.not.ok(data[0].events.some(({ type }: { type: string }) => type === 'email.bounced'))
  const { body: email } = await call('GET', `/emails/${first}`)
  assert.equal(data[1].events, email.events)
})

test('it is paged by number and by cursor, and the address names the contact, too', async () => {
  const [second, first] = (await activity()).data
  const page = await activity('?limit=1', encodeURIComponent(ADDRESS))
  assert.equal([page.has_more, page.data], [true, [second]])
  const next = await activity(`?limit=1&after=${second.id}`)
  assert.equal([next.has_more, next.data], [false, [first]])
  assert.equal((await activity('?limit=1&offset=1')).data, [first])
  assert.equal((await activity(`?before=${first.id}`)).data, [second])
  assertRefusal(await call('GET', `/contacts/${contact}/activity?after=x`), {
    ...{ status: 422, name: 'validation_error', path: 'after' },
  })
})

test('segments and lists select contacts by their activity, and refuse what nobody can match', async () => {
  // given: one contact opens and clicks, one only receives, and one is sent nothing
  const audience = await make('/audiences', { name: 'By activity' })
  const path = `/audiences/${audience.id}`
  const [active, quiet, idle] = ['clicked', 'delivered', 'delivered+idle'].map(
    name => `${name.includes('+') ? name : `${name}+act`}@simulator.test`,
  )
  for (const email of [active, quiet, idle]) await make(`${path}/contacts`, { email })
  const clicked = await sendTo(active!, 'Click')
  await mailhorn.emailWhen(clicked, 'delivered')
  await mailhorn.emailWhen(await sendTo(quiet!, 'Read'), 'delivered')
  await until(async () => (await call('GET', `/emails/${clicked}`)).body.click_count === 1)

  // when, then
  const filters = (field: string, op: string, value: string | number) => [{ field, op, value }]
  const found = async (wanted: object[]) => {
    const { body } = await call(
      'GET',
      `${path}/contacts?filters=${encodeURIComponent(JSON.stringify(wanted))}`,
    )
    const { body: counted } = await call('POST', `${path}/segments/count`, { filters: wanted })
    assert.is(counted.contact_count, body.total)
    return body.data.map(({ email }: { email: string }) => email).reverse()
  }
  assert.equal(await found(filters('last_sent_at', 'within_days', 7)), [active, quiet])
  assert.equal(await found(filters('last_opened_at', 'within_days', 7)), [active])
  assert.equal(await found(filters('last_clicked_at', 'not_within_days', 7)), [quiet, idle])
  const bored = [
    ...filters('last_sent_at', 'within_days', 7),
    ...filters('last_opened_at', 'not_within_days', 7),
  ]
  assert.equal(await found(bored), [quiet])
  const segment = await make(`${path}/segments`, { name: 'Bored', filters: bored })
  assert.equal([segment.contact_count, segment.filters], [1, bored])
  const since = await make(`${path}/segments`, {
    name: 'New',
    filters: filters('created_at', 'after', '2026-01-01'),
  })
  assert.is(since.filters[0].value, '2026-01-01T00:00:00.000Z')
  const nobody = [
    ...filters('last_opened_at', 'within_days', 7),
    ...filters('last_opened_at', 'not_within_days', 30),
  ]
  assertRefusal(await call('POST', `${path}/segments`, { name: 'Nobody', filters: nobody }), {
    ...{ status: 422, name: 'validation_error', path: 'filters[1].value' },
  })
})

test('it says that the address is suppressed, and what its owner has opted out of', async () => {
  const topic = await make('/topics', { name: 'Offers', default_subscription: 'opt_in' })
  const { id } = await make('/suppressions', { email: ADDRESS })
  await call('PATCH', `/contacts/${contact}`, { unsubscribed: true })
  await call('PATCH', `/contacts/${contact}/topics`, {
    topics: [{ id: topic.id, subscription: 'opt_out' }],
  })
  const { suppression, opt_outs: optOuts } = await activity()
  assert.equal([suppression.id, suppression.reason], [id, 'manual'])
  const topics = optOuts.map(({ topic_id: id }: { topic_id: string | null }) => id)
  assert.equal(topics.toSorted(), [null, topic.id].toSorted())
})

test('the emails of another account to the same address are not shown', async () => {
  const other = addAccount(mailhorn, 'other')
  const theirs = await mailhorn.call('GET', `/contacts/${contact}/activity`, { session: other.session })
  assertRefusal(theirs, { status: 404, name: 'not_found' })
})

test.run()
