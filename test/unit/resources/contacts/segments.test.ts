import * as assert from 'uvu/assert'
import { type Id, idText } from '../../../../src/lib/ids.ts'
import type { ContactFields } from '../../../../src/resources/contacts/contact.ts'
import { DATE_OPS, PERIOD_OPS, TEXT_OPS } from '../../../../src/resources/contacts/filter-ops.ts'
import { contradictionOf, type SegmentFilter } from '../../../../src/resources/contacts/filters.ts'
import { countMembers, listContacts } from '../../../../src/resources/contacts/list.ts'
import { hasMemberElsewhere, segmentMembers, segmentsOf } from '../../../../src/resources/contacts/members.ts'
import type { PropertyValue } from '../../../../src/resources/contacts/properties.ts'
import type { ContactRow, SegmentRow } from '../../../../src/store/model/schema.ts'
import { insertRows, type TestDatabase } from '../../../kit/database.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { fc } from '../../../kit/property.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('contacts: who belongs to a segment')

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const { account, clock } = postOver(store)
  const accountId = account()
  const newAudience = async () => {
    const audience = await store.run('createAudience', {
      ...{ accountId, id: newId(clock.now()), name: 'All', at: clock.now() },
    })
    return audience!.id
  }
  const audienceId = await newAudience()
  const add = async (fields: Partial<ContactFields> & { email: string }, to = audienceId): Promise<Id> => {
    const id = newId(clock.now())
    const answer = await store.run('addContact', {
      ...{ accountId, audienceId: to, id, at: clock.now() },
      fields: { firstName: null, lastName: null, unsubscribed: false, properties: new Map(), ...fields },
    })
    if ('refused' in answer) throw new Error(answer.refused)
    return id
  }
  const audienceOf = (id: Id) =>
    store.db.selectFrom('audiences').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  return { ...store, accountId, audienceId, newAudience, add, audienceOf, clock }
}

const DAY_MS = 24 * 60 * 60 * 1000
const NOW = Date.UTC(2026, 10, 30)

/** Days since the last email, open and click; null for never. */
type Activity = Record<'last_sent_at' | 'last_opened_at' | 'last_clicked_at', number | null>
type Fields = ContactFields & Partial<Activity>

/** Evaluates filters in memory, one contact after the other, independently of the SQL. */
function belongs(contact: Fields, filters: readonly SegmentFilter[]): boolean {
  const fold = (value: PropertyValue) => String(value).normalize('NFKC').toLowerCase().replaceAll('ς', 'σ')
  return filters.every(({ field, op, value }) => {
    const property = field.startsWith('properties.')
      ? (contact.properties.get(field.slice('properties.'.length)) ?? null)
      : null
    if (field.startsWith('properties.') && isDateOp(op)) return isDated(property, op, value)
    if (op === 'within_days' || op === 'not_within_days') {
      const days = contact[field as keyof Activity] ?? Number.POSITIVE_INFINITY
      return days <= Number(value) === (op === 'within_days')
    }
    const fields: Record<string, PropertyValue | null> = {
      email: contact.email,
      first_name: contact.firstName,
      last_name: contact.lastName,
      unsubscribed: contact.unsubscribed,
    }
    const own = field.startsWith('properties.') ? property : fields[field]
    const has = own !== undefined && own !== null
    if (op === 'exists' || op === 'not_exists') return has === (op === 'exists')
    if (!has) return op === 'neq'
    if (Array.isArray(value)) return value.map(fold).includes(fold(own))
    const [one, other] = [fold(own), fold(value!)]
    if (op === 'contains') return one.includes(other)
    return (one === other) === (op === 'eq')
  })
}

function isDateOp(op: SegmentFilter['op']): boolean {
  return [...PERIOD_OPS, ...DATE_OPS].some(one => one === op)
}

/** Compares the day of a property, if it is one, with a day or with the days until now. */
function isDated(own: PropertyValue | null, op: SegmentFilter['op'], value: SegmentFilter['value']): boolean {
  const isDate = typeof own === 'string' && /^\d{4}-\d{2}-\d{2}/.test(own)
  const at = isDate ? Date.parse(own.slice(0, 10)) : Number.NaN
  if (op === 'before') return at < Date.parse(String(value))
  if (op === 'after') return at >= Date.parse(String(value))
  const isWithin = at <= NOW && at >= NOW - Number(value) * DAY_MS
  return isWithin === (op === 'within_days')
}

/** Few different ones, so that they meet; some that fold to the same, and some that patterns are made of. */
const text = fc.constantFrom(
  'Ann',
  'ANN',
  'ann',
  'É',
  'é',
  'e\u0301',
  'Ａnn',
  '%',
  '_',
  'a_n',
  '!',
  '',
  'ﬁ',
  'fi',
  'ΟΔΟΣ',
  'οδος',
  'ΟΔΟΣΑΝ',
  'true',
  '1',
)
const date = fc.constantFrom('2026-11-22', '2026-11-23T10:00:00Z', '2026-11-30', '2026-12-01', '2026-1-2')
const value = fc.oneof(text, date, fc.constantFrom<PropertyValue>(1, 1.5, -0, true, false))
const key = fc.constantFrom('plan', 'Plan', 'a.b', '__proto__', '%')
const days = fc.option(fc.constantFrom(1, 6, 7, 8, 400))
const contact = fc.record({
  last_sent_at: days,
  last_opened_at: days,
  last_clicked_at: days,
  firstName: fc.option(text),
  lastName: fc.option(text),
  unsubscribed: fc.boolean(),
  properties: fc.array(fc.tuple(key, value), { maxLength: 4 }).map(entries => new Map(entries)),
})
const textFilter: fc.Arbitrary<SegmentFilter> = fc.record({
  field: fc.oneof(
    fc.constantFrom('email', 'first_name', 'last_name', 'unsubscribed'),
    fc.oneof(key, fc.constant('never')).map(name => `properties.${name}`),
  ),
  op: fc.constantFrom(...TEXT_OPS),
  value: fc.oneof(value, fc.constantFrom('c1@', 'C12@THERE.TEST', 'rue')),
})

const activityFilter: fc.Arbitrary<SegmentFilter> = fc.record({
  field: fc.constantFrom('last_sent_at', 'last_opened_at', 'last_clicked_at'),
  op: fc.constantFrom(...PERIOD_OPS),
  value: fc.constantFrom(1, 7, 365),
})
const propertyField = key.map(name => `properties.${name}`)
const listFilter: fc.Arbitrary<SegmentFilter> = fc.record({
  field: fc.oneof(fc.constantFrom('email', 'first_name', 'last_name'), propertyField),
  op: fc.constant('in'),
  value: fc.array(fc.oneof(text, fc.constantFrom('c1@there.test', 'C2@THERE.TEST')), {
    minLength: 1,
    maxLength: 4,
  }),
})
const dateFilter: fc.Arbitrary<SegmentFilter> = fc.oneof(
  fc.record({
    field: fc.oneof(propertyField, fc.constant('properties.never')),
    op: fc.constantFrom(...PERIOD_OPS),
    value: fc.constantFrom(1, 7, 365),
  }),
  fc.record({
    field: propertyField,
    op: fc.constantFrom(...DATE_OPS),
    value: fc.constantFrom('2026-11-23', '2026-11-30'),
  }),
)
const filter = fc.oneof(textFilter, activityFilter, listFilter, dateFilter)

test('segment: members equal a scan of all contacts', async t => {
  const store = await open(t)
  const { run, db, accountId, newAudience, audienceOf, clock, add } = store
  await fc.assert(
    fc.asyncProperty(
      fc.array(contact, { minLength: 1, maxLength: 12 }),
      fc.array(fc.array(filter, { maxLength: 3 }), { minLength: 1, maxLength: 12 }),
      async (contacts, segments) => {
        const audienceId = await newAudience()
        const all = contacts.map((fields, i) => ({ ...fields, email: `c${i}@there.test` }))
        for (const fields of all) await act(store, await add(fields, audienceId), fields)
        const audience = await audienceOf(audienceId)
        for (const filters of segments) {
          const expected = all.filter(fields => belongs(fields, filters)).map(({ email }) => email)
          const question = { audience, filters, search: '', limit: 100, offset: 0, cursor: null }
          const { total, rows } = await listContacts(db, NOW, question, 4)
          assert.equal(emailsOf(rows).reverse(), expected)
          assert.is(total, expected.length)
          assert.is(await countMembers(db, NOW, audience, filters, 4), expected.length)
          const page = await listContacts(db, NOW, { ...question, limit: 2, offset: 1 }, 2)
          assert.equal(emailsOf(page.rows), expected.toReversed().slice(1, 3))
          for (const [i, { id }] of rows.entries())
            for (const side of ['older', 'newer'] as const) {
              const beside = await listContacts(db, NOW, { ...question, limit: 2, cursor: { id, side } }, 3)
              const all = side === 'older' ? rows.slice(i + 1) : rows.slice(0, i)
              const shown = side === 'older' ? all.slice(0, 2) : all.slice(-2)
              assert.equal(emailsOf(beside.rows), emailsOf(shown))
              assert.equal([beside.total, beside.hasMore], [total, all.length > 2])
            }
          const segment = { audienceId, filters: JSON.stringify(filters) }
          assert.equal(await pagesOf(db, segment, 3), expected)
        }
        assert.is(await run('deleteAudience', { accountId, id: audienceId, at: clock.now() }), true)
      },
    ),
    { numRuns: 60 },
  )
})

/** Stores the activity of a contact, if there has been any. */
async function act(store: Pick<TestDatabase, 'change'>, id: Id, activity: Activity) {
  const at = (ago: number | null) => (ago === null ? null : NOW - ago * DAY_MS)
  const times = [activity.last_sent_at, activity.last_opened_at, activity.last_clicked_at].map(at)
  if (times.every(time => time === null)) return
  const [last_sent_at, last_opened_at, last_clicked_at] = times
  insertRows(store, 'contact_activity', [{ contact_id: id, last_sent_at, last_opened_at, last_clicked_at }])
}

function emailsOf(rows: readonly Pick<ContactRow, 'email'>[]): string[] {
  return rows.map(({ email }) => email)
}

async function pagesOf(
  db: Parameters<typeof segmentMembers>[0],
  segment: Pick<SegmentRow, 'audienceId' | 'filters'>,
  limit: number,
): Promise<string[]> {
  const emails: string[] = []
  for (let after: Id | null = null; ; ) {
    const { members, next } = await segmentMembers(db, segment, NOW, after, limit, 5)
    emails.push(...emailsOf(members))
    if (next === null) return emails
    after = next
  }
}

test('segment: members follow changes of contacts', async t => {
  const { run, db, accountId, audienceId, audienceOf, add, clock } = await open(t)
  const id = await add({ email: 'ann@there.test', properties: new Map([['plan', 'Pro']]) })
  const plan = (op: SegmentFilter['op'], value: PropertyValue | null = null): SegmentFilter => ({
    field: 'properties.plan',
    op,
    value,
  })
  const counts = async () => {
    const audience = await audienceOf(audienceId)
    const requests = [
      plan('eq', 'pro'),
      plan('contains', 'R'),
      plan('exists'),
      plan('neq', 'pro'),
      plan('not_exists'),
    ]
    return Promise.all(requests.map(filter => countMembers(db, NOW, audience, [filter])))
  }
  const change = (properties: [string, PropertyValue | null][]) =>
    run('changeContact', {
      ...{
        accountId,
        audienceId,
        ref: { id },
        changes: { properties: new Map(properties) },
        at: clock.now(),
      },
    })
  assert.equal(await counts(), [1, 1, 1, 0, 0])
  await change([['plan', 'Free']])
  assert.equal(await counts(), [0, 1, 1, 1, 0])
  await change([['plan', null]])
  assert.equal(await counts(), [0, 0, 0, 1, 1])
  await change([['plan', 'pRO']])
  assert.equal(await counts(), [1, 1, 1, 0, 0])
  await run('removeContact', { accountId, audienceId, ref: { id }, at: clock.now() })
  assert.equal(await counts(), [0, 0, 0, 0, 0])
})

test('segment: several values are counted in chunks of any size', async t => {
  const { db, audienceId, audienceOf, add } = await open(t)
  const all: ContactFields[] = []
  for (let i = 0; i < 9; i++) {
    const properties = new Map<string, PropertyValue>([['plan', i % 2 ? 'pro' : 'free']])
    if (i % 3) properties.set('color', i % 4 ? 'red' : 'blue')
    if (i > 4) properties.set('size', 'l')
    all.push({
      ...{ email: `c${i}@there.test`, firstName: null, lastName: null, unsubscribed: false, properties },
    })
    await add(all[i]!)
  }
  const audience = await audienceOf(audienceId)
  const comparing = (op: 'eq' | 'neq') =>
    [
      ['plan', 'pro'],
      ['color', 'red'],
      ['size', 'l'],
    ].map(([name, value]): SegmentFilter => ({ field: `properties.${name}`, op, value: value! }))
  const [equal, unequal] = [comparing('eq'), comparing('neq')]
  const segments = [
    ...[unequal.slice(0, 2), unequal.slice(1), unequal],
    ...[equal.slice(0, 2), equal.slice(1), equal],
    ...equal.flatMap((one, i) => [
      [one, unequal[(i + 1) % 3]!],
      [one, ...unequal.toSpliced(i, 1)],
    ]),
    [...equal.slice(0, 2), unequal[2]!],
  ]
  for (const filters of segments)
    for (const size of [1, 2, 3, 4, 9, 10])
      assert.is(
        await countMembers(db, NOW, audience, filters, size),
        all.filter(fields => belongs(fields, filters)).length,
        `${JSON.stringify(filters)} by ${size}`,
      )
})

test('segment: contacts are selected by when they were added', async t => {
  // given: ann and bob, ten days apart
  const { db, audienceId, audienceOf, add, clock } = await open(t)
  await add({ email: 'ann@there.test' })
  const between = clock.now() + 5 * DAY_MS
  clock.advance(10 * DAY_MS)
  await add({ email: 'bob@there.test' })
  const audience = await audienceOf(audienceId)

  // when, then
  const found = async (op: SegmentFilter['op'], value: string | number) => {
    const filters = [{ field: 'created_at', op, value }]
    const question = { audience, filters, search: '', limit: 9, offset: 0, cursor: null }
    const { rows, total } = await listContacts(db, clock.now(), question)
    assert.is(total, await countMembers(db, clock.now(), audience, filters))
    return emailsOf(rows)
  }
  assert.equal(await found('before', new Date(between).toISOString()), ['ann@there.test'])
  assert.equal(await found('after', new Date(between).toISOString()), ['bob@there.test'])
  assert.equal(await found('within_days', 9), ['bob@there.test'])
  assert.equal(await found('not_within_days', 9), ['ann@there.test'])
  assert.equal(await found('within_days', 10), ['bob@there.test', 'ann@there.test'])
})

test('segment: conditions on one time that exclude each other are found in any order', async () => {
  const opened = (op: SegmentFilter['op'], value: number) => ({ field: 'last_opened_at', op, value })
  const added = (op: SegmentFilter['op'], value: string) => ({ field: 'created_at', op, value })
  const clicked = { field: 'last_clicked_at', op: 'not_within_days', value: 90 } as const
  for (const [filters, expected] of [
    [
      [opened('within_days', 7), clicked, opened('not_within_days', 7)],
      [0, 2],
    ],
    [
      [opened('not_within_days', 30), opened('within_days', 7)],
      [0, 1],
    ],
    [[opened('within_days', 30), opened('not_within_days', 7), clicked], undefined],
    [
      [added('after', '2026-01-02'), added('before', '2026-01-02')],
      [0, 1],
    ],
    [[added('before', '2026-01-03'), added('after', '2026-01-02')], undefined],
  ] as const)
    assert.equal(contradictionOf(filters), expected)
})

test('segment: audiences are independent', async t => {
  const { db, audienceId, newAudience, audienceOf, add } = await open(t)
  const other = await newAudience()
  for (const id of [audienceId, other])
    for (const name of ['ann', 'bob'])
      await add({ email: `${name}@there.test`, properties: new Map([['plan', name]]) }, id)
  const filters: SegmentFilter[] = [{ field: 'properties.plan', op: 'eq', value: 'ann' }]
  for (const id of [audienceId, other]) {
    const { rows } = await listContacts(db, NOW, {
      audience: await audienceOf(id),
      filters,
      search: '',
      limit: 9,
      offset: 0,
      cursor: null,
    })
    assert.equal(
      rows.map(row => [idText(row.audienceId), row.email]),
      [[idText(id), 'ann@there.test']],
    )
  }
})

const SIMULATORS = new Set(['simulator.test', 'former.test'])

test('members at other domains: found in any chunk, per segment, only if subscribed', async t => {
  const { add, db, audienceId } = await open(t)
  const isElsewhere = (filters: readonly SegmentFilter[] | null) =>
    hasMemberElsewhere(db, NOW, { audienceId, filters: filters && JSON.stringify(filters) }, SIMULATORS, 2)
  const pro = [{ field: 'properties.plan', op: 'eq', value: 'pro' }] as const
  assert.is(await isElsewhere(null), false)
  for (let i = 0; i < 5; i++)
    await add({ email: `delivered+${i}@simulator.test`, properties: new Map([['plan', 'pro']]) })
  await add({ email: 'delivered@former.test' })
  await add({ email: 'left@there.test', unsubscribed: true })
  assert.is(await isElsewhere(null), false)
  await add({ email: 'x@notsimulator.test', properties: new Map([['plan', 'free']]) })
  assert.is(await isElsewhere(null), true)
  assert.is(await isElsewhere(pro), false)
  assert.is(await isElsewhere([{ field: 'email', op: 'contains', value: 'simulator' }]), true)
  assert.is(await isElsewhere([{ field: 'properties.nobody', op: 'exists', value: null }]), false)
  await add({ email: 'pro@sub.simulator.test', properties: new Map([['plan', 'pro']]) })
  assert.is(await isElsewhere(pro), true)
})

test('the segments of a contact are those that list it, newest first', async t => {
  // given: segments by column, flag, property with an index, and nothing, also in another audience
  const { db, run, accountId, audienceId, newAudience, add, clock } = await open(t)
  const segment = async (name: string, filters: readonly SegmentFilter[], to = audienceId) => {
    const id = newId(clock.now())
    await run('createSegment', { accountId, audienceId: to, id, name, filters, at: clock.now() })
  }
  const city = (value: string) => ({ field: 'properties.city', op: 'eq', value }) as const
  const named = { field: 'first_name', op: 'exists', value: null } as const
  await segment('everybody', [])
  await segment('Graz', [city('Graz')])
  await segment('Graz, named', [city('graz'), named])
  await segment('Linz', [city('Linz')])
  await segment('subscribed', [{ field: 'unsubscribed', op: 'eq', value: 'false' }])
  await segment('unknown key', [{ field: 'properties.age', op: 'exists', value: null }])
  await segment('elsewhere', [], await newAudience())
  const inCity = (value: string) => new Map<string, PropertyValue>([['city', value]])
  const ann = await add({ email: 'ann@there.test', firstName: 'Ann', properties: inCity('Graz') })
  const ben = await add({ email: 'ben@there.test', properties: inCity('Graz') })
  const cleo = await add({ email: 'cleo@there.test', unsubscribed: true, properties: inCity('Linz') })

  // when, then
  const names = async (id: Id) => (await segmentsOf(db, NOW, { audienceId, id })).map(({ name }) => name)
  assert.equal(await names(ann), ['subscribed', 'Graz, named', 'Graz', 'everybody'])
  assert.equal(await names(ben), ['subscribed', 'Graz', 'everybody'])
  assert.equal(await names(cleo), ['Linz', 'everybody'])
  const ofAnother = { audienceId: await newAudience(), id: ann }
  assert.equal(await segmentsOf(db, NOW, ofAnother), [])
})

test.run()
