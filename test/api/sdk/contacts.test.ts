import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import {
  assertTold,
  MODERN_VERSIONS,
  openResend,
  RESEND_VERSIONS,
  requireData,
} from '../../kit/resend-versions.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('resend packages: audiences, contacts and topics, with a session in place of a key')
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const sessions = new Map<string, string>()
const openNewAccount = (name: string) => {
  const { session } = addAccount(mailhorn, name)
  sessions.set(name, session)
  return openResend(RESEND_VERSIONS[0]!, { ...mailhorn, apiKey: session })
}

for (const release of RESEND_VERSIONS)
  test(`${release.version}: keep audiences and their contacts`, async () => {
    const apiKey = await mailhorn.signIn()
    const { audiences, contacts } = await openResend(release, { ...mailhorn, apiKey })
    const { id: audienceId, name } = requireData(await audiences.create({ name: 'Readers' }))
    assert.is(name, 'Readers')
    assert.is(requireData(await audiences.get(audienceId)).id, audienceId)
    assert.ok(requireData(await audiences.list()).data.some(({ id }) => id === audienceId))
    const email = 'ann@there.example'
    const { id } = requireData(
      await contacts.create({ audienceId, email, firstName: 'Ann', unsubscribed: false }),
    )
    assertTold(await contacts.create({ audienceId, email }), 'validation_error', 400)
    for (const ref of [{ id }, { email }]) {
      const contact = requireData(await contacts.get({ audienceId, ...ref }))
      assert.equal(
        [contact.id, contact.email, contact.first_name, contact.unsubscribed],
        [id, email, 'Ann', false],
      )
    }
    requireData(await contacts.update({ audienceId, id, lastName: 'Årup', unsubscribed: true }))
    const { data } = requireData(await contacts.list({ audienceId }))
    assert.equal(
      data.map(contact => [contact.last_name, contact.unsubscribed]),
      [['Årup', true]],
    )
    assert.ok(requireData(await contacts.remove({ audienceId, email })).deleted)
    assert.ok(requireData(await audiences.remove(audienceId)).deleted)
    assertTold(await audiences.get(audienceId), 'not_found', 404)
  })

for (const release of MODERN_VERSIONS) {
  test(`${release.version}: keep properties, and turn pages`, async () => {
    const apiKey = await mailhorn.signIn()
    const { audiences, contacts } = await openResend(release, { ...mailhorn, apiKey })
    const { id: audienceId } = requireData(await audiences.create({ name: 'Readers' }))
    const ids: string[] = []
    for (const name of ['ann', 'bob', 'cid']) {
      const contact = { audienceId, email: `${name}@there.example`, properties: { plan: 'pro', seats: 3 } }
      ids.unshift(requireData(await contacts.create(contact)).id)
    }
    requireData(await contacts.update({ audienceId, id: ids[0]!, properties: { plan: null } }))
    assert.equal(requireData(await contacts.get({ audienceId, id: ids[0]! })).properties, { seats: 3 })
    const seen: string[] = []
    for (let after: string | undefined; ; after = seen.at(-1)) {
      const page = requireData(
        await contacts.list({ audienceId, limit: 2, ...(after !== undefined && { after }) }),
      )
      seen.push(...page.data.map(({ id }) => id))
      if (!page.has_more) break
    }
    assert.equal(seen, ids)
  })

  test(`${release.version}: keep topics`, async () => {
    const apiKey = await mailhorn.signIn()
    const { topics } = await openResend(release, { ...mailhorn, apiKey })
    const { id } = requireData(await topics.create({ name: 'Digest', defaultSubscription: 'opt_in' }))
    requireData(await topics.update({ id, name: 'Monthly', description: 'Once a month' }))
    const topic = requireData(await topics.get(id))
    assert.equal(
      [topic.name, topic.description, topic.default_subscription],
      ['Monthly', 'Once a month', 'opt_in'],
    )
    assert.ok(requireData(await topics.list()).data.some(one => one.id === id))
    assert.ok(requireData(await topics.remove(id)).deleted)
    assertTold(await topics.get(id), 'not_found', 404)
  })
}

test('6.38: contacts are found without their audience', async () => {
  const apiKey = await mailhorn.signIn()
  const { audiences, contacts, topics } = await openResend(RESEND_VERSIONS[0]!, { ...mailhorn, apiKey })
  const { id: audienceId } = requireData(await audiences.create({ name: 'Readers' }))
  const email = 'alone@there.example'
  const { id } = requireData(await contacts.create({ audienceId, email }))
  assert.is(requireData(await contacts.get(id)).email, email)
  assert.is(requireData(await contacts.get({ email })).id, id)
  requireData(await contacts.update({ email, firstName: 'Alone' }))
  assert.is(requireData(await contacts.get({ id })).first_name, 'Alone')
  const topic = requireData(await topics.create({ name: 'Digest', defaultSubscription: 'opt_in' }))
  requireData(await contacts.topics.update({ email, topics: [{ id: topic.id, subscription: 'opt_out' }] }))
  const { body } = await mailhorn.call('GET', `/contacts/${id}`, { session: apiKey })
  assert.equal(body.unsubscribed_topics, [topic.id])
  assert.ok(requireData(await contacts.remove(email)).deleted)
  assertTold(await contacts.get(id), 'not_found', 404)
  assert.equal(requireData(await contacts.remove(email)), {
    object: 'contact',
    contact: email,
    deleted: true,
  })
  assert.is(requireData(await contacts.remove(id)).deleted, true)
})

test('6.38: contacts of no audience in particular go to the oldest, and all are listed', async () => {
  const { contacts, audiences, topics } = await openNewAccount('placed')
  assert.equal(requireData(await contacts.list()).data, [])
  const ann = requireData(await contacts.create({ email: 'ann@there.example', properties: { seats: 3 } }))
  const [first] = requireData(await audiences.list()).data
  assert.is(first!.name, 'Contacts')
  assert.is(requireData(await contacts.create({ email: 'Ann@there.example' })).id, ann.id)
  requireData(await audiences.create({ name: 'Readers' }))
  const bob = requireData(await contacts.create({ email: 'bob@there.example' }))
  assert.equal(
    requireData(await contacts.list()).data.map(({ id }) => id),
    [bob.id, ann.id],
  )
  const { data, has_more } = requireData(await contacts.list({ limit: 1, after: bob.id }))
  assert.equal([data.map(({ id }) => id), has_more], [[ann.id], false])

  const { id: audienceId } = requireData(await audiences.create({ name: 'Others' }))
  const { id: topicId } = requireData(await topics.create({ name: 'Digest', defaultSubscription: 'opt_in' }))
  const cid = { email: 'cid@there.example', topics: [{ id: topicId, subscription: 'opt_out' as const }] }
  const missing = { id: 'aud_01a201a1-0fc1-7038-b875-63bded9b3d16' }
  const refused = await contacts.create({ ...cid, segments: [{ id: audienceId }, missing] })
  assertTold(refused, 'validation_error', 422)
  assert.match(refused.error!.message, 'segment')
  assert.equal(requireData(await contacts.list({ segmentId: audienceId })).data, [])
  const { id } = requireData(
    await contacts.create({ ...cid, segments: [{ id: audienceId }, { id: first!.id }] }),
  )
  assert.equal(
    requireData(await contacts.list({ segmentId: audienceId })).data.map(one => one.id),
    [id],
  )
  assert.equal(requireData(await contacts.list()).data[0]!.email, cid.email)
  const dan = requireData(await contacts.create({ audienceId, email: 'dan@there.example' }))
  const all = requireData(await contacts.list()).data
  assert.equal(
    all.map(one => one.email),
    ['cid@there.example', 'bob@there.example', 'ann@there.example', 'dan@there.example'],
    'each address once, though cid is in two of them',
  )
  const last = requireData(await contacts.list({ limit: 2, after: all[1]!.id }))
  assert.equal([last.data.map(one => one.id), last.has_more], [[ann.id, dan.id], false])
  assert.is(requireData(await contacts.create({ ...cid, segments: [{ id: audienceId }] })).id, id)
  assertTold(await contacts.create({ audienceId, email: cid.email }), 'validation_error', 400)
})

test('6.38: a refused first contact leaves no audience behind', async () => {
  const { contacts, audiences } = await openNewAccount('refused')
  const properties = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`key${i}`, 'x']))
  assertTold(await contacts.create({ email: 'ann@there.example', properties }), 'validation_error', 422)
  assert.equal(requireData(await audiences.list()).data, [])
})

test('6.38: pages of segments and broadcasts are turned by their ids', async () => {
  const { segments, broadcasts } = await openNewAccount('pages')
  const made: string[] = []
  for (const name of ['Ann', 'Bob', 'Cid']) made.unshift(requireData(await segments.create({ name })).id)
  const drafts: string[] = []
  const words = { from: 'ann@here.example', subject: 'May', text: 'News', segmentId: made[0]! }
  for (const name of ['1', '2', '3'])
    drafts.unshift(requireData(await broadcasts.create({ ...words, name })).id)
  for (const [of, ids] of [
    [segments, made],
    [broadcasts, drafts],
  ] as const) {
    const turned = async (page: { limit?: number; after?: string; before?: string }) => {
      const { data, has_more } = requireData(await of.list(page as { limit?: number }))
      return [data.map(({ id }) => id), has_more]
    }
    assert.equal(await turned({ limit: 2 }), [ids.slice(0, 2), true])
    assert.equal(await turned({ limit: 2, after: ids[1]! }), [ids.slice(2), false])
    assert.equal(await turned({ limit: 1, before: ids[2]! }), [[ids[1]], true])
    assert.equal(await turned({ before: ids[1]! }), [[ids[0]], false])
    assertTold(await of.list({ after: 'eml_1' }), 'validation_error', 422)
  }
})

test('6.38: whoever turns pages of domains, templates, topics and webhooks comes to an end', async () => {
  const { domains, templates, topics, webhooks } = await openNewAccount('ends')
  const made: Record<'domains' | 'templates' | 'topics' | 'webhooks', string[]> = {
    ...{ domains: [], templates: [], topics: [], webhooks: [] },
  }
  for (const name of ['ann', 'bob', 'cid']) {
    made.domains.unshift(requireData(await domains.create({ name: `${name}.example` })).id)
    made.templates.unshift(requireData(await templates.create({ name, html: name })).id)
    made.topics.unshift(requireData(await topics.create({ name, defaultSubscription: 'opt_in' })).id)
    const endpoint = `https://${name}.example/`
    made.webhooks.unshift(requireData(await webhooks.create({ endpoint, events: ['email.sent'] })).id)
  }
  for (const [what, ids] of Object.entries(made)) {
    const turned = async (query: string) => {
      const { body } = await mailhorn.call('GET', `/${what}?${query}`, { session: sessions.get('ends')! })
      return [body.data.map(({ id }: { id: string }) => id), body.has_more, body.total]
    }
    assert.equal(await turned('limit=2'), [ids.slice(0, 2), true, 3], what)
    assert.equal(await turned(`limit=2&after=${ids[1]}`), [ids.slice(2), false, 3], what)
    assert.equal(await turned(`limit=1&before=${ids[2]}`), [[ids[1]], true, 3], what)
    assert.equal(await turned(`before=${ids[1]}`), [[ids[0]], false, 3], what)
    assert.equal(await turned('limit=1&offset=2'), [ids.slice(2), false, 3], what)
  }
  const page = requireData(await domains.list({ limit: 2, after: made.domains[1]! }))
  assert.equal([page.data.map(({ id }) => id), page.has_more], [made.domains.slice(2), false])
  assertTold(await domains.list({ after: 'eml_1' }), 'validation_error', 422)
})

test('6.38: contacts are put into segments, and taken out of them', async () => {
  const { contacts, audiences, topics } = await openNewAccount('segments')
  const fields = {
    email: 'ann@there.example',
    firstName: 'Ann',
    properties: { plan: 'pro' },
    unsubscribed: true,
  }
  const { id: contactId } = requireData(await contacts.create(fields))
  const topic = requireData(await topics.create({ name: 'Digest', defaultSubscription: 'opt_in' }))
  requireData(
    await contacts.topics.update({ id: contactId, topics: [{ id: topic.id, subscription: 'opt_out' }] }),
  )
  const [home] = requireData(await audiences.list()).data
  const { id: segmentId } = requireData(await audiences.create({ name: 'Readers' }))
  assertTold(await contacts.segments.remove({ contactId, segmentId }), 'not_found', 404)

  assert.is(requireData(await contacts.segments.add({ contactId, segmentId })).id, segmentId)
  assert.is(requireData(await contacts.segments.add({ email: fields.email, segmentId })).id, segmentId)
  const { data } = requireData(await contacts.list({ segmentId }))
  assert.equal(
    data.map(one => [one.email, one.first_name, one.unsubscribed]),
    [[fields.email, 'Ann', true]],
  )
  const copy = requireData(await contacts.get({ audienceId: segmentId, email: fields.email }))
  assert.equal(copy.properties, { plan: 'pro' })
  const heard = requireData(await contacts.topics.list({ id: copy.id })).data
  assert.equal(
    heard.map(({ subscription }) => subscription),
    ['opt_out'],
  )

  const first = requireData(await contacts.segments.list({ email: fields.email, limit: 1 }))
  assert.equal(
    [first.data.map(({ id, name }) => [id, name]), first.has_more],
    [[[segmentId, 'Readers']], true],
  )
  const rest = requireData(await contacts.segments.list({ contactId, after: segmentId }))
  assert.equal([rest.data.map(({ id }) => id), rest.has_more], [[home!.id], false])

  assert.ok(requireData(await contacts.segments.remove({ contactId, segmentId })).deleted)
  assert.equal(requireData(await contacts.list({ segmentId })).data, [])
  assert.is(requireData(await contacts.segments.remove({ contactId, segmentId: home!.id })).deleted, false)
  assert.is(requireData(await contacts.get(contactId)).email, fields.email)

  const alone = { email: 'bob@there.example', segments: [{ id: segmentId }] }
  const { id: bob } = requireData(await contacts.create(alone))
  const removed = requireData(await contacts.segments.remove({ contactId: bob, segmentId }))
  assert.equal([removed.id, removed.audienceId, removed.deleted], [segmentId, segmentId, true])
  assert.is(requireData(await contacts.get(bob)).email, alone.email)
  assert.equal(
    requireData(await contacts.segments.list({ contactId: bob })).data.map(one => one.id),
    [home!.id],
  )
})

test('6.38: segments are called segments, and one that does not exist is deleted like any other', async () => {
  const { segments } = await openNewAccount('segment names')
  const { object, id } = requireData(await segments.create({ name: 'Readers' }))
  const { object: found } = requireData(await segments.get(id))
  const { object: changed } = requireData(await segments.update(id, { name: 'News' }))
  assert.equal([object, found, changed], ['segment', 'segment', 'segment'])
  for (const _ of [1, 2])
    assert.equal(requireData(await segments.remove(id)), { object: 'segment', id, deleted: true })
  assertTold(await segments.get(id), 'not_found', 404)
})

test('6.38: an import goes into several segments, with topics, and keeps the contacts that exist', async () => {
  const { contacts, segments, topics } = await openNewAccount('wide imports')
  const [one, two] = [
    requireData(await segments.create({ name: 'One' })).id,
    requireData(await segments.create({ name: 'Two' })).id,
  ]
  const topic = requireData(await topics.create({ name: 'Digest', defaultSubscription: 'opt_out' }))
  requireData(
    await contacts.create({ email: 'ann@there.example', firstName: 'Old', segments: [{ id: one }] }),
  )
  const { id } = requireData(
    await contacts.imports.create({
      file: new Blob(['email,first_name\nann@there.example,New\nbob@there.example,Bob\n']),
      segments: [{ id: one }, { id: two }],
      topics: [{ id: topic.id, subscription: 'opt_in' }],
    }),
  )
  assert.equal(requireData(await contacts.imports.get(id)).counts, {
    ...{ total: 2, created: 1, updated: 0, skipped: 1, failed: 0 },
  })
  const names = async (segmentId: string) =>
    requireData(await contacts.list({ segmentId })).data.map(contact => contact.first_name)
  assert.equal(
    [await names(one), await names(two)],
    [
      ['Bob', 'Old'],
      ['Bob', 'New'],
    ],
  )
  const [heard] = requireData(await contacts.topics.list({ email: 'bob@there.example' })).data
  assert.is(heard!.subscription, 'opt_in')
})

test('6.38: contacts tell what they hear of, a page at a time', async () => {
  const { contacts, topics } = await openNewAccount('topics')
  const { id } = requireData(await contacts.create({ email: 'ann@there.example' }))
  const made: string[] = []
  for (const name of ['Digest', 'Offers', 'Events']) {
    const defaultSubscription = name === 'Offers' ? 'opt_out' : 'opt_in'
    made.unshift(requireData(await topics.create({ name, defaultSubscription })).id)
  }
  requireData(await contacts.topics.update({ id, topics: [{ id: made[0]!, subscription: 'opt_out' }] }))
  const first = requireData(await contacts.topics.list({ email: 'ann@there.example', limit: 2 }))
  assert.equal(
    first.data.map(topic => [topic.id, topic.name, topic.description, topic.subscription]),
    [
      [made[0], 'Events', null, 'opt_out'],
      [made[1], 'Offers', null, 'opt_out'],
    ],
  )
  assert.is(first.has_more, true)
  const rest = requireData(await contacts.topics.list({ id, after: made[1]! }))
  assert.equal(
    [rest.data.map(topic => [topic.id, topic.subscription]), rest.has_more],
    [[[made[2], 'opt_in']], false],
  )
  assertTold(
    await contacts.topics.list({ id, after: made[1]!.replace(/.$/, made[1]!.endsWith('0') ? '1' : '0') }),
    'not_found',
    404,
  )
})

test('6.38: broadcasts are kept, duplicated, and tell their links', async () => {
  const apiKey = await mailhorn.signIn()
  await mailhorn.verifiedDomain('here.example')
  const { audiences, broadcasts } = await openResend(RESEND_VERSIONS[0]!, { ...mailhorn, apiKey })
  const { id: segmentId } = requireData(await audiences.create({ name: 'Readers' }))
  const words = { name: 'May', from: 'ann@here.example', subject: 'May', text: 'News {{unsubscribe_url}}' }
  const { id } = requireData(await broadcasts.create({ ...words, segmentId }))
  const copy = requireData(await broadcasts.duplicate(id))
  assert.is.not(copy.id, id)
  const { status, name, subject, text } = requireData(await broadcasts.get(copy.id))
  assert.equal([status, name, subject, text], ['draft', 'May (copy)', 'May', words.text])
  const uuid = Buffer.from(id.replace(/^brd_|-/g, ''), 'hex')
  for (const link of [0, 1, 2])
    mailhorn.change(
      `insert into broadcast_links (broadcast_id, link, account_id, url, click_count, unique_count, machine_count)
       select ?, ${link}, account_id, 'https://shop.example/${link}', 5, 3, 1 from broadcasts where id = ?`,
      ...[uuid, uuid],
    )
  const first = requireData(await broadcasts.clickedLinks(id, { limit: 2 }))
  assert.is(first.has_more, true)
  assert.equal(first.data[1], { id: '1', url: 'https://shop.example/1', clicks: 5, unique_clicks: 3 })
  const rest = requireData(await broadcasts.clickedLinks(id, { after: first.data[1]!.id }))
  assert.equal([rest.has_more, rest.data.map(({ url }) => url)], [false, ['https://shop.example/2']])
  const back = requireData(await broadcasts.clickedLinks(id, { before: '2', limit: 1 }))
  assert.equal([back.has_more, back.data.map(link => link.id)], [true, ['1']])
  const both = requireData(await broadcasts.clickedLinks(id, { before: '2', limit: 2 }))
  assert.equal([both.has_more, both.data.map(link => link.id)], [false, ['0', '1']])
  assertTold(await broadcasts.duplicate('brd_01a201a1-0fc1-7038-b875-63bded9b3d16'), 'not_found', 404)
})

test('6.38: a scheduled broadcast that is canceled is a draft, which can be changed and deleted', async () => {
  const apiKey = await mailhorn.signIn()
  const { segments, broadcasts } = await openResend(RESEND_VERSIONS[0]!, { ...mailhorn, apiKey })
  const { id: segmentId } = requireData(await segments.create({ name: 'Readers' }))
  const scheduledAt = new Date(mailhorn.clock.now() + 3_600_000).toISOString()
  const words = { from: 'ann@here.example', subject: 'May', text: 'News' }
  const { id } = requireData(await broadcasts.create({ ...words, segmentId, send: true, scheduledAt }))
  assert.equal(requireData(await broadcasts.cancel(id)).id, id)
  const { status, scheduled_at } = requireData(await broadcasts.get(id))
  assert.equal([status, scheduled_at], ['draft', null])
  requireData(await broadcasts.update(id, { subject: 'June' }))
  assert.ok(requireData(await broadcasts.remove(id)).deleted)
})

test('6.38: properties have a type and a fallback', async () => {
  const { contactProperties } = await openNewAccount('properties')
  const city = requireData(
    await contactProperties.create({ key: 'city', type: 'string', fallbackValue: 'your town' }),
  )
  assert.is(city.object, 'contact_property')
  const seats = requireData(
    await contactProperties.create({ key: 'seats', type: 'number', fallbackValue: 0 }),
  )
  const plan = requireData(await contactProperties.create({ key: 'plan', type: 'string' }))
  const { key, type, fallbackValue } = requireData(await contactProperties.get(seats.id))
  assert.equal([key, type, fallbackValue], ['seats', 'number', 0])
  const first = requireData(await contactProperties.list({ limit: 2 }))
  assert.equal(
    [first.data.map(one => [one.id, one.key, one.fallbackValue]), first.has_more],
    [
      [
        [plan.id, 'plan', null],
        [seats.id, 'seats', 0],
      ],
      true,
    ],
  )
  const rest = requireData(await contactProperties.list({ after: seats.id }))
  assert.equal([rest.data.map(({ id }) => id), rest.has_more], [[city.id], false])

  assert.is(requireData(await contactProperties.update({ id: city.id, fallbackValue: 'there' })).id, city.id)
  assert.is(requireData(await contactProperties.get(city.id)).fallbackValue, 'there')
  requireData(await contactProperties.update({ id: city.id, fallbackValue: null }))
  assert.is(requireData(await contactProperties.get(city.id)).fallbackValue, null)

  for (const wrong of [
    { key: 'city', type: 'string' as const },
    { key: 'email', type: 'string' as const },
    { key: 'a{b', type: 'string' as const },
    { key: 'other', type: 'string' as const, fallbackValue: 'a } b' },
  ])
    assertTold(await contactProperties.create(wrong), 'validation_error', 422)
  assertTold(await contactProperties.update({ id: seats.id, fallbackValue: 'many' }), 'validation_error', 422)
  assert.is(requireData(await contactProperties.get(seats.id)).fallbackValue, 0)

  assert.ok(requireData(await contactProperties.remove(city.id)).deleted)
  assertTold(await contactProperties.get(city.id), 'not_found', 404)
  assertTold(await contactProperties.update({ id: city.id, fallbackValue: 'x' }), 'not_found', 404)
  assertTold(await contactProperties.remove(city.id), 'not_found', 404)
})

test('6.38: broadcasts tell their recipients', async () => {
  const apiKey = await mailhorn.signIn()
  await mailhorn.verifiedDomain('told.example')
  const { audiences, contacts, broadcasts } = await openResend(RESEND_VERSIONS[0]!, { ...mailhorn, apiKey })
  const { id: segmentId } = requireData(await audiences.create({ name: 'Told' }))
  const ids = new Map<string, string>()
  for (const name of ['delivered', 'bounced', 'clicked']) {
    const email = `${name}@simulator.test`
    ids.set(email, requireData(await contacts.create({ audienceId: segmentId, email })).id)
  }
  const words = { from: 'ann@told.example', subject: 'May', html: '<a href="https://shop.example/">Go</a>' }
  const { id } = requireData(await broadcasts.create({ ...words, segmentId, send: true }))
  const told = async (type: 'sent' | 'delivered' | 'bounced' | 'clicked') =>
    requireData(await broadcasts.recipients(id, { type }))
  await until(async () => {
    const { counts, clicks } = (await mailhorn.call('GET', `/broadcasts/${id}`, { session: apiKey })).body
    return counts.delivered + counts.bounced === 3 && clicks === 1
  })
  const { data, has_more } = await told('delivered')
  assert.equal(
    data.map(one => [one.email, one.contact_id]).sort(),
    ['clicked@simulator.test', 'delivered@simulator.test'].map(email => [email, ids.get(email)]),
  )
  assert.is(has_more, false)
  assert.is((await told('sent')).data.length, 3)
  const [clicked] = requireData(await broadcasts.recipients(id, { type: 'clicked' })).data
  assert.equal([clicked!.email, clicked!.count], ['clicked@simulator.test', 1])
  const permanent = { type: 'bounced', bounceType: 'permanent' } as const
  const [bounced] = requireData(await broadcasts.recipients(id, permanent)).data
  assert.equal([bounced!.email, bounced!.bounce_type], ['bounced@simulator.test', 'permanent'])
  const transient = { type: 'bounced', bounceType: 'transient' } as const
  assert.equal(requireData(await broadcasts.recipients(id, transient)).data, [])
  const one = requireData(
    await broadcasts.recipients(id, { type: 'sent', email: 'Delivered@simulator.test' }),
  )
  assert.is(one.data.length, 1)
  const page = requireData(await broadcasts.recipients(id, { type: 'sent', limit: 2 }))
  const next = requireData(await broadcasts.recipients(id, { type: 'sent', after: page.data[1]!.id }))
  assert.equal([page.has_more, next.data.length, next.has_more], [true, 1, false])
  assert.equal(requireData(await broadcasts.recipients(id, { type: 'unsubscribed' })).data, [])
  assertTold(
    await broadcasts.recipients('brd_01a201a1-0fc1-7038-b875-63bded9b3d16', { type: 'sent' }),
    'not_found',
    404,
  )
})

test('6.38: files of contacts are taken in, with what their columns are for', async () => {
  const { contacts, audiences } = await openNewAccount('imports')
  const file = new Blob([
    'Mail;Given;Seats;Paying;Other\nAnn@there.example;Ann;3;yes;x\nbob@there.example;;many;no;x\n',
  ])
  const columnMap = {
    email: 'Mail',
    firstName: 'Given',
    properties: {
      seats: { column: 'Seats', type: 'number' as const },
      paying: { column: 'Paying', type: 'boolean' as const },
    },
  }
  const first = requireData(await contacts.imports.create({ file, columnMap }))
  assert.is(first.object, 'contact_import')
  const { status, counts, completed_at } = requireData(await contacts.imports.get(first.id))
  assert.equal([status, typeof completed_at], ['completed', 'string'])
  assert.equal(counts, { total: 2, created: 1, updated: 0, skipped: 0, failed: 1 })
  const ann = requireData(await contacts.get('ann@there.example'))
  assert.equal(ann.first_name, 'Ann')
  assert.equal(ann.properties as unknown, {
    seats: { value: 3, type: 'number' },
    paying: { value: true, type: 'boolean' },
  })
  const [home] = requireData(await audiences.list()).data
  assert.is(home!.name, 'Contacts', 'it was made for them')

  const { id: segmentId } = requireData(await audiences.create({ name: 'Readers' }))
  const plain = new Blob(['email,first_name,plan\nann@there.example,Anna,pro\ncid@there.example,Cid,free\n'])
  const second = requireData(await contacts.imports.create({ file: plain, segments: [{ id: segmentId }] }))
  assert.equal(
    requireData(await contacts.list({ segmentId })).data.map(one => one.email),
    ['cid@there.example', 'ann@there.example'],
  )
  const again = requireData(await contacts.imports.create({ file: plain, onConflict: 'skip' }))
  assert.equal(requireData(await contacts.imports.get(again.id)).counts, {
    ...{ total: 2, created: 1, updated: 0, skipped: 1, failed: 0 },
  })
  assert.is(requireData(await contacts.get('ann@there.example')).first_name, 'Ann')

  const page = requireData(await contacts.imports.list({ limit: 2 }))
  assert.equal([page.data.map(({ id }) => id), page.has_more], [[again.id, second.id], true])
  const rest = requireData(await contacts.imports.list({ after: second.id, status: 'completed' }))
  assert.equal([rest.data.map(({ id }) => id), rest.has_more], [[first.id], false])
  assert.equal(requireData(await contacts.imports.list({ status: 'queued' })).data, [])

  const wrongMap = { email: 'Nowhere' }
  for (const [wrong, field] of [
    [{ file: new Blob(['']) }, 'header'],
    [{ file, columnMap: wrongMap }, 'column_map'],
    [{ file: plain, segments: [{ id: 'aud_01a201a1-0fc1-7038-b875-63bded9b3d16' }] }, 'segment'],
    [{ file: plain, topics: [{ id: 'top_1', subscription: 'opt_in' as const }] }, 'topics'],
    [{ file: plain, segments: Array(21).fill({ id: segmentId }) }, 'segments'],
    [{ file: plain, onConflict: 'perhaps' as 'skip' }, 'on_conflict'],
  ] as const) {
    const answer = await contacts.imports.create(wrong as Parameters<typeof contacts.imports.create>[0])
    assertTold(answer, 'validation_error', 422)
    assert.match(answer.error!.message, field)
  }
  assertTold(await contacts.imports.get('imp_01a201a1-0fc1-7038-b875-63bded9b3d16'), 'not_found', 404)
})

test.run()
