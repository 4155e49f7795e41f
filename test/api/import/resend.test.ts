import * as assert from 'uvu/assert'
import { type FakeApi, pageAfter, startFakeApi } from '../../kit/fake-api.ts'
import { importingAccount } from '../../kit/importing.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('import from Resend')
const KEY = 're_the_key_of_the_other_one'

let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const UUID = '49a3999c-0ce1-4ea6-ab68-afcd6dc2e794'
const TEMPLATES = [
  {
    id: 't1',
    name: 'Welcome',
    alias: 'welcome',
    status: 'published',
    from: 'Ann <ann@here.example>',
    reply_to: ['help@here.example'],
    subject: 'Hello {{{NAME}}}',
    html: '<p>{{{NAME}}} costs {{{PRICE}}}</p>',
    text: null,
    variables: [
      { id: 'v1', key: 'NAME', type: 'string', fallback_value: 'you' },
      { id: 'v2', key: 'PRICE', type: 'number', fallback_value: null },
    ],
  },
  { id: UUID, name: 'No alias', alias: null, status: 'draft', subject: 'x', html: '<p>x</p>', text: null },
  {
    id: 't3',
    name: 'Blocks',
    alias: 'blocks',
    status: 'draft',
    subject: 'x',
    html: '{{#each items}}x{{/each}}',
  },
]
const contact = (name: string, more = {}) => ({
  id: `c-${name}`,
  email: `${name}@there.example`,
  first_name: name,
  last_name: '',
  unsubscribed: false,
  created_at: '2026-01-01T00:00:00.000Z',
  ...more,
})
const LOYAL = Array.from({ length: 120 }, (_, i) => contact(`loyal${i}`, { unsubscribed: i === 7 }))

function listsOf(path: string, query: URLSearchParams) {
  if (path === '/domains')
    return [
      { id: 'd1', name: 'here.example' },
      { id: 'd2', name: 'not a domain' },
    ]
  if (path === '/suppressions')
    return Array.from({ length: 130 }, (_, i) => ({
      id: `s${i}`,
      email: `gone${i}@there.example`,
      origin: (['bounce', 'complaint', 'manual'] as const)[i % 3],
      created_at: '2026-02-03T04:05:06.000Z',
    }))
  if (path === '/templates') return TEMPLATES.map(({ id, name, alias }) => ({ id, name, alias }))
  if (path === '/segments')
    return [
      { id: 'g1', name: 'Loyal' },
      { id: 'g2', name: 'Empty' },
    ]
  if (path === '/contacts' && query.get('segment_id') === 'g1') return LOYAL
  if (path === '/contacts' && query.get('segment_id') === 'g2') return []
  if (path === '/contacts')
    return [
      ...LOYAL,
      contact('alone', { properties: { city: { type: 'string', value: 'Aarhus' }, seats: 3 } }),
      contact('no address', { email: 'x@' }),
    ]
  if (path === '/webhooks')
    return [
      {
        id: 'w1',
        endpoint: 'https://hooks.example/mail',
        events: ['email.sent', 'email.melted'],
        status: 'enabled',
      },
    ]
  if (path === '/topics') return [{ id: 'tp1', name: 'Offers' }]
  return undefined
}

async function start(t: TestContext) {
  const fake: FakeApi = await t.using(
    startFakeApi({
      credentials: { authorization: `Bearer ${KEY}` },
      denied: {
        status: 403,
        body: { statusCode: 403, name: 'invalid_api_key', message: `API key is invalid` },
      },
      answer({ path, query }) {
        if (path === '/domains/d1')
          return {
            body: {
              id: 'd1',
              name: 'here.example',
              open_tracking: true,
              click_tracking: false,
              tls: 'enforced',
            },
          }
        if (path === '/domains/d2') return { body: { id: 'd2', name: 'not a domain' } }
        const template = TEMPLATES.find(({ id }) => path === `/templates/${id}`)
        if (template) return { body: { object: 'template', ...template } }
        const list = listsOf(path, query)
        return list && { body: pageAfter<{ id: string }>(list, query) }
      },
    }),
  )
  const account = importingAccount(mailhorn, { RESEND_API_KEY: KEY })
  const run = (...more: string[]) => account.run({ args: ['resend', '--from', fake.url, '--json', ...more] })
  return { fake, ...account, run, runWith: account.run }
}

test('a dry run says what would be made and why the rest would not, and changes nothing', async t => {
  const { all, run } = await start(t)
  const { code, json } = await run('--dry-run')
  assert.is(code, 0)
  assert.is(json.dry_run, true)
  assert.equal(
    ['domains', 'suppressions', 'templates', 'contacts', 'webhooks'].map(kind => {
      const { made, existing, not_made } = json[kind]
      return [kind, made, existing, not_made]
    }),
    [
      ['domains', 2, 0, 0],
      ['suppressions', 130, 0, 0],
      ['templates', 2, 0, 1],
      ['contacts', 121, 0, 1],
      ['webhooks', 1, 0, 0],
    ],
  )
  assert.match(
    json.templates.not_made_reasons[0].reason,
    /html contains `\{\{#each items\}\}` at line 1, column 1/,
  )
  for (const path of ['/domains', '/suppressions', '/templates', '/audiences', '/webhooks', '/contacts'])
    assert.equal(await all(path), [], path)
})

test('domains, suppressions, templates, contacts and webhooks arrive', async t => {
  const { all, call, run } = await start(t)
  const { code, json } = await run()
  assert.is(code, 0)

  const [domain, ...others] = await all('/domains')
  assert.equal(
    [domain.name, domain.open_tracking, domain.click_tracking, domain.tls, others],
    ['here.example', true, false, 'enforced', []],
  )
  assert.equal(json.domains.not_made_reasons[0].name, 'not a domain')
  assert.equal(
    json.dns_records.map(({ host }: { host: string }) => host),
    domain.records.map(({ host }: { host: string }) => host),
  )

  const suppressions = await all('/suppressions')
  assert.is(suppressions.length, 130)
  const gone1 = suppressions.find(({ email }) => email === 'gone1@there.example')
  assert.equal([gone1.reason, gone1.created_at], ['complaint', '2026-02-03T04:05:06.000Z'])

  const templates = await all('/templates')
  assert.equal(templates.map(({ alias, status }) => [alias, status]).toSorted(), [
    [`resend-${UUID.replaceAll('-', '')}`, 'draft'],
    ['welcome', 'published'],
  ])
  const welcome = await call('GET', '/templates/welcome')
  assert.equal(
    [welcome.from, welcome.reply_to, welcome.html, welcome.variables[0].fallback_value],
    ['Ann <ann@here.example>', ['help@here.example'], TEMPLATES[0]!.html, 'you'],
  )

  const audiences = await all('/audiences')
  assert.equal(audiences.map(({ name }) => name).toSorted(), [
    'Empty',
    'Loyal',
    'Resend contacts without a segment',
  ])
  const idOf = (name: string) => audiences.find(audience => audience.name === name).id
  const loyal = await all(`/audiences/${idOf('Loyal')}/contacts`)
  assert.is(loyal.length, 120)
  assert.equal(
    loyal.filter(({ unsubscribed }) => unsubscribed).map(({ email }) => email),
    ['loyal7@there.example'],
  )
  const [alone, ...more] = await all(`/audiences/${idOf('Resend contacts without a segment')}/contacts`)
  assert.equal(
    [alone.email, alone.first_name, alone.properties.city, more],
    ['alone@there.example', 'alone', 'Aarhus', []],
  )
  assert.is(json.contacts.not_made_reasons[0].name, 'x@')

  const [webhook] = await all('/webhooks')
  assert.equal(
    [webhook.url, webhook.events, webhook.enabled],
    ['https://hooks.example/mail', ['email.sent'], false],
  )
  assert.ok(json.webhooks.notes.some((note: string) => note.includes('email.melted')))
  assert.match(json.notes[0], /Topics \(Offers\)/)
})

test('a second run makes nothing twice', async t => {
  const { all, run } = await start(t)
  await run()
  const paths = ['/domains', '/suppressions', '/templates', '/audiences', '/webhooks', '/contacts']
  const counts = () => Promise.all(paths.map(async path => (await all(path)).length))
  const before = await counts()
  const { code, json } = await run()
  assert.is(code, 0)
  assert.equal(await counts(), before)
  for (const kind of ['domains', 'suppressions', 'templates', 'contacts', 'webhooks'])
    assert.is(json[kind].made, 0, kind)
})

test('a run that was interrupted is continued by the next', async t => {
  const { all, fake, run } = await start(t)
  fake.instead.set(`/templates/${UUID}`, Array(4).fill({ status: 500, body: { message: 'Internal error' } }))
  fake.instead.set('/contacts', [{ status: 400, body: { message: 'Not today' } }])
  const first = await run()
  assert.is(first.code, 1)
  assert.match(
    first.json.templates.error,
    new RegExp(`Resend answered GET /templates/${UUID} with status 500: Internal error`),
  )
  assert.match(first.json.contacts.error, /Not today/)
  assert.equal(
    (await all('/templates')).map(({ alias }) => alias),
    ['welcome'],
  )
  assert.is((await all('/suppressions')).length, 130)
  const second = await run()
  assert.equal([second.code, second.json.templates.made, second.json.contacts.made], [0, 1, 121])
  assert.is((await all('/templates')).length, 2)
})

test('the report says what was made, what was not and why, and what is incomplete', async t => {
  const { fake, runWith } = await start(t)
  fake.instead.set('/webhooks', [{ status: 404, body: { message: 'Not found' } }])
  const { code, out } = await runWith({ args: ['resend', '--from', fake.url] })
  assert.is(code, 1)
  assert.match(out, /^webhooks \(incomplete\) +0 +0 +0$/m)
  assert.match(out, /^ {2}made: here\.example$/m)
  assert.match(out, /^ {2}not made: x@: The address has an invalid domain\.$/m)
  assert.match(
    out,
    /^ {2}incomplete: Resend answered GET \/webhooks with status 404: Not found\. Run the command again to continue\.$/m,
  )
  assert.match(out, /^MX +send\.here\.example +10 /m)
})

test('a rate limit is waited for as long as it asks', async t => {
  const { fake, run } = await start(t)
  fake.instead.set('/domains', [
    { status: 429, headers: { 'retry-after': '7' }, body: { message: 'Too many' } },
  ])
  const { code, err, waits } = await run('--only', 'domains')
  assert.is(code, 0)
  assert.equal(waits, [7_000])
  assert.match(err, /Resend asks to wait; continuing in 7 s\./)
})

test('a wrong key is one line, and is not shown', async t => {
  const { fake, runWith } = await start(t)
  const wrong = 're_wrong_one'
  const { code, out, err } = await runWith({
    args: ['resend', '--from', fake.url],
    env: { RESEND_API_KEY: wrong },
  })
  assert.equal([code, out], [1, ''])
  assert.match(
    err,
    /^mailhorn: Resend refused the key in RESEND_API_KEY \(GET \/domains, status 403\): API key is invalid$/m,
  )
  assert.not.ok(err.includes(wrong))
  const denied = await runWith({
    args: ['resend', '--from', fake.url],
    env: { MAILHORN_ACCESS_TOKEN: 'mht_no' },
  })
  assert.is(denied.code, 1)
  assert.match(denied.err, /^mailhorn: Mailhorn refused the key in MAILHORN_ACCESS_TOKEN/m)
})

test('keys are read from standard input where the environment has none, and nowhere else', async t => {
  const { fake, session, runWith } = await start(t)
  const env = { RESEND_API_KEY: undefined, MAILHORN_ACCESS_TOKEN: undefined }
  const args = ['resend', '--from', fake.url, '--only', 'webhooks']
  const { code, out, err } = await runWith({ args, env, input: `${KEY}\n${session}\n` })
  assert.equal([code, err], [0, 'Importing webhooks …\n'])
  assert.match(out, /made: https:\/\/hooks\.example\/mail/)
  for (const secret of [KEY, session]) assert.not.ok((out + err).includes(secret))
  const none = await runWith({ args, env })
  assert.match(
    none.err,
    /RESEND_API_KEY is not set, and standard input has no line for it: an API key with full access\./,
  )
})

test.run()
