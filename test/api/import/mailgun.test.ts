import * as assert from 'uvu/assert'
import { type FakeApi, type FakeRequest, slice, startFakeApi } from '../../kit/fake-api.ts'
import { assertMadeOnce, importingAccount } from '../../kit/importing.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('import from Mailgun')
const KEY = 'key-of-the-other-one'

let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const AT = 'Fri, 21 Oct 2011 11:02:55 UTC'
const entry = (address: string, more = {}) => ({ address, created_at: AT, ...more })
const PAGED: Record<string, object[]> = {
  '/v3/a.example/bounces': Array.from({ length: 25 }, (_, i) =>
    entry(`gone${i}@there.example`, { code: '550', error: 'No such mailbox' }),
  ),
  '/v3/a.example/complaints': [entry('angry@there.example')],
  '/v3/a.example/unsubscribes': [
    entry('left@there.example', { tags: ['*'] }),
    entry('bored@there.example', { tags: ['weekly'] }),
  ],
  '/v3/b.example/bounces': [entry('gone1@there.example')],
  '/v3/lists/pages': [{ address: 'news@a.example', name: 'News', members_count: 22 }],
  '/v3/lists/news%40a.example/members/pages': Array.from({ length: 22 }, (_, i) => ({
    address: `m${i}@there.example`,
    name: i === 0 ? 'Ann van There' : '',
    subscribed: i !== 1,
    vars: i === 0 ? { city: 'Aarhus' } : {},
  })),
  '/v3/a.example/templates': [{ name: 'welcome' }, { name: 'blocks' }],
  '/v3/b.example/templates': [{ name: 'welcome' }],
}
const TEMPLATES: Record<string, string> = {
  '/v3/a.example/templates/welcome': '<p>{{name}} %recipient.city%</p><a href="%unsubscribe_url%">x</a>',
  '/v3/a.example/templates/blocks': '{{#each items}}x{{/each}}',
  '/v3/b.example/templates/welcome': '<p>b</p>',
}
const WEBHOOKS: Record<string, object> = {
  'a.example': {
    delivered: { urls: ['https://hooks.example/mg'] },
    unsubscribed: { urls: ['https://hooks.example/mg'] },
  },
  'b.example': { permanent_fail: { urls: ['https://hooks.example/mg'] } },
}
const DOMAINS = [
  { name: 'a.example', state: 'active', type: 'custom' },
  { name: 'sandbox1.mailgun.org', state: 'active', type: 'sandbox' },
  { name: 'b.example', state: 'active', type: 'custom' },
]
const PAGE_MAX = 10

function answer({ path, query }: FakeRequest, url: string) {
  if (path === '/v4/domains') {
    const items = slice(DOMAINS, Number(query.get('skip')), Number(query.get('limit')), 2)
    return { body: { total_count: DOMAINS.length, items } }
  }
  const [, domain = '', what] = /^\/v3\/domains\/([^/]+)\/(tracking|webhooks)$/.exec(path) ?? []
  if (what === 'webhooks') return { body: { webhooks: WEBHOOKS[domain] } }
  if (what === 'tracking')
    return { body: { tracking: { click: { active: 'htmlonly' }, open: { active: false }, unsubscribe: {} } } }
  if (TEMPLATES[path])
    return {
      body: {
        template: {
          name: path.split('/').at(-1),
          version: {
            tag: 'v1',
            engine: 'handlebars',
            template: TEMPLATES[path],
            headers: { Subject: 'Hello {{name}}' },
          },
        },
      },
    }
  const list = PAGED[path] ?? (/\/(bounces|complaints|unsubscribes|templates)$/.test(path) ? [] : undefined)
  if (!list) return undefined
  const at = Number(query.get('p') ?? 0)
  const items = slice(list, at, Number(query.get('limit')), PAGE_MAX)
  const next = `${url}${path}?limit=${query.get('limit')}&page=next&p=${at + items.length}`
  return { body: { items, paging: { first: url, last: url, previous: url, next } } }
}

async function start(t: TestContext) {
  const fake: FakeApi = await t.using(
    startFakeApi({
      credentials: { authorization: `Basic ${Buffer.from(`api:${KEY}`).toString('base64')}` },
      denied: { status: 401, body: { message: 'Invalid private key' } },
      answer: request => answer(request, fake.url),
    }),
  )
  const account = importingAccount(mailhorn, { MAILGUN_API_KEY: KEY })
  const args = ['mailgun', '--from', fake.url, '--json']
  return {
    ...account,
    args,
    fake,
    run: (...more: string[]) => account.run({ args: [...args, ...more] }),
    runWith: account.run,
  }
}

test('what all domains have arrives', async t => {
  const { all, call, run } = await start(t)
  const { code, json } = await run()
  assert.is(code, 0)
  assert.equal(
    (await all('/domains')).map(each => [each.name, each.open_tracking, each.click_tracking]).toSorted(),
    [
      ['a.example', false, true],
      ['b.example', false, true],
    ],
  )
  const suppressions = await all('/suppressions')
  assert.is(suppressions.length, 27)
  assert.not.ok(suppressions.some(({ email }) => email === 'bored@there.example'))
  const welcome = await call('GET', '/templates/welcome')
  assert.equal(
    [welcome.subject, welcome.html],
    ['Hello {{name}}', '<p>{{name}} {{city}}</p><a href="{{UNSUBSCRIBE_URL}}">x</a>'],
  )
  assert.is((await call('GET', '/templates/welcome-b.example')).html, '<p>b</p>')
  assert.is(json.templates.not_made_reasons[0].name, 'blocks (blocks)')
  const [webhook] = await all('/webhooks')
  assert.equal(webhook.events.toSorted(), ['email.bounced', 'email.delivered', 'email.failed'])
})

test('members of lists keep their subscription, and who left a tag is unsubscribed from it', async t => {
  const { all, run } = await start(t)
  await run('--only', 'contacts')
  const audiences = await all('/audiences')
  assert.equal(audiences.map(({ name }) => name).toSorted(), ['News', 'weekly'])
  const news = await all(`/audiences/${audiences.find(({ name }) => name === 'News').id}/contacts`)
  assert.is(news.length, 22)
  const [m0, m1] = ['m0', 'm1'].map(name => news.find(({ email }) => email === `${name}@there.example`))
  assert.equal(
    [m0.first_name, m0.last_name, m0.properties.city, m0.unsubscribed, m1.unsubscribed],
    ['Ann', 'van There', 'Aarhus', false, true],
  )
})

test('a dry run changes nothing, and a second run makes nothing twice', async t => {
  const dry = await assertMadeOnce(await start(t))
  assert.equal([dry.suppressions.made, dry.contacts.made, dry.templates.made], [27, 23, 2])
})

test('a rate limit is waited for, a wrong key is one line, and no page of another server is read', async t => {
  const { args, fake, run, runWith } = await start(t)
  fake.instead.set('/v4/domains', [{ status: 429, body: { message: 'Too many requests' } }])
  const { waits } = await run('--only', 'domains')
  assert.equal(waits, [1_000])
  const wrong = await runWith({ args, env: { MAILGUN_API_KEY: 'key-wrong' } })
  assert.is(wrong.code, 1)
  assert.match(
    wrong.err,
    /^mailhorn: Mailgun refused the key in MAILGUN_API_KEY \(GET \/v4\/domains, status 401\): Invalid/m,
  )
  fake.instead.set('/v3/a.example/bounces', [
    { body: { items: [entry('x@there.example')], paging: { next: 'http://elsewhere.invalid/v3/x' } } },
  ])
  const { json } = await run('--only', 'suppressions')
  assert.match(json.suppressions.error, /Mailgun names a page on another server: http:\/\/elsewhere\.invalid/)
})

test.run()
