import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal, contentsOf } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('contacts at the paths of newer SDKs')
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const UNKNOWN = '01990000-0000-7000-8000-000000000000'
const NOT_FOUND = { status: 404, name: 'not_found' } as const

/** Opens an account of its own. */
function open(name: string) {
  const { session } = addAccount(mailhorn, name)
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    mailhorn.call(method, path, { session, headers, ...(body !== undefined && { body }) })
  const make = async (path: string, body: object) => {
    const answer = await call('POST', path, body)
    assert.is(answer.status, 201, JSON.stringify(answer.body))
    return answer.body
  }
  return { call, make, session }
}

test('a key that another account has defined is free, and its own is not', async () => {
  const definition = { key: 'shoe_size', type: 'number' }
  const one = open('one with a key')
  await one.make('/contact-properties', definition)
  await open('another with the key').make('/contact-properties', definition)
  assert.is((await one.call('POST', '/contact-properties', definition)).status, 422)
})

test('properties have their types at these paths, and are plain under /audiences', async () => {
  const { call, make } = open('typed properties')
  const plain = { city: 'X', age: 4, paying: true }
  const typed = {
    city: { value: 'X', type: 'string' },
    age: { value: 4, type: 'number' },
    paying: { value: true, type: 'boolean' },
  }
  const {
    id,
    audience_id: audience,
    properties,
  } = await make('/contacts', {
    email: 'ann@there.example',
    properties: plain,
  })
  assert.equal(properties, typed)
  const of = async (path: string) => {
    const { body } = await call('GET', path)
    return (body.data?.[0] ?? body).properties
  }
  for (const path of [
    `/contacts/${id}`,
    '/contacts/ann@there.example',
    '/contacts',
    `/segments/${audience}/contacts`,
  ])
    assert.equal(await of(path), typed, path)
  for (const path of [`/audiences/${audience}/contacts`, `/audiences/${audience}/contacts/${id}`])
    assert.equal(await of(path), plain, path)
  const changed = await call('PATCH', `/contacts/${id}`, { properties: { age: null, city: 'Y' } })
  assert.equal(changed.body.properties, { city: { value: 'Y', type: 'string' }, paying: typed.paying })
  const rust = { 'user-agent': 'resend-rs/0.31.0' }
  const { body } = await call('GET', `/audiences/${audience}/contacts`, undefined, rust)
  assert.equal(body.data[0].properties, {
    city: { value: 'Y', type: 'string' },
    paying: { value: 'true', type: 'string' },
  })
})

test('/segments says segment, /audiences says audience', async () => {
  const { call, make } = open('names')
  const segment = await make('/segments', { name: 'Readers' })
  assert.is(segment.object, 'segment')
  const { id } = segment
  await make(`/audiences/${id}/contacts`, { email: 'ann@there.example' })
  const objectOf = async (method: string, path: string, body?: object) =>
    (await call(method, path, body)).body.object
  assert.is(await objectOf('GET', `/segments/${id}`), 'segment')
  assert.is(await objectOf('PATCH', `/segments/${id}`, { name: 'News' }), 'segment')
  assert.is((await call('GET', '/segments')).body.data[0].object, 'segment')
  assert.is((await call('GET', '/contacts/ann@there.example/segments')).body.data[0].object, 'segment')
  assert.is(await objectOf('GET', `/audiences/${id}`), 'audience')
  assert.is((await call('GET', '/audiences')).body.data[0].object, 'audience')
  assert.equal((await call('DELETE', `/segments/${id}`)).body, { object: 'segment', id, deleted: true })
  const { id: other } = await make('/audiences', { name: 'Readers' })
  assert.is(await objectOf('DELETE', `/audiences/${other}`), 'audience')
})

test('deleting what does not exist succeeds here, and is 404 at the paths of audiences', async () => {
  const { call, make } = open('deletes')
  const { audience_id: audience } = await make('/contacts', { email: 'ann@there.example' })
  // the contents of audiences that earlier tests have deleted are deleted in the background
  await until(() => mailhorn.rows('select 1 from deleted_audiences').length === 0)
  const before = contentsOf(mailhorn)
  for (const [path, body] of [
    [`/segments/${UNKNOWN}`, { object: 'segment', id: `aud_${UNKNOWN}`, deleted: true }],
    [`/segments/aud_${UNKNOWN}`, { object: 'segment', id: `aud_${UNKNOWN}`, deleted: true }],
    [`/contacts/${UNKNOWN}`, { object: 'contact', id: `con_${UNKNOWN}`, contact: UNKNOWN, deleted: true }],
    ['/contacts/bob@there.example', { object: 'contact', contact: 'bob@there.example', deleted: true }],
  ] as const) {
    const answer = await call('DELETE', path)
    assert.equal([answer.status, answer.body], [200, body])
  }
  for (const path of [
    '/segments/nothing',
    '/contacts/nothing',
    `/audiences/${UNKNOWN}`,
    `/audiences/${audience}/contacts/${UNKNOWN}`,
    `/audiences/${audience}/contacts/bob@there.example`,
    `/topics/${UNKNOWN}`,
    `/contact-properties/${UNKNOWN}`,
    `/contacts/ann@there.example/segments/${UNKNOWN}`,
  ])
    assertRefusal(await call('DELETE', path), NOT_FOUND)
  assert.equal(contentsOf(mailhorn), before)
})

test('what belongs to another account is deleted neither here nor there', async () => {
  const { make, call } = open('owner')
  const stranger = open('not the owner')
  const { id, audience_id: audience } = await make('/contacts', { email: 'ann@there.example' })
  for (const path of [`/contacts/${id}`, '/contacts/ann@there.example', `/segments/${audience}`])
    assert.is((await stranger.call('DELETE', path)).status, 200)
  assert.is((await call('GET', `/contacts/${id}`)).body.email, 'ann@there.example')
})

test('a contact that is added again is returned unchanged, with warnings about what differs', async () => {
  const { call, make } = open('seeds')
  const topic = await make('/topics', { name: 'News' })
  const fields = { first_name: 'Ann', properties: { plan: 'pro' } }
  const first = await make('/contacts', { email: 'Ann@there.example', ...fields })
  assert.is(first.warnings, undefined)
  const again = await make('/contacts', { email: 'ann@There.example', ...fields })
  assert.equal([again.id, again.warnings], [first.id, undefined])
  const other = await make('/contacts', {
    ...{ email: 'ann@there.example', first_name: 'Anna', last_name: 'A', unsubscribed: true },
    properties: { plan: 'pro', seats: 3 },
    topics: [{ id: topic.id, subscription: 'opt_out' }],
  })
  assert.equal(
    other.warnings.map(({ path }: { path: string }) => path),
    ['first_name', 'last_name', 'unsubscribed', 'properties.seats', 'topics'],
  )
  const { warnings: _, ...unchanged } = other
  assert.equal(unchanged, first)
  const segment = await make('/segments', { name: 'Readers' })
  const placed = await make('/contacts', { email: 'ann@there.example', segments: [{ id: segment.id }] })
  assert.equal([placed.audience_id, placed.warnings], [segment.id, undefined], 'it was not in this segment')
  const refused = await call('POST', `/audiences/${segment.id}/contacts`, { email: 'ann@there.example' })
  assertRefusal(refused, { status: 400, name: 'validation_error', path: 'email' })
})

test('unsubscribing in one audience tells that the address stays in others', async () => {
  const { call, make } = open('elsewhere')
  const ids: string[] = []
  for (const name of ['One', 'Two', 'Three']) ids.push((await make('/audiences', { name })).id)
  for (const id of ids) await make(`/audiences/${id}/contacts`, { email: 'eve@there.example' })
  const leave = async (path: string, body: object = {}) =>
    (await call('PATCH', path, { unsubscribed: true, ...body })).body.warnings?.map(
      ({ path, message }: { path: string; message: string }) => [
        path,
        /subscribed in (.+?):/.exec(message)?.[1],
      ],
    )
  const below = (id: string) => `/audiences/${id}/contacts/eve@there.example`
  assert.equal(await leave(below(ids[0]!)), [['unsubscribed', '2 other audiences']])
  const named = await leave('/contacts/eve@there.example', { audience_id: ids[1] })
  assert.equal(named, [['unsubscribed', 'another audience']])
  assert.is(await leave(below(ids[2]!)), undefined)
  await call('PATCH', '/contacts/eve@there.example', { unsubscribed: false })
  assert.is(await leave('/contacts/eve@there.example'), undefined, 'it leaves all')
})

test('fields of these SDKs that are not applied under /audiences are named in warnings', async () => {
  const { make } = open('warnings')
  const { id } = await make('/audiences', { name: 'Readers' })
  const email = (name: string) => ({ email: `${name}@there.example` })
  const plain = await make(`/audiences/${id}/contacts`, { ...email('ann'), segments: [], audience_id: id })
  assert.is(plain.warnings, undefined)
  const warned = await make(`/audiences/${id}/contacts`, {
    ...email('bob'),
    segments: [{ id }],
    topics: [{ id: `top_${UNKNOWN}`, subscription: 'opt_in' }],
  })
  assert.equal(
    warned.warnings.map(({ path }: { path: string }) => path),
    ['segments', 'topics'],
  )
})

test('a contact that is removed from its only segment is kept in "Contacts"', async () => {
  const { call, make } = open('last segment')
  const segment = await make('/segments', { name: 'Readers' })
  const { id } = await make('/contacts', { email: 'ann@there.example', segments: [{ id: segment.id }] })
  const removed = await call('DELETE', `/contacts/${id}/segments/${segment.id}`)
  assert.equal(removed.body, {
    ...{ object: 'segment', id: segment.id, audienceId: segment.id, deleted: true },
  })
  assert.is((await call('GET', `/contacts/${id}`)).body.email, 'ann@there.example')
  const [list] = (await call('GET', `/contacts/${id}/segments`)).body.data
  assert.is(list.name, 'Contacts')
  assert.is((await call('GET', `/segments/${segment.id}`)).body.contact_count, 0)
  const stays = await call('DELETE', `/contacts/${id}/segments/${list.id}`)
  assert.equal([stays.status, stays.body.deleted, stays.body.warnings[0].path], [200, false, 'segment_id'])
  assert.is((await call('GET', `/contacts/${id}`)).status, 200)
  await call('POST', `/contacts/${id}/segments/${segment.id}`)
  assert.is((await call('DELETE', `/contacts/ann@there.example/segments/${list.id}`)).body.deleted, true)
})

test('the topics of a contact say when they were created', async () => {
  const { call, make } = open('topics of a contact')
  const topic = await make('/topics', { name: 'News', description: 'Weekly', visibility: 'public' })
  assert.is(topic.visibility, 'public')
  const { id } = await make('/contacts', { email: 'ann@there.example' })
  const { name, description, created_at } = topic
  assert.equal((await call('GET', `/contacts/${id}/topics`)).body.data, [
    { id: topic.id, name, description, created_at, subscription: 'opt_in' },
  ])
})

/** Sends a form to the import of the SDKs. */
async function importForm(session: string, parts: readonly (readonly [head: string, content: string])[]) {
  const raw = `${parts
    .map(([head, content]) => `--b\r\ncontent-disposition: form-data; ${head}\r\n\r\n${content}\r\n`)
    .join('')}--b--`
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  return mailhorn.call('POST', '/contacts/imports', { session, raw, headers })
}

test('an import leaves existing contacts unchanged unless it asks for upsert', async () => {
  const { call, make, session } = open('imports')
  const file = ['name="file"; filename="a.csv"', 'email,first_name\nann@there.example,New\n'] as const
  const { id, audience_id: audience } = await make('/contacts', {
    email: 'ann@there.example',
    first_name: 'Old',
  })
  const nameNow = async () => (await call('GET', `/contacts/${id}`)).body.first_name
  for (const form of [[file], [file, ['name="on_conflict"', 'skip'] as const]]) {
    const { body } = await importForm(session, form)
    assert.equal(body.counts, { total: 1, created: 0, updated: 0, skipped: 1, failed: 0 })
    assert.is(await nameNow(), 'Old')
  }
  const { body } = await importForm(session, [file, ['name="on_conflict"', 'upsert']])
  assert.equal([body.counts.updated, await nameNow()], [1, 'New'])
  const raw = 'email,first_name\nann@there.example,Newer\n'
  const headers = { 'content-type': 'text/csv' }
  await mailhorn.call('POST', `/audiences/${audience}/contacts/import`, { session, raw, headers })
  assert.is(await nameNow(), 'Newer', 'the import of an audience updates')
})

test('an import takes its file by its name, and goes into several segments with topics', async () => {
  const { call, make, session } = open('forms')
  const segments = [await make('/segments', { name: 'A' }), await make('/segments', { name: 'B' })]
  const topic = await make('/topics', { name: 'News' })
  const file = ['name="file"', 'email\nann@there.example\n'] as const
  const named = ['name="segments"', JSON.stringify(segments.map(({ id }) => ({ id })))] as const
  const topics = (list: object[]) => ['name="topics"', JSON.stringify(list)] as const
  const out = topics([{ id: topic.id, subscription: 'opt_out' }])
  const { status, body } = await importForm(session, [named, file, out])
  assert.equal([status, body.counts.created], [201, 1])
  for (const { id } of segments) {
    const [contact] = (await call('GET', `/audiences/${id}/contacts`)).body.data
    assert.equal([contact.email, contact.unsubscribed_topics], ['ann@there.example', [topic.id]])
  }
  const before = contentsOf(mailhorn)
  for (const [parts, path] of [
    [[file, file], 'file'],
    [[file, topics([{ id: `top_${UNKNOWN}`, subscription: 'opt_in' }])], 'topics[0].id'],
    [[file, topics([{ id: 'no id', subscription: 'opt_in' }])], 'topics[0].id'],
    [[file, topics([{ id: topic.id, subscription: 'perhaps' }])], 'topics'],
    [[file, ['name="segments"', JSON.stringify(Array(21).fill({ id: segments[0].id }))]], 'segments'],
  ] as const)
    assertRefusal(await importForm(session, parts), { status: 422, name: 'validation_error', path })
  assert.equal(contentsOf(mailhorn), before)
})

test('an address that has unsubscribed everywhere, or from a topic, stays so in a further segment', async () => {
  const { call, make } = open('further segments')
  const [first, second] = [await make('/segments', { name: 'A' }), await make('/segments', { name: 'B' })]
  const { id: topic } = await make('/topics', { name: 'News', default_subscription: 'opt_in' })
  const place = (segment: { id: string }, body = {}) =>
    make('/contacts', { email: 'ann@there.example', segments: [{ id: segment.id }], ...body })
  const { id } = await place(first)
  await call('PATCH', `/contacts/${id}/topics`, [{ id: topic, subscription: 'opt_out' }])
  await call('PATCH', `/contacts/${id}`, { unsubscribed: true })
  const further = await place(second, { unsubscribed: false })
  assert.equal([further.unsubscribed, further.unsubscribed_topics], [true, [topic]])
  assert.equal(
    further.warnings.map(({ path }: { path: string }) => path),
    ['unsubscribed'],
  )
  await call('PATCH', `/contacts/${id}`, { unsubscribed: false })
  const third = await make('/segments', { name: 'C' })
  const back = await place(third)
  assert.equal([back.unsubscribed, back.warnings], [false, undefined])
})

for (const [what, leave] of [
  [
    'by PATCH /contacts',
    async ({ call, make }) => {
      await make('/contacts', { email: 'ann@there.example' })
      assert.is((await call('PATCH', '/contacts/ann@there.example', { unsubscribed: true })).status, 200)
    },
  ],
  ['by POST /contacts', ({ make }) => make('/contacts', { email: 'ann@there.example', unsubscribed: true })],
  [
    'and is deleted',
    async ({ call, make }) => {
      await make('/contacts', { email: 'Ann@there.example' })
      await call('PATCH', '/contacts/ann@there.example', { unsubscribed: true })
      assert.is((await call('DELETE', '/contacts/ann@there.example')).status, 200)
    },
  ],
] as readonly [string, (account: ReturnType<typeof open>) => Promise<unknown>][])
  test(`an address that is unsubscribed everywhere ${what} stays so by every way into an audience`, async () => {
    const account = open(`unsubscribed everywhere ${what}`)
    const { call, make, session } = account
    await leave(account)
    const csv = 'email\nann@there.example\n'
    const ways: Record<string, (id: string) => Promise<unknown>> = {
      add: id => make(`/audiences/${id}/contacts`, { email: 'ann@there.example' }),
      'add as subscribed': id =>
        make(`/audiences/${id}/contacts`, { email: 'ann@there.example', unsubscribed: false }),
      segments: id => make('/contacts', { email: 'ann@there.example', segments: [{ id }] }),
      file: id =>
        mailhorn.call('POST', `/audiences/${id}/contacts/import`, {
          ...{ session, raw: csv, headers: { 'content-type': 'text/csv' } },
        }),
      form: id =>
        importForm(session, [
          ['name="segments"', JSON.stringify([{ id }])],
          ['name="file"', csv],
        ]),
    }
    for (const [way, add] of Object.entries(ways)) {
      const { id } = await make('/audiences', { name: way })
      await add(id)
      const { body } = await call('GET', `/audiences/${id}/contacts`)
      assert.equal(
        body.data.map(({ unsubscribed }: { unsubscribed: boolean }) => unsubscribed),
        [true],
        way,
      )
    }
    await call('PATCH', '/contacts/ann@there.example', { unsubscribed: false })
    const { id } = await make('/audiences', { name: 'again' })
    assert.is((await make(`/audiences/${id}/contacts`, { email: 'ann@there.example' })).unsubscribed, false)
  })

test.run()
