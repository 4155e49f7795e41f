import * as assert from 'uvu/assert'
import { type FakeApi, type FakeRequest, startFakeApi } from '../../kit/fake-api.ts'
import { assertMadeOnce, importingAccount } from '../../kit/importing.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('import from listmonk')
const TOKEN = 'importer:the-token-of-the-other-one'

let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const AT = '2025-04-05T06:07:08.123456+02:00'
const subscriber = (name: string, lists: [id: number, status: string][], more = {}) => ({
  id: name.length,
  email: `${name}@there.example`,
  name,
  status: 'enabled',
  attribs: {},
  created_at: AT,
  updated_at: AT,
  lists: lists.map(([id, subscription_status]) => ({ id, subscription_status })),
  ...more,
})
const SUBSCRIBERS = [
  subscriber('ann', [[1, 'confirmed']], { name: 'Ann van There', attribs: { city: 'Aarhus', seats: 3 } }),
  subscriber('left', [
    [1, 'unsubscribed'],
    [2, 'confirmed'],
  ]),
  subscriber('waiting', [[2, 'unconfirmed']]),
  subscriber('single', [[1, 'unconfirmed']]),
  subscriber('blocked', [[1, 'confirmed']], { status: 'blocklisted' }),
  subscriber('alone', []),
]
const LISTS = [
  { id: 1, name: 'News', optin: 'single' },
  { id: 2, name: 'Offers', optin: 'double' },
  { id: 3, name: 'Empty', optin: 'single' },
]
const BOUNCES = [
  { id: 1, type: 'hard', email: 'gone@there.example', created_at: AT },
  { id: 2, type: 'soft', email: 'full@there.example', created_at: AT },
  { id: 3, type: 'complaint', email: 'angry@there.example', created_at: AT },
]
const TEMPLATES = [
  {
    id: 1,
    name: 'Receipt',
    type: 'tx',
    subject: 'Hello {{ .Subscriber.FirstName }}',
    body: '<p>{{ .Tx.Data.order.id }} {{.Subscriber.Attribs.city}}</p><a href="{{ UnsubscribeURL . }}">x</a>',
  },
  { id: 2, name: 'Frame', type: 'campaign', subject: '', body: '{{ template "content" . }}' },
]
const PAGE_MAX = 2

function answer({ path, query }: FakeRequest) {
  if (path === '/api/templates') return { body: { data: TEMPLATES } }
  const listId = query.get('list_id')
  const items: Record<string, object[]> = {
    '/api/lists': LISTS,
    '/api/bounces': BOUNCES,
    '/api/subscribers': SUBSCRIBERS.filter(
      ({ lists }) => listId === null || lists.some(({ id }) => String(id) === listId),
    ),
  }
  const found = items[path]
  if (!found) return undefined
  const from = (Number(query.get('page')) - 1) * PAGE_MAX
  return { body: { data: { results: found.slice(from, from + PAGE_MAX), total: found.length } } }
}

async function start(t: TestContext) {
  const fake: FakeApi = await t.using(
    startFakeApi({
      credentials: { authorization: `token ${TOKEN}` },
      denied: { status: 403, body: { message: 'invalid API credentials' } },
      answer,
    }),
  )
  const account = importingAccount(mailhorn, { LISTMONK_TOKEN: TOKEN })
  const args = ['listmonk', '--from', fake.url, '--json']
  return {
    ...account,
    args,
    fake,
    run: (...more: string[]) => account.run({ args: [...args, ...more] }),
    runWith: account.run,
  }
}

test('lists, the blocklist, bounces and templates arrive', async t => {
  const { all, call, run } = await start(t)
  const { code, json } = await run()
  assert.is(code, 0)
  assert.equal((await all('/suppressions')).map(({ email, reason }) => [email, reason]).toSorted(), [
    ['angry@there.example', 'complaint'],
    ['blocked@there.example', 'manual'],
    ['gone@there.example', 'bounce'],
  ])
  const audiences = await all('/audiences')
  const membersOf = async (name: string) => {
    const { id } = audiences.find(audience => audience.name === name)
    return (await all(`/audiences/${id}/contacts`)).toSorted((a, b) => (a.email < b.email ? -1 : 1))
  }
  const states = async (name: string) =>
    (await membersOf(name)).map(({ email, unsubscribed }) => [email.split('@')[0], unsubscribed])
  assert.equal(await states('News'), [
    ['ann', false],
    ['blocked', true],
    ['left', true],
    ['single', false],
  ])
  assert.equal(await states('Offers'), [
    ['left', false],
    ['waiting', true],
  ])
  assert.equal(await states('Empty'), [])
  assert.equal(await states('listmonk subscribers without a list'), [['alone', false]])
  const [ann] = await membersOf('News')
  assert.equal([ann.first_name, ann.last_name, ann.properties.city], ['Ann', 'van There', 'Aarhus'])
  const receipt = await call('GET', '/templates/listmonk-1')
  assert.equal(
    [receipt.subject, receipt.html],
    ['Hello {{FIRST_NAME}}', '<p>{{order.id}} {{city}}</p><a href="{{UNSUBSCRIBE_URL}}">x</a>'],
  )
  assert.is(json.templates.not_made_reasons[0].name, 'Frame (listmonk-2)')
})

test('a dry run changes nothing, and a second run makes nothing twice', async t => {
  const dry = await assertMadeOnce(await start(t), ['suppressions', 'templates', 'contacts'])
  assert.equal([dry.suppressions.made, dry.contacts.made, dry.templates.made], [3, 7, 1])
})

test('a rate limit is waited for, a wrong key is one line, and the URL is required', async t => {
  const { args, fake, run, runWith } = await start(t)
  fake.instead.set('/api/bounces', [{ status: 429, headers: { 'retry-after': '2' }, body: {} }])
  assert.equal((await run('--only', 'suppressions')).waits, [2_000])
  const wrong = await runWith({ args, env: { LISTMONK_TOKEN: 'importer:wrong' } })
  assert.is(wrong.code, 1)
  assert.match(
    wrong.err,
    /^mailhorn: listmonk refused the key in LISTMONK_TOKEN \(GET \/api\/subscribers, status 403\): invalid/m,
  )
  const nowhere = await runWith({ args: ['listmonk'] })
  assert.equal([nowhere.code, nowhere.err], [2, 'mailhorn: --from is required\n'])
})

test.run()
