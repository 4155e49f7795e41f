import * as assert from 'uvu/assert'
import { type ApiAnswer, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal, contentsOf } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('audiences, contacts, segments and topics')
let mailhorn: Mailhorn
let session: string
test.before(async () => {
  mailhorn = await startMailhorn()
  session = await mailhorn.signIn()
  const events = ['contact.created', 'contact.updated', 'contact.deleted']
  await make('/webhooks', { url: 'https://hooks.invalid/', events })
})
test.after(() => mailhorn.close())

const call = (method: string, path: string, body?: unknown) =>
  mailhorn.call(method, path, { session, ...(body !== undefined && { body }) })

/** @throws when it is refused */
async function make(path: string, body: object) {
  const answer = await call('POST', path, body)
  assert.is(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}

async function newAudience(): Promise<string> {
  return (await make('/audiences', { name: 'Readers' })).id
}

/** Webhooks are told meanwhile. */
const TOLD = ['webhooks', 'webhook_deliveries']
const invalid = (path: string) => ({ status: 422, name: 'validation_error', path })
const emails = ({ body }: ApiAnswer) => body.data.map(({ email }: { email: string }) => email)
const eventsOf = (wireId: string) =>
  mailhorn
    .rows<{ type: string; data: string; subject_id: Buffer }>(
      'select type, data, subject_id from events order by id',
    )
    .filter(({ subject_id: id }) => id.toString('hex') === wireId.slice(4).replaceAll('-', ''))
    .map(({ type, data }) => [type, JSON.parse(data)])

test('an audience begins empty, counts its contacts, gets another name and goes', async () => {
  const audience = await make('/audiences', { name: 'Readers' })
  const { id, created_at: createdAt, ...rest } = audience
  assert.equal(rest, { object: 'audience', name: 'Readers', contact_count: 0, unsubscribed_count: 0 })
  await make(`/audiences/${id}/contacts`, { email: 'ann@there.example' })
  await make(`/audiences/${id}/contacts`, { email: 'bob@there.example', unsubscribed: true })
  const { body } = await call('GET', `/audiences/${id}`)
  assert.equal(body, { ...audience, contact_count: 2, unsubscribed_count: 1, created_at: createdAt })
  assert.is((await call('PATCH', `/audiences/${id}`, { name: 'Friends' })).body.name, 'Friends')
  assert.equal((await call('DELETE', `/audiences/${id}`)).body, { object: 'audience', id, deleted: true })
  for (const path of ['', '/contacts', '/contacts/ann@there.example', '/segments'])
    assertRefusal(await call('GET', `/audiences/${id}${path}`), { status: 404, name: 'not_found' })
  await until(() => (mailhorn.rows('select id from deleted_audiences').length === 0 ? true : undefined))
  assert.is(mailhorn.rows("select id from contacts where email = 'ann@there.example'").length, 0)
})

test('a contact is shown as it was given, with its address in lower case', async () => {
  const id = await newAudience()
  const contact = await make(`/audiences/${id}/contacts`, {
    email: ' Ann@There.Example ',
    first_name: 'Ann',
    last_name: ' Årup ',
    properties: { plan: 'Pro', seats: 3, trial: false, gone: null, '': null },
  })
  const { id: contactId, created_at: createdAt, ...rest } = contact
  assert.equal(rest, {
    object: 'contact',
    audience_id: id,
    email: 'ann@there.example',
    first_name: 'Ann',
    last_name: 'Årup',
    unsubscribed: false,
    properties: { plan: 'Pro', seats: 3, trial: false },
    unsubscribed_topics: [],
    updated_at: createdAt,
  })
  for (const ref of [contactId, contactId.slice(4), 'ann@there.example', 'ANN@there.example'])
    assert.equal((await call('GET', `/audiences/${id}/contacts/${ref}`)).body, contact)
  assert.equal(eventsOf(contactId), [['contact.created', contact]])
})

test('a property called __proto__ is one like any other', async () => {
  const id = await newAudience()
  const callRaw = (method: string, path: string, raw: string) =>
    mailhorn.call(method, `/audiences/${id}/contacts${path}`, { session, raw })
  const made = await callRaw(
    'POST',
    '',
    '{"email":"p@there.test","properties":{"__proto__":"x","plan":"pro"}}',
  )
  assert.is(made.status, 201)
  assert.equal(Object.entries(made.body.properties).sort(), [
    ['__proto__', 'x'],
    ['plan', 'pro'],
  ])
  const changed = await callRaw('PATCH', `/${made.body.id}`, '{"properties":{"__proto__":"y","plan":null}}')
  assert.equal(Object.entries(changed.body.properties), [['__proto__', 'y']])
  const wrong = await callRaw('PATCH', `/${made.body.id}`, '{"properties":{"__proto__":{"polluted":true}}}')
  assertRefusal(wrong, invalid('properties.__proto__'))
  assert.is(({} as Record<string, unknown>).polluted, undefined)
  const gone = await callRaw('PATCH', `/${made.body.id}`, '{"properties":{"__proto__":null}}')
  assert.equal(gone.body.properties, {})
})

test('contacts are listed by subscription, in an audience and in a segment of it', async () => {
  const id = await newAudience()
  for (const [email, unsubscribed, city] of [
    ['ann@there.example', false, 'Graz'],
    ['bob@there.example', true, 'Graz'],
    ['cid@there.example', true, 'Wels'],
  ])
    await make(`/audiences/${id}/contacts`, { email, unsubscribed, properties: { city } })
  const filters = [{ field: 'properties.city', op: 'eq', value: 'graz' }]
  const segment = await make(`/audiences/${id}/segments`, { name: 'Graz', filters })
  const listed = async (place: string, unsubscribed: string) => {
    const answer = await call('GET', `/audiences/${id}${place}/contacts?unsubscribed=${unsubscribed}`)
    assert.is(answer.body.total, emails(answer).length)
    return emails(answer)
  }
  assert.equal(await listed('', 'true'), ['cid@there.example', 'bob@there.example'])
  assert.equal(await listed('', 'false'), ['ann@there.example'])
  assert.equal(await listed(`/segments/${segment.id}`, 'true'), ['bob@there.example'])
  const wrong = await call('GET', `/audiences/${id}/contacts?unsubscribed=maybe`)
  assertRefusal(wrong, invalid('unsubscribed'))
})

test('contacts are filtered by conditions of segments and by the time of their creation', async () => {
  const id = await newAudience()
  const path = `/audiences/${id}/contacts`
  await make(path, { email: 'ann@there.example', properties: { city: 'Graz', plan: 'pro' } })
  mailhorn.clock.advance(60_000)
  const later = new Date(mailhorn.clock.now()).toISOString()
  await make(path, { email: 'bob@there.example', properties: { city: 'Graz' } })
  await make(path, { email: 'cid@there.example', unsubscribed: true })
  const found = async (query: object, place = path) =>
    emails(await call('GET', `${place}?${new URLSearchParams(query as Record<string, string>)}`))
  const city = { field: 'properties.city', op: 'eq', value: 'GRAZ' }
  const noPlan = { field: 'properties.plan', op: 'not_exists' }
  const filters = JSON.stringify([city, noPlan])
  assert.equal(await found({ filters }), ['bob@there.example'])
  assert.equal(await found({ filters: JSON.stringify([city]), created_before: later }), ['ann@there.example'])
  assert.equal(await found({ created_after: later }), ['cid@there.example', 'bob@there.example'])
  assert.equal(await found({ created_after: later, unsubscribed: 'false' }), ['bob@there.example'])
  const segment = await make(`/audiences/${id}/segments`, { name: 'Graz', filters: [city] })
  const inSegment = `/audiences/${id}/segments/${segment.id}/contacts`
  assert.equal(await found({ filters: JSON.stringify([noPlan]) }, inSegment), ['bob@there.example'])
  const { total } = (await call('GET', `${path}?created_after=${later}&limit=1`)).body
  assert.is(total, 2)
  for (const [name, value] of [
    ['filters', 'no JSON'],
    ['filters', '[{"field":"town","op":"eq","value":"x"}]'],
    ['created_after', 'yesterday'],
  ] as const) {
    const { status, body } = await call('GET', `${path}?${new URLSearchParams({ [name]: value })}`)
    assert.is(status, 422)
    assert.match(body.errors[0].path, new RegExp(`^${name}`))
  }
})

test('an address stands in an audience once', async () => {
  const [id, other] = [await newAudience(), await newAudience()]
  await make(`/audiences/${id}/contacts`, { email: 'ann@there.example' })
  await make(`/audiences/${other}/contacts`, { email: 'ann@there.example' })
  const { id: bob } = await make(`/audiences/${id}/contacts`, { email: 'bob@there.example' })
  const before = contentsOf(mailhorn, TOLD)
  const taken = { status: 400, name: 'validation_error', path: 'email' }
  assertRefusal(await call('POST', `/audiences/${id}/contacts`, { email: 'ANN@There.example' }), taken)
  assertRefusal(
    await call('PATCH', `/audiences/${id}/contacts/${bob}`, { email: 'ann@there.example' }),
    taken,
  )
  assert.equal(contentsOf(mailhorn, TOLD), before)
  const own = await call('PATCH', `/audiences/${id}/contacts/${bob}`, { email: 'BOB@there.example' })
  assert.is(own.status, 200)
})

test('a change merges properties, null takes one away, and what is absent stays', async () => {
  const id = await newAudience()
  const contact = await make(`/audiences/${id}/contacts`, {
    email: 'ann@there.example',
    first_name: 'Ann',
    properties: { plan: 'pro', seats: 3 },
  })
  const path = `/audiences/${id}/contacts/${contact.id}`
  mailhorn.clock.advance(1_000)
  const { body } = await call('PATCH', path, { properties: { seats: null, city: 'Aarhus', never: null } })
  assert.equal([body.first_name, body.properties], ['Ann', { plan: 'pro', city: 'Aarhus' }])
  assert.ok(body.updated_at > body.created_at)
  const renamed = await call('PATCH', path, { first_name: null, last_name: 'Årup', properties: [] })
  assert.equal([renamed.body.first_name, renamed.body.last_name], ['Ann', 'Årup'])
  assert.is((await call('PATCH', path, { first_name: '' })).body.first_name, null)
  const moved = await call('PATCH', path, { email: 'new@there.example', unsubscribed: true })
  assert.equal([moved.body.email, moved.body.unsubscribed], ['new@there.example', true])
  assertRefusal(await call('GET', `/audiences/${id}/contacts/ann@there.example`), {
    status: 404,
    name: 'not_found',
  })
  assert.equal(
    eventsOf(contact.id).map(([type]) => type),
    ['contact.created', ...Array(4).fill('contact.updated')],
  )
  assert.equal(eventsOf(contact.id).at(-1)![1], moved.body)
})

test('a contact that is removed is told of as it was', async () => {
  const id = await newAudience()
  const contact = await make(`/audiences/${id}/contacts`, {
    email: 'ann@there.example',
    properties: { a: 'b' },
  })
  const path = `/audiences/${id}/contacts/Ann@there.example`
  assert.equal((await call('DELETE', path)).body, {
    ...{ object: 'contact', id: contact.id, contact: 'Ann@there.example', deleted: true },
  })
  assertRefusal(await call('DELETE', path), { status: 404, name: 'not_found' })
  assert.equal(eventsOf(contact.id).at(-1), ['contact.deleted', contact])
  assert.is((await call('GET', `/audiences/${id}`)).body.contact_count, 0)
  assert.equal((await call('GET', `/audiences/${id}/properties`)).body.data, [])
})

const LONG = 'x'.repeat(501)
for (const [what, body, path] of [
  ['no address', { email: 'nobody' }, 'email'],
  ['a display name', { email: 'Ann <ann@there.example>' }, 'email'],
  ['a name with a line break', { email: 'a@b.example', first_name: 'Ann\r\nBcc: x' }, 'first_name'],
  ['a name that is too long', { email: 'a@b.example', last_name: LONG }, 'last_name'],
  ['a name that is no text', { email: 'a@b.example', last_name: 1 }, 'last_name'],
  ['a flag that is none', { email: 'a@b.example', unsubscribed: 'yes' }, 'unsubscribed'],
  ['properties that are no object', { email: 'a@b.example', properties: 'x' }, 'properties'],
  ['a list in a property', { email: 'a@b.example', properties: { k: [1] } }, 'properties.k'],
  ['an object in a property', { email: 'a@b.example', properties: { k: {} } }, 'properties.k'],
  ['a property that is too long', { email: 'a@b.example', properties: { k: LONG } }, 'properties.k'],
  ['NUL in a property', { email: 'a@b.example', properties: { k: 'a\0' } }, 'properties.k'],
  [
    'a property that folds to very much',
    { email: 'a@b.example', properties: { k: 'ﷺ'.repeat(400) } },
    'properties.k',
  ],
  ['a key with braces', { email: 'a@b.example', properties: { '{{k}}': '' } }, 'properties.{{k}}'],
  [
    'a key that a contact has anyway',
    { email: 'a@b.example', properties: { email: 'x' } },
    'properties.email',
  ],
  [
    'more properties than there may be',
    {
      email: 'a@b.example',
      properties: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`k${i}`, i])),
    },
    'properties',
  ],
] as const)
  test(`${what} is refused, by its name, and nothing is changed`, async () => {
    const id = await newAudience()
    const contact = await make(`/audiences/${id}/contacts`, { email: 'ann@there.example' })
    const before = contentsOf(mailhorn, TOLD)
    assertRefusal(await call('POST', `/audiences/${id}/contacts`, body), invalid(path))
    assertRefusal(await call('PATCH', `/audiences/${id}/contacts/${contact.id}`, body), invalid(path))
    assert.equal(contentsOf(mailhorn, TOLD), before)
  })

test('contacts are listed newest first, and searched by address and names', async () => {
  const id = await newAudience()
  const people = [
    { email: 'ann@there.example', first_name: 'Ann', last_name: 'Årup' },
    { email: 'bob@there.example', first_name: 'B%b' },
    { email: 'kim_x@elsewhere.example', last_name: 'ANNIKA' },
  ]
  for (const person of people) await make(`/audiences/${id}/contacts`, person)
  const reader = { email: 'z@bücher.example', last_name: 'Bücher' }
  const elsewhere = (await make('/audiences', { name: 'idn' })).id
  await make(`/audiences/${elsewhere}/contacts`, reader)
  for (const q of ['z@bücher.example', '@BÜCHER', 'bücher'])
    assert.equal(
      emails(await call('GET', `/audiences/${elsewhere}/contacts?q=${encodeURIComponent(q)}`)),
      ['z@xn--bcher-kva.example'],
      q,
    )
  const list = (query: string) => call('GET', `/audiences/${id}/contacts?${query}`)
  const all = await list('')
  assert.equal(emails(all), people.map(({ email }) => email).reverse())
  assert.equal([all.body.object, all.body.total, all.body.has_more], ['list', 3, false])
  const page = await list('limit=1&offset=1')
  assert.equal([emails(page), page.body.total, page.body.has_more], [['bob@there.example'], 3, true])
  for (const [q, found] of [
    ['ann', ['kim_x@elsewhere.example', 'ann@there.example']],
    ['ÅRUP', ['ann@there.example']],
    ['%', ['bob@there.example']],
    ['_x@', ['kim_x@elsewhere.example']],
    ['THERE.', ['bob@there.example', 'ann@there.example']],
    ['nobody', []],
  ] as const) {
    const answer = await list(`q=${encodeURIComponent(q)}`)
    assert.equal([emails(answer), answer.body.total], [[...found], found.length], q)
  }
  const rest = await list('q=there&limit=1&offset=1')
  assert.equal([emails(rest), rest.body.total, rest.body.has_more], [['ann@there.example'], 2, false])
  for (const query of ['limit=0', 'limit=101', 'offset=-1', 'limit=x'])
    assertRefusal(await list(query), invalid(query.split('=')[0]!))
})

test('a segment shows its contacts and counts them as they are now', async () => {
  const id = await newAudience()
  const filters = [
    { field: 'properties.plan', op: 'eq', value: 'PRO' },
    { field: 'first_name', op: 'exists' },
  ]
  const segment = await make(`/audiences/${id}/segments`, { name: 'Payers', filters })
  const { id: segmentId, created_at: createdAt, ...rest } = segment
  assert.equal(rest, {
    object: 'segment',
    audience_id: id,
    name: 'Payers',
    filters: [filters[0], { ...filters[1], value: null }],
    contact_count: 0,
    updated_at: createdAt,
  })
  await make(`/audiences/${id}/contacts`, {
    email: 'ann@there.example',
    first_name: 'Ann',
    properties: { plan: 'pro' },
  })
  await make(`/audiences/${id}/contacts`, { email: 'bob@there.example', properties: { plan: 'pro' } })
  const path = `/audiences/${id}/segments/${segmentId}`
  assert.is((await call('GET', path)).body.contact_count, 1)
  assert.equal((await call('GET', `/audiences/${id}/segments`)).body.data, [{ ...segment, contact_count: 1 }])
  assert.equal(emails(await call('GET', `${path}/contacts`)), ['ann@there.example'])
  assert.equal(emails(await call('GET', `${path}/contacts?q=bob`)), [])
  const renamed = await call('PUT', path, { name: 'All' })
  assert.equal([renamed.body.name, renamed.body.filters], ['All', segment.filters])
  const changed = await call('PUT', path, { filters: [filters[0]] })
  assert.equal(
    [changed.body.name, changed.body.filters, changed.body.contact_count],
    ['All', [filters[0]], 2],
  )
  assert.equal((await call('DELETE', path)).body, { object: 'segment', id: segmentId, deleted: true })
  assertRefusal(await call('GET', path), { status: 404, name: 'not_found' })
  assert.is((await call('GET', `/audiences/${id}`)).body.contact_count, 2)
})

test('a segment that is not made yet is counted, and leaves nothing behind', async () => {
  const id = await newAudience()
  await make(`/audiences/${id}/contacts`, { email: 'ann@there.example', properties: { plan: 'pro' } })
  await make(`/audiences/${id}/contacts`, { email: 'bob@there.example' })
  const count = (filters: object[]) => call('POST', `/audiences/${id}/segments/count`, { filters })
  const payers = await count([{ field: 'properties.plan', op: 'eq', value: 'PRO' }])
  assert.equal(payers.body, { object: 'segment_count', contact_count: 1 })
  assert.is((await count([])).body.contact_count, 2)
  assert.is((await call('GET', `/audiences/${id}/segments`)).body.total, 0)
  assertRefusal(await count([{ field: 'age', op: 'exists' }]), {
    ...{ status: 422, name: 'validation_error', path: 'filters[0].field' },
  })
})

for (const [what, filter, path, name] of [
  ['a field that there is not', { field: 'age', op: 'eq', value: 1 }, 'filters[0].field'],
  ['no key', { field: 'properties.', op: 'eq', value: 1 }, 'filters[0].field'],
  ['NUL in its key', { field: 'properties.a\0', op: 'eq', value: 1 }, 'filters[0].field'],
  ['half a character in its key', { field: 'properties.\ud800', op: 'eq', value: 1 }, 'filters[0].field'],
  ['an operator that there is not', { field: 'email', op: 'like', value: 'x' }, 'filters[0].op'],
  ['a text for a list', { field: 'email', op: 'in', value: 'x' }, 'filters[0].value'],
  ['an empty list', { field: 'email', op: 'in', value: [] }, 'filters[0].value'],
  ['too long a list', { field: 'email', op: 'in', value: Array(51).fill('x') }, 'filters[0].value'],
  ['NUL in a list', { field: 'email', op: 'in', value: ['a\0'] }, 'filters[0].value'],
  ['a list for a text', { field: 'email', op: 'eq', value: ['x'] }, 'filters[0].value'],
  ['a list for a flag', { field: 'unsubscribed', op: 'in', value: ['true'] }, 'filters[0].op'],
  ['a date for a name', { field: 'first_name', op: 'before', value: '2026-11-30' }, 'filters[0].op'],
  ['no date for a property', { field: 'properties.since', op: 'after', value: 'May' }, 'filters[0].value'],
  ['a period for a text', { field: 'email', op: 'within_days', value: 3 }, 'filters[0].op'],
  ['a comparison of a time', { field: 'last_opened_at', op: 'eq', value: 'x' }, 'filters[0].op'],
  ['a date of activity', { field: 'last_sent_at', op: 'before', value: '2026-01-01' }, 'filters[0].op'],
  ['no days', { field: 'last_sent_at', op: 'within_days', value: 0 }, 'filters[0].value'],
  ['too many days', { field: 'last_sent_at', op: 'within_days', value: 3_651 }, 'filters[0].value'],
  ['half a day', { field: 'created_at', op: 'not_within_days', value: 1.5 }, 'filters[0].value'],
  ['days as a text', { field: 'created_at', op: 'within_days', value: '7' }, 'filters[0].value'],
  ['no date', { field: 'created_at', op: 'before', value: 'yesterday' }, 'filters[0].value'],
  ['a list to compare with', { field: 'email', op: 'eq', value: ['x'] }, 'filters[0].value'],
  ['too long a text', { field: 'email', op: 'eq', value: LONG }, 'filters[0].value'],
  ['nothing to compare with', { field: 'email', op: 'neq' }, 'filters[0].value', 'missing_required_field'],
  ['no field', { op: 'exists' }, 'filters[0].field', 'missing_required_field'],
  ['no object', 'email', 'filters[0]'],
] as const)
  test(`a filter with ${what} is refused, by its place`, async () => {
    const id = await newAudience()
    const good = [{ field: 'email', op: 'exists' }]
    const { id: segment } = await make(`/audiences/${id}/segments`, { name: 'x', filters: good })
    const before = contentsOf(mailhorn, TOLD)
    const expected = { status: 422, name: name ?? 'validation_error', path }
    const body = { name: 'x', filters: [filter] }
    assertRefusal(await call('POST', `/audiences/${id}/segments`, body), expected)
    assertRefusal(await call('PUT', `/audiences/${id}/segments/${segment}`, body), expected)
    assert.equal(contentsOf(mailhorn, TOLD), before)
  })

test('a segment without filters, or with too many, is refused', async () => {
  const id = await newAudience()
  const path = `/audiences/${id}/segments`
  const missing = { status: 422, name: 'missing_required_field', path: 'filters' }
  assertRefusal(await call('POST', path, { name: 'x' }), missing)
  assertRefusal(await call('POST', path, { name: 'x', filters: [] }), missing)
  const filters = Array(21).fill({ field: 'email', op: 'exists' })
  assertRefusal(await call('POST', path, { name: 'x', filters }), invalid('filters'))
})

test('topics are made, listed, changed and deleted', async () => {
  const topic = await make('/topics', { name: 'Digest', description: 'Weekly' })
  const { id, created_at: createdAt, ...rest } = topic
  assert.equal(rest, {
    object: 'topic',
    name: 'Digest',
    description: 'Weekly',
    default_subscription: 'opt_in',
    visibility: 'private',
    updated_at: createdAt,
  })
  assert.equal((await call('GET', '/topics')).body.data, [topic])
  assert.equal((await call('GET', `/topics/${id}`)).body, topic)
  const { body } = await call('PATCH', `/topics/${id}`, { id, name: 'Monthly', description: '' })
  assert.equal([body.name, body.description], ['Monthly', ''])
  assert.is((await call('PATCH', `/topics/${id}`, { visibility: 'public' })).body.visibility, 'public')
  assert.is((await call('PATCH', `/topics/${id}`, { name: 'Monthly' })).body.visibility, 'public')
  assertRefusal(await call('PATCH', `/topics/${id}`, { visibility: 'hidden' }), invalid('visibility'))
  const other = { default_subscription: 'opt_out' }
  assertRefusal(await call('PATCH', `/topics/${id}`, other), invalid('default_subscription'))
  assertRefusal(
    await call('POST', '/topics', { name: 'x', ...{ defaultSubscription: 'maybe' } }),
    invalid('default_subscription'),
  )
  assertRefusal(await call('POST', '/topics', {}), {
    status: 422,
    name: 'missing_required_field',
    path: 'name',
  })
  assert.equal((await call('DELETE', `/topics/${id}`)).body, { object: 'topic', id, deleted: true })
  assertRefusal(await call('GET', `/topics/${id}`), { status: 404, name: 'not_found' })
})

test('a contact shows the topics it gets nothing about, by default or because it said so', async () => {
  const id = await newAudience()
  const wanted = await make('/topics', { name: 'News' })
  const requests = await make('/topics', { name: 'Offers', default_subscription: 'opt_out' })
  const contact = await make(`/audiences/${id}/contacts`, { email: 'ann@there.example' })
  assert.equal(contact.unsubscribed_topics, [requests.id])
  const path = `/audiences/${id}/contacts/${contact.id}`
  const say = async (topic: string, subscription: string) =>
    (await call('PATCH', `${path}/topics`, { topics: [{ id: topic, subscription }] })).body
      .unsubscribed_topics
  assert.equal(await say(requests.id, 'opt_in'), [])
  assert.equal(await say(wanted.id, 'opt_out'), [wanted.id])
  assert.equal(await say(wanted.id, 'opt_out'), [wanted.id])
  assert.equal(eventsOf(contact.id).at(-1)![1].unsubscribed_topics, [wanted.id])
  const { body } = await call('PATCH', path, { unsubscribed_topics: [] })
  assert.equal(body.unsubscribed_topics, [wanted.id], 'a change of the contact leaves them alone')
  const unknown = { topics: [{ id: 'top_01990000-0000-7000-8000-000000000000', subscription: 'opt_in' }] }
  assertRefusal(await call('PATCH', `${path}/topics`, unknown), invalid('topics'))
  await call('DELETE', `/topics/${wanted.id}`)
  assert.equal((await call('GET', path)).body.unsubscribed_topics, [])
  await until(() => (mailhorn.rows('select id from deleted_topics').length === 0 ? true : undefined))
  assert.is(mailhorn.rows('select topic_id from contact_topics').length, 1)
})

test.run()
