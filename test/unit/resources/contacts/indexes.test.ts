import * as assert from 'uvu/assert'
import { membershipOf, type SegmentFilter } from '../../../../src/resources/contacts/filters.ts'
import { countMembers, listContacts } from '../../../../src/resources/contacts/list.ts'
import { segmentMembers } from '../../../../src/resources/contacts/members.ts'
import type { Db } from '../../../../src/store/model/schema.ts'
import { kyselyOver } from '../../../../src/store/sqlite/kysely.ts'
import { openAudience } from '../../../kit/audience.ts'
import { newId } from '../../../kit/mail.ts'
import { openSqliteStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('contacts: by which indexes they are found on SQLite')
const NOW = 0
const VALUES = /USING COVERING INDEX contact_values_value \(property_id=\? AND folded_value=\?/
const SEARCH = /USING COVERING INDEX contacts_search \(audience_id=\?/

async function open(t: TestContext) {
  const store = await t.using(openSqliteStore())
  const [accountId, audienceId] = [newId(1), newId(1)]
  const place = { accountId, audienceId }
  await store.run('createAudience', { accountId, id: audienceId, name: 'All', at: 1 })
  const fields = { email: 'ann@there.test', firstName: null, lastName: null, unsubscribed: false }
  const properties = new Map([
    ['plan', 'pro'],
    ['city', 'Aarhus'],
  ])
  await store.run('addContact', { ...place, id: newId(1), fields: { ...fields, properties }, at: 1 })
  const audience = { id: audienceId, contactCount: 1, unsubscribedCount: 0 }
  /** Returns SQLite's plans for the queries of `ask`. */
  const plansOf = async (ask: (db: Db) => Promise<unknown>): Promise<string[]> => {
    const plans: string[] = []
    const explain = store.connection.raw
    const db = kyselyOver({
      ...store.connection,
      prepare(sql) {
        const unbound = sql.replaceAll('?', 'null')
        const steps = explain.prepare(`explain query plan ${unbound}`).all() as { detail: string }[]
        // bound to null, an equality still chooses its index
        if (/contacts|contact_values|contact_activity/.test(sql))
          plans.push(steps.map(({ detail }) => detail).join('; '))
        return store.connection.prepare(sql)
      },
    })
    await ask(db)
    return plans
  }
  return { audience, plansOf }
}

const plan: SegmentFilter = { field: 'properties.plan', op: 'eq', value: 'pro' }
const city: SegmentFilter = { field: 'properties.city', op: 'exists', value: null }

test('segment queries: an equal property uses the value index', async t => {
  const { audience, plansOf } = await open(t)
  const counted = await plansOf(db => countMembers(db, NOW, audience, [plan]))
  const segment = { audienceId: audience.id, filters: JSON.stringify([plan, city]) }
  const walked = await plansOf(db => segmentMembers(db, segment, NOW, null, 10))
  const byValues = [...counted, ...walked].filter(steps => steps.includes('contact_values'))
  assert.ok(byValues.length >= 3)
  for (const steps of byValues) {
    assert.match(steps.replaceAll('contact_values AS lead', 'lead'), VALUES)
    assert.not.match(steps, /SCAN|TEMP B-TREE/)
  }
})

test('segment queries: several unequal values are counted by merging', async t => {
  const { audience, plansOf } = await open(t)
  const others: SegmentFilter[] = [
    { field: 'properties.plan', op: 'neq', value: 'pro' },
    { field: 'properties.city', op: 'neq', value: 'Rome' },
  ]
  const merges = (await plansOf(db => countMembers(db, NOW, audience, others))).filter(plan =>
    /UNION/.test(plan),
  )
  assert.ok(merges.length >= 1)
  for (const steps of merges) {
    assert.match(steps, /MERGE \(UNION\)/)
    assert.match(steps, VALUES)
    assert.not.match(steps, /SCAN contact|TEMP B-TREE/)
  }
})

test('segment queries: one equal and one unequal value are counted by merging', async t => {
  const { audience, plansOf } = await open(t)
  const notInRome: SegmentFilter = { field: 'properties.city', op: 'neq', value: 'Rome' }
  const merges = (await plansOf(db => countMembers(db, NOW, audience, [plan, notInRome]))).filter(steps =>
    /EXCEPT/.test(steps),
  )
  assert.is(merges.length, 1)
  assert.match(merges[0]!, /MERGE \(EXCEPT\)/)
  assert.not.match(merges[0]!, /SCAN contact|TEMP B-TREE/)
})

test('segment queries: a search uses a covering index', async t => {
  const { audience, plansOf } = await open(t)
  const question = { audience, filters: [], search: 'ann', limit: 10, offset: 0, cursor: null }
  const plans = await plansOf(db => listContacts(db, NOW, question))
  const [ends, counts, ids] = plans
  for (const steps of [ends, counts, ids]) {
    assert.match(steps!, SEARCH)
    assert.not.match(steps!, /TEMP B-TREE/)
  }
})

test('segment queries: activity is looked up by the contact', async t => {
  const { audience, plansOf } = await open(t)
  const opened: SegmentFilter = { field: 'last_opened_at', op: 'within_days', value: 7 }
  const quiet: SegmentFilter = { field: 'last_clicked_at', op: 'not_within_days', value: 7 }
  const segment = { audienceId: audience.id, filters: JSON.stringify([opened, quiet]) }
  const plans = [
    ...(await plansOf(db => countMembers(db, NOW, audience, [opened, quiet]))),
    ...(await plansOf(db => segmentMembers(db, segment, NOW, null, 10))),
  ].filter(steps => steps.includes('contact_activity'))
  assert.ok(plans.length >= 2)
  for (const steps of plans) {
    assert.match(steps, /SEARCH contact_activity USING PRIMARY KEY \(contact_id=\?\)/)
    assert.not.match(steps, /SCAN|TEMP B-TREE/)
  }
})

test('segment queries: the rarest of several equal values is used', async t => {
  const { audienceId, add, db } = await openAudience(t)
  for (let i = 0; i < 3; i++) {
    const properties = new Map([
      ['plan', 'pro'],
      ['city', `city ${i}`],
    ])
    await add({ email: `c${i}@there.test`, properties })
  }
  const inCity: SegmentFilter = { field: 'properties.city', op: 'eq', value: 'CITY 1' }
  for (const filters of [
    [plan, inCity],
    [inCity, plan],
  ]) {
    const { lead, conditions } = await membershipOf(db, audienceId, filters, NOW)
    assert.equal([lead?.value, conditions.length], ['city 1', 1])
  }
})

test.run()
