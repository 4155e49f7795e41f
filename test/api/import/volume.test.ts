import * as assert from 'uvu/assert'
import { createApi } from '../../../src/interfaces/cli/import/api.ts'
import { runImport } from '../../../src/interfaces/cli/import/run.ts'
import { type ImportSource, KINDS, type SourceContact } from '../../../src/interfaces/cli/import/shapes.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { SES_KEYS, startFakeSes } from '../../kit/fake-ses.ts'
import { importingAccount } from '../../kit/importing.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('import of an account')

let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const CONTACTS = 10_000
const SUPPRESSIONS = 5_000

function account() {
  const { session, ...rest } = importingAccount(mailhorn, {})
  const service = createApi({
    name: 'Mailhorn',
    baseUrl: mailhorn.baseUrl,
    credential: { authorization: `Bearer ${session}` },
    variable: 'MAILHORN_ACCESS_TOKEN',
    secrets: [session],
    clock: systemClock,
    say() {},
  })
  const bring = async (source: ImportSource) => {
    const { json, isBad } = await runImport({
      provider: 'other',
      title: 'Other',
      source,
      service,
      kinds: new Set(KINDS),
      isDryRun: false,
      clock: systemClock,
      say() {},
    })
    // biome-ignore lint/suspicious/noExplicitAny: tests look into reports of every shape
    return { json: json as any, isBad }
  }
  return { ...rest, bring }
}

const person = (name: string, more: Partial<SourceContact> = {}): SourceContact => ({
  email: `${name}@there.example`,
  firstName: name,
  lastName: null,
  unsubscribed: false,
  properties: {},
  ...more,
})

test(
  '10,000 contacts and 5,000 suppressions arrive, suppressions first',
  async () => {
    const { bring, call } = account()
    const order: string[] = []
    const { json, isBad } = await bring({
      async *contacts() {
        order.push('contacts')
        for (let page = 0; page < CONTACTS / 100; page++)
          yield {
            list: 'Everybody',
            contacts: Array.from({ length: 100 }, (_, i) =>
              person(`p${page * 100 + i}`, { unsubscribed: i === 0, properties: { plan: 'pro', seats: i } }),
            ),
          }
      },
      async *suppressions() {
        order.push('suppressions')
        for (let i = 0; i < SUPPRESSIONS; i++)
          yield { email: `gone${i}@there.example`, reason: 'bounce', at: null }
      },
    })
    assert.is(isBad, false)
    assert.equal(order, ['suppressions', 'contacts'])
    assert.equal([json.suppressions.made, json.contacts.made], [SUPPRESSIONS, CONTACTS])
    assert.is((await call('GET', '/suppressions')).total, SUPPRESSIONS)
    const { data } = await call('GET', '/audiences')
    const segment = await call('POST', `/audiences/${data[0].id}/segments`, {
      body: { name: 'Left', filters: [{ field: 'unsubscribed', op: 'eq', value: 'true' }] },
    })
    assert.is(segment.contact_count, CONTACTS / 100)
  },
  { limitMs: 120_000 },
)

test(
  'an interrupted import of 10,000 contacts and 5,000 suppressions from Amazon SES keeps what it has read, and is continued',
  async t => {
    // given
    const fake = await t.using(
      startFakeSes({
        suppressions: Array.from({ length: SUPPRESSIONS }, (_, i) => ({
          EmailAddress: `gone${i}@there.example`,
          Reason: i % 2 === 0 ? 'BOUNCE' : 'COMPLAINT',
          LastUpdateTime: 1_700_000_000,
        })),
        lists: [
          {
            name: 'Everybody',
            topics: [{ TopicName: 'offers', DefaultSubscriptionStatus: 'OPT_IN' }],
            contacts: Array.from({ length: CONTACTS }, (_, i) => ({
              EmailAddress: `p${i}@there.example`,
              UnsubscribeAll: i % 100 === 0,
              TopicPreferences: [
                { TopicName: 'offers', SubscriptionStatus: i % 100 === 1 ? 'OPT_OUT' : 'OPT_IN' },
              ],
            })),
          },
        ],
      }),
    )
    const { call, run } = importingAccount(mailhorn, SES_KEYS)
    const args = ['ses', '--from', fake.url, '--json', '--only', 'suppressions,contacts']
    const failure = { status: 400, body: { message: 'Not today' } }
    fake.failAt('/v2/email/suppression/addresses', 4, failure)
    fake.failAt('/v2/email/contact-lists/Everybody/contacts/list', 6, failure)

    // when
    const first = await run({ args })
    const second = await run({ args })
    const third = await run({ args })

    // then
    const counts = ({ json }: typeof first) => ['suppressions', 'contacts'].map(kind => json[kind].made)
    assert.equal([first.code, second.code, third.code], [1, 0, 0])
    assert.match(first.json.contacts.error, /Not today/)
    assert.equal(
      [counts(first), counts(second), counts(third)],
      [
        [2_000, 4_000],
        [3_000, 6_000],
        [0, 0],
      ],
    )
    assert.is((await call('GET', '/suppressions')).total, SUPPRESSIONS)
    assert.is((await call('GET', '/audiences')).data.length, 1)
    const [topic] = (await call('GET', '/topics')).data
    const { id } = (await call('GET', '/audiences')).data[0]
    const choices = await Promise.all(
      ['p1', 'p2', 'p9901'].map(async name => {
        const path = `/audiences/${id}/contacts/${name}@there.example/topics`
        return (await call('GET', path)).data[0].subscription
      }),
    )
    assert.equal([topic.name, choices], ['offers', ['opt_out', 'opt_in', 'opt_out']])
  },
  { limitMs: 240_000 },
)

test('a contact who left there stays unsubscribed, and one who left here is not subscribed again', async () => {
  const { all, bring, call } = account()
  const list = (unsubscribed: boolean): ImportSource => ({
    async *contacts() {
      yield { list: 'News', contacts: [person('ann', { unsubscribed }), person('bob')] }
    },
  })
  await bring(list(true))
  const [{ id }] = await all('/audiences')
  await call('PATCH', `/audiences/${id}/contacts/bob@there.example`, { body: { unsubscribed: true } })
  await bring(list(false))
  const contacts = await all(`/audiences/${id}/contacts`)
  assert.equal(contacts.map(({ email, unsubscribed }) => [email, unsubscribed]).toSorted(), [
    ['ann@there.example', true],
    ['bob@there.example', true],
  ])
})

test('properties that the service cannot hold are left out and counted, and their contacts are imported', async () => {
  const { all, bring } = account()
  const { json } = await bring({
    async *contacts() {
      yield {
        list: 'News',
        contacts: [
          person('ann', {
            properties: {
              email: 'x',
              long: 'x'.repeat(501),
              nested: { a: 1 },
              tags: ['a', 'b'],
              active: 0,
              status: 'unsubscribed',
              two: 'a\nb',
            },
          }),
        ],
      }
    },
  })
  const [{ id }] = await all('/audiences')
  const [ann] = await all(`/audiences/${id}/contacts`)
  assert.equal(
    [ann.properties.tags, ann.properties.two, ann.properties.active, ann.properties.status],
    ['a, b', 'a b', '0', 'unsubscribed'],
  )
  assert.is(ann.unsubscribed, false)
  for (const words of ['long must contain at most 500', 'nested is an object', 'the property email'])
    assert.ok(
      json.contacts.notes.some((note: string) => note.includes(words)),
      words,
    )
})

test('one thing that is refused does not stop the others', async () => {
  const { all, bring } = account()
  const { json, isBad } = await bring({
    async *domains() {
      yield { name: 'localhost' }
      yield { name: 'GOOD.example.' }
    },
    async *suppressions() {
      yield { email: '*@there.example', reason: 'manual', at: null }
      yield { email: 'ann@', reason: 'manual', at: null }
      yield { email: 'Ann@There.example', reason: 'complaint', at: null }
    },
  })
  assert.is(isBad, false)
  assert.equal(
    (await all('/domains')).map(({ name }) => name),
    ['good.example'],
  )
  assert.equal([json.domains.not_made, json.suppressions.not_made, json.suppressions.made], [1, 2, 1])
  assert.equal(
    (await all('/suppressions')).map(({ email, reason }) => [email, reason]),
    [['ann@there.example', 'complaint']],
  )
})

test.run()
