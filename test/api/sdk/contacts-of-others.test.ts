import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('clients of other languages: contacts, as their calls are seen on the wire')
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const NOWHERE = 'aud_01a201a1-0fc1-7038-b875-63bded9b3d16'

/** An account whose oldest audience is not the one that is meant. */
async function openAccount(name: string) {
  const { session } = addAccount(mailhorn, name)
  const call = (method: string, path: string, body?: object) =>
    mailhorn.call(method, path, { session, ...(body && { body }) })
  const make = async (path: string, body: object) => {
    const answer = await call('POST', path, body)
    assert.is(answer.status, 201, JSON.stringify(answer.body))
    return answer.body
  }
  const oldest: string = (await make('/audiences', { name: 'Oldest' })).id
  const readers: string = (await make('/segments', { name: 'Readers' })).id
  const others: string = (await make('/segments', { name: 'Others' })).id
  const emailsIn = async (audience: string) =>
    (await call('GET', `/audiences/${audience}/contacts`)).body.data.map(
      (row: { email: string }) => row.email,
    )
  return { call, make, oldest, readers, others, emailsIn }
}

test('java and php name the audience of a new contact in the body', async () => {
  const { call, make, emailsIn, oldest, readers, others } = await openAccount('java')
  const ann = { email: 'ann@there.example', segment_id: readers, unsubscribed: false }
  assert.is((await make('/contacts', ann)).audience_id, readers)
  const bob = { email: 'bob@there.example', audience_id: readers }
  assert.is((await make('/contacts', bob)).audience_id, readers)
  await make('/contacts', { email: 'cid@there.example', segments: [readers, others] })
  const both = {
    email: 'dan@there.example',
    segment_id: readers,
    segments: [{ id: readers }, { id: others }],
  }
  assert.is((await make('/contacts', both)).audience_id, readers)
  assert.is((await make('/contacts', { email: 'eve@there.example', segment_id: null })).audience_id, oldest)
  const lost = await call('POST', '/contacts', { email: 'fay@there.example', segment_id: '' })
  assert.equal([lost.status, lost.body.errors[0].path], [422, 'segment_id'])
  assert.equal(
    await emailsIn(readers),
    ['dan', 'cid', 'bob', 'ann'].map(name => `${name}@there.example`),
  )
  assert.equal(
    await emailsIn(others),
    ['dan', 'cid'].map(name => `${name}@there.example`),
  )
  assert.equal(await emailsIn(oldest), ['eve@there.example'])
})

test('an audience that is not there is named by its place, and nobody is added', async () => {
  const { call, emailsIn, oldest } = await openAccount('nowhere')
  const email = 'ann@there.example'
  for (const [named, path] of [
    [{ segment_id: NOWHERE }, 'segment_id'],
    [{ audience_id: 'newsletter' }, 'audience_id'],
    [{ segments: [oldest, NOWHERE] }, 'segments[1]'],
    [{ segments: [{ id: 'newsletter' }] }, 'segments[0].id'],
  ] as const)
    assertRefusal(await call('POST', '/contacts', { email, ...named }), {
      ...{ status: 422, name: 'validation_error', path },
    })
  assert.equal(await emailsIn(oldest), [])
})

test('contacts of one segment are listed where it is a parameter', async () => {
  const { call, make, readers } = await openAccount('listed')
  for (const [name, audience_id] of [
    ['ann', undefined],
    ['bob', readers],
    ['cid', readers],
  ])
    await make('/contacts', { email: `${name}@there.example`, audience_id })
  const emails = async (query: string) => {
    const { body } = await call('GET', `/contacts?${query}`)
    return [body.data.map((row: { email: string }) => row.email), body.total, body.has_more]
  }
  assert.equal(await emails(`segment_id=${readers}&limit=1`), [['cid@there.example'], 2, true])
  assert.equal(await emails(`audience_id=${readers}&q=bob`), [['bob@there.example'], 1, false])
  assert.is((await emails('segment_id='))[1], 3)
  assertRefusal(await call('GET', `/contacts?segment_id=${NOWHERE}`), {
    ...{ status: 422, name: 'validation_error', path: 'segment_id' },
  })
})

test('who is unsubscribed, or leaves a topic, where no audience is named does so everywhere', async () => {
  const { call, make, oldest, readers, others } = await openAccount('everywhere')
  const ann = 'ann@there.example'
  const topic: string = (await make('/topics', { name: 'News', default_subscription: 'opt_in' })).id
  for (const audience_id of [oldest, readers, others]) await make('/contacts', { email: ann, audience_id })
  const { id: other } = await make('/contacts', { email: 'bob@there.example', audience_id: readers })
  const text = async () =>
    Promise.all(
      [oldest, readers, others].map(async audience => {
        const { body } = await call('GET', `/audiences/${audience}/contacts/${ann}`)
        return [body.unsubscribed, body.unsubscribed_topics.length, body.first_name]
      }),
    )
  const change = async (path: string, body: object) =>
    assert.is((await call('PATCH', path, body)).status, 200, path)

  await change(`/contacts/${ann}`, { unsubscribed: true, first_name: 'Ann' })
  assert.equal(await text(), [
    [true, 0, 'Ann'],
    [true, 0, null],
    [true, 0, null],
  ])
  await change(`/contacts/${ann}`, { unsubscribed: false, segment_id: others })
  assert.equal(
    (await text()).map(([unsubscribed]) => unsubscribed),
    [true, true, false],
  )
  await change(`/contacts/${ann}`, { unsubscribed: false })
  await change(`/contacts/${ann}/topics`, { topics: [{ id: topic, subscription: 'opt_out' }] })
  assert.equal(await text(), [
    [false, 1, 'Ann'],
    [false, 1, null],
    [false, 1, null],
  ])
  await change(`/audiences/${oldest}/contacts/${ann}`, { unsubscribed: true })
  assert.equal(
    (await text()).map(([unsubscribed]) => unsubscribed),
    [true, false, false],
  )
  assert.is((await call('GET', `/contacts/${other}`)).body.unsubscribed, false)
})

test('a change that names an audience is of its contact', async () => {
  const { call, make, oldest, readers } = await openAccount('named')
  const email = 'ann@there.example'
  for (const audience_id of [oldest, readers]) await make('/contacts', { email, audience_id })
  for (const [i, key] of ['audience_id', 'segment_id'].entries()) {
    const { body } = await call('PATCH', `/contacts/${email}`, { first_name: `Ann ${i}`, [key]: readers })
    assert.equal([body.audience_id, body.first_name], [readers, `Ann ${i}`])
  }
  assert.is((await call('GET', `/audiences/${oldest}/contacts/${email}`)).body.first_name, null)
  assertRefusal(await call('PATCH', `/contacts/${email}`, { first_name: 'X', segment_id: 'newsletter' }), {
    ...{ status: 422, name: 'validation_error', path: 'segment_id', says: /segment/ },
  })
})

test.run()
