import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { sweepDeletedAudiences } from '../../../../src/resources/contacts/deleted-audiences.ts'
import {
  foldValue,
  type PropertyValue,
  readProperties,
} from '../../../../src/resources/contacts/properties.ts'
import { inPieces, openAudience } from '../../../kit/audience.ts'
import { newId } from '../../../kit/mail.ts'
import { fc } from '../../../kit/property.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('contacts: what is kept beside them')

const email = fc.integer({ min: 0, max: 4 }).map(i => `c${i}@there.test`)
const key = fc.constantFrom('plan', 'city', 'seats')
const value = fc.constantFrom<PropertyValue>('Pro', 'free', 3, true, '')
const properties = fc.dictionary(key, value, { maxKeys: 3 })
const changes = fc.record(
  {
    email,
    firstName: fc.constantFrom('Ann', null),
    unsubscribed: fc.boolean(),
    properties: fc
      .dictionary(key, fc.option(value), { maxKeys: 3 })
      .map(entries => new Map(Object.entries(entries))),
  },
  { requiredKeys: [] },
)
const step = fc.oneof(
  fc.record({ what: fc.constant('add' as const), email, properties, unsubscribed: fc.boolean() }),
  fc.record({ what: fc.constant('change' as const), email, changes }),
  fc.record({ what: fc.constant('remove' as const), email }),
  fc.record({ what: fc.constant('leave' as const), email }),
  fc.record({
    what: fc.constant('import' as const),
    rows: fc.array(fc.tuple(email, value, fc.boolean()), { maxLength: 6 }),
  }),
)

test('contact state: it follows from the commands after any history', async t => {
  const { run, accountId, newAudience, importFile, clock, db } = await openAudience(t)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async steps => {
      const audienceId = await newAudience()
      const place = { accountId, audienceId, at: clock.now() }
      for (const one of steps)
        if (one.what === 'add') {
          const fields = {
            ...one,
            firstName: null,
            lastName: null,
            properties: new Map(Object.entries(one.properties)),
          }
          await run('addContact', { ...place, id: newId(clock.now()), fields })
        } else if (one.what === 'change')
          await run('changeContact', { ...place, ref: { email: one.email }, changes: one.changes })
        else if (one.what === 'remove') await run('removeContact', { ...place, ref: { email: one.email } })
        else if (one.what === 'leave')
          await run('unsubscribe', { accountId, email: one.email, topicId: null, at: clock.now() })
        else {
          const lines = one.rows.map(([address, plan, gone]) => `${address},${plan},${gone}\n`)
          const bytes = inPieces(Buffer.from(`email,plan,unsubscribed\n${lines.join('')}`), 1_000)
          await importFile(bytes, { audienceId })
        }
      const contacts = await db
        .selectFrom('contacts')
        .selectAll()
        .where('audienceId', '=', audienceId)
        .execute()
      const audience = await db
        .selectFrom('audiences')
        .selectAll()
        .where('id', '=', audienceId)
        .executeTakeFirstOrThrow()
      assert.equal(
        [audience.contactCount, audience.unsubscribedCount],
        [contacts.length, contacts.filter(({ unsubscribed }) => unsubscribed === 1).length],
      )
      const keys = await db
        .selectFrom('contactProperties')
        .selectAll()
        .where('audienceId', '=', audienceId)
        .execute()
      const values = await db
        .selectFrom('contactValues')
        .innerJoin('contactProperties', 'contactProperties.id', 'contactValues.propertyId')
        .select(['contactId', 'key', 'foldedValue'])
        .where('audienceId', '=', audienceId)
        .execute()
      const hex = (id: Id) => Buffer.from(id).toString('hex')
      const expected = contacts.flatMap(({ id, properties: json }) =>
        [...readProperties(json)].map(([name, is]) => `${hex(id)} ${name} ${foldValue(is)}`),
      )
      assert.equal(
        values.map(row => `${hex(row.contactId)} ${row.key} ${row.foldedValue}`).sort(),
        expected.sort(),
      )
      for (const { key: name, contactCount } of keys)
        assert.is(contactCount, expected.filter(line => line.split(' ')[1] === name).length, name)
    }),
    { numRuns: 40 },
  )
})

async function openTopics(t: TestContext) {
  const open = await openAudience(t)
  await open.listen()
  const topic = async (defaultSubscription: 'opt_in' | 'opt_out', accountId = open.accountId) => {
    const fields = { name: 'News', description: null, defaultSubscription, visibility: 'private' as const }
    const id = newId(open.clock.now())
    await open.run('createTopic', { accountId, id, fields, at: open.clock.now() })
    return id
  }
  const told = () =>
    open
      .rows<{ type: string; data: string }>('select type, data from events order by id')
      .map(({ type, data }) => {
        const { email: address, unsubscribed, unsubscribed_topics: topics } = JSON.parse(data)
        return [type, address, unsubscribed, topics.length]
      })
  return { ...open, topic, told }
}

test('unsubscribe: it applies to all audiences of the account', async t => {
  const { run, account, accountId, newAudience, add, audienceId, clock, told, rows } = await openTopics(t)
  const [second, gone] = [await newAudience(), await newAudience()]
  for (const id of [audienceId, second, gone]) await add({ email: 'ann@there.test' }, id)
  await add({ email: 'bob@there.test' })
  const other = account('Other')
  const theirs = await newAudience(other)
  const fields = {
    email: 'ann@there.test',
    firstName: null,
    lastName: null,
    unsubscribed: false,
    properties: new Map(),
  }
  await run('addContact', {
    accountId: other,
    audienceId: theirs,
    id: newId(clock.now()),
    fields,
    at: clock.now(),
  })
  await run('deleteAudience', { accountId, id: gone, at: clock.now() })
  const leave = () =>
    run('unsubscribe', { accountId, email: 'ann@there.test', topicId: null, at: clock.now() })
  assert.is(await leave(), 2)
  const before = told()
  assert.equal(before.slice(-2), Array(2).fill(['contact.updated', 'ann@there.test', true, 0]))
  assert.is(await leave(), 2)
  assert.equal(told(), before, 'what is so already is not told again')
  const unsubscribed = 'select email from contacts where unsubscribed = 1 and account_id = ?'
  assert.equal([rows(unsubscribed, accountId).length, rows(unsubscribed, other).length], [2, 0])
})

test('unsubscribe: a topic must belong to the account', async t => {
  const { run, account, accountId, add, clock, topic, told } = await openTopics(t)
  await add({ email: 'ann@there.test' })
  const [own, foreign] = [await topic('opt_in'), await topic('opt_in', account('Other'))]
  const leave = (topicId: Id) =>
    run('unsubscribe', { accountId, email: 'ann@there.test', topicId, at: clock.now() })
  await leave(foreign)
  assert.is(told().length, 1)
  await leave(own)
  await leave(own)
  assert.equal(told().slice(1), [['contact.updated', 'ann@there.test', false, 1]])
})

test('deletion: all rows of audiences and topics are deleted in steps, with events', async t => {
  const { run, accountId, audienceId, importFile, newAudience, add, clock, topic, db, rows, told } =
    await openTopics(t)
  const remaining = await newAudience()
  await add({ email: 'kept@there.test', properties: new Map([['plan', 'pro']]) }, remaining)
  const subject = await topic('opt_in')
  await importFile(
    `email,plan\n${Array.from({ length: 300 }, (_, i) => `c${i}@there.test,p${i}\n`).join('')}`,
  )
  const filters = [{ field: 'email', op: 'exists' as const, value: null }]
  const segment = { accountId, audienceId, id: newId(clock.now()), name: 'x', filters, at: clock.now() }
  await run('createSegment', segment)
  for (const address of ['c0@there.test', 'c1@there.test', 'kept@there.test'])
    await run('unsubscribe', { accountId, email: address, topicId: subject, at: clock.now() })
  await run('deleteAudience', { accountId, id: audienceId, at: clock.now() })
  await run('deleteTopic', { accountId, id: subject, at: clock.now() })
  let steps = 0
  for await (const _ of sweepDeletedAudiences({ db, run, clock })) steps++
  assert.ok(steps >= 2, `${steps} steps`)
  const left = (table: string) => rows(`select * from ${table}`).length
  const tables = ['contacts', 'contact_properties', 'contact_values', 'segments', 'contact_imports']
  assert.equal(tables.map(left), [1, 1, 1, 0, 0])
  assert.equal(['contact_topics', 'deleted_audiences', 'deleted_topics'].map(left), [0, 0, 0])
  const deleted = told().filter(([type]) => type === 'contact.deleted')
  assert.is(new Set(deleted.map(([, address]) => address)).size, 300)
})

test('limits: topics per account and properties per audience', async t => {
  const { run, accountId, audienceId, add, clock, change } = await openTopics(t)
  const at = clock.now()
  const fill = (table: string, columns: string, values: string, count: number) => {
    for (let i = 0; i < count; i++)
      change(`insert into ${table} (${columns}) values (${values})`, newId(at), accountId, `k${i}`)
  }
  fill(
    'topics',
    'id, account_id, name, default_subscription, created_at, updated_at',
    "?, ?, ?, 'opt_in', 0, 0",
    200,
  )
  const id = newId(at)
  const fields = {
    ...{ name: 'x', description: null, defaultSubscription: 'opt_in' as const },
    visibility: 'private' as const,
  }
  assert.is(await run('createTopic', { accountId, id, fields, at }), undefined)
  for (let i = 0; i < 5; i++)
    await add({
      email: `c${i}@there.test`,
      properties: new Map(Array.from({ length: 100 }, (_, n) => [`k${i * 100 + n}`, n])),
    })
  const place = { accountId, audienceId, at }
  const none = { firstName: null, lastName: null, unsubscribed: false }
  const more = { ...none, email: 'd@there.test', properties: new Map([['one more', 1]]) }
  assert.equal(await run('addContact', { ...place, id, fields: more }), { refused: 'too-many-keys' })
  assert.is(await run('beginImport', { ...place, id, fileName: null, keys: ['one more'] }), 'too-many-keys')
  await run('removeContact', { ...place, ref: { email: 'c0@there.test' } })
  assert.ok('contact' in (await run('addContact', { ...place, id, fields: more })), 'there is room again')
})

test.run()
