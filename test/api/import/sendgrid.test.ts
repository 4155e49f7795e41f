import { gzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { type FakeApi, type FakeRequest, slice, startFakeApi } from '../../kit/fake-api.ts'
import { assertMadeOnce, importingAccount } from '../../kit/importing.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { startWebHost } from '../../kit/web-host.ts'

const test = suite('import from SendGrid')
const KEY = 'SG.the_key_of_the_other_one'

let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const entry = (email: string, created = 1_700_000_000) => ({ created, email, reason: '550 no such user' })
const LISTS: Record<string, object[]> = {
  '/v3/whitelabel/domains': [{ id: 1, domain: 'here.example', subdomain: 'em1', valid: true }],
  '/v3/suppression/bounces': Array.from({ length: 520 }, (_, i) => entry(`gone${i}@there.example`)),
  '/v3/suppression/invalid_emails': [entry('invalid@there.example')],
  '/v3/suppression/spam_reports': [entry('angry@there.example')],
  '/v3/suppression/unsubscribes': [entry('Left@there.example')],
}
const version = (active: number, more: object) => ({ id: 'v', active, name: 'v', ...more })
const TEMPLATES = [
  {
    id: 'd-1',
    name: 'Welcome',
    generation: 'dynamic',
    versions: [
      version(0, { subject: 'old', html_content: 'old', plain_content: 'old' }),
      version(1, {
        subject: 'Hello {{insert name "default=you"}}',
        html_content: '<p>{{{order.id}}}</p><a href="{{{unsubscribe}}}">x</a>',
        plain_content: '{{order.id}}',
      }),
    ],
  },
  {
    id: 'd-2',
    name: 'Blocks',
    generation: 'dynamic',
    versions: [version(1, { subject: 'x', html_content: '{{#if a}}x{{/if}}', plain_content: '' })],
  },
  { id: 'l-1', name: 'Old', generation: 'legacy', versions: [version(1, { subject: '<%subject%>' })] },
]
const HEADER = 'EMAIL,FIRST_NAME,LAST_NAME,CITY,seats,CREATED_AT,UPDATED_AT,CONTACT_ID'
const EXPORTS: Record<string, string> = {
  L1: `${HEADER}\n"ann@there.example","Ann","","Aarhus","3","2026","2026","c1"\n"left@there.example","","","","","2026","2026","c2"\n`,
  L2: `${HEADER}\n"bob@there.example","Bob","B","","","2026","2026","c3"\n`,
  all: `${HEADER}\n"ann@there.example","Ann","","","","","","c1"\n"eve@there.example","","","","","","","c4"\n`,
}

async function start(t: TestContext) {
  const files = await t.using(
    startWebHost({
      certificate: null,
      answer({ path, headers }, response) {
        // the credential is for the API alone
        if (headers.authorization) response.writeHead(400)
        response.end(gzipSync(EXPORTS[path.slice(1)]!))
      },
    }),
  )
  let wanted = ''
  let isAsked = false
  const exporting = ({ method, path }: FakeRequest, body: string) => {
    if (method === 'POST') {
      wanted = (JSON.parse(body) as { list_ids?: string[] }).list_ids?.[0] ?? 'all'
      isAsked = false
      return { status: 202, body: { id: `export-${wanted}` } }
    }
    if (path !== `/v3/marketing/contacts/exports/export-${wanted}`) return undefined
    if (!isAsked) {
      isAsked = true
      return { body: { id: 'e', status: 'pending' } }
    }
    return { body: { id: 'e', status: 'ready', urls: [`http://127.0.0.1:${files.port}/${wanted}`] } }
  }
  const fake: FakeApi = await t.using(
    startFakeApi({
      credentials: { authorization: `Bearer ${KEY}` },
      denied: {
        status: 401,
        body: { errors: [{ field: null, message: 'The provided authorization grant is invalid' }] },
      },
      answer(request) {
        const { path, query, body } = request
        if (path.startsWith('/v3/marketing/contacts/exports')) return exporting(request, body)
        if (path === '/v3/marketing/lists') {
          const isFirst = query.get('page_token') === null
          return {
            body: isFirst
              ? {
                  result: [{ id: 'L1', name: 'Customers', contact_count: 2 }],
                  _metadata: { next: `${fake.url}/v3/marketing/lists?page_token=2`, count: 2 },
                }
              : { result: [{ id: 'L2', name: 'Friends', contact_count: 1 }], _metadata: { count: 2 } },
          }
        }
        if (path === '/v3/asm/groups') return { body: [{ id: 7, name: 'Weekly news', unsubscribes: 1 }] }
        if (path === '/v3/asm/groups/7/suppressions') return { body: ['bored@there.example'] }
        if (path === '/v3/templates')
          return { body: { result: TEMPLATES.map(({ versions, ...rest }) => rest), _metadata: { count: 3 } } }
        if (path === '/v3/user/webhooks/event/settings/all')
          return {
            body: {
              max_allowed: 1,
              webhooks: [
                {
                  id: 'w',
                  url: 'https://hooks.example/sg',
                  bounce: true,
                  open: false,
                  group_unsubscribe: true,
                },
              ],
            },
          }
        const template = TEMPLATES.find(({ id }) => path === `/v3/templates/${id}`)
        if (template) return { body: template }
        const list = LISTS[path]
        return list && { body: slice(list, Number(query.get('offset')), Number(query.get('limit')), 500) }
      },
    }),
  )
  const account = importingAccount(mailhorn, { SENDGRID_API_KEY: KEY })
  const args = ['sendgrid', '--from', fake.url, '--json']
  return {
    ...account,
    args,
    fake,
    run: (...more: string[]) => account.run({ args: [...args, ...more] }),
    runWith: account.run,
  }
}

test('domains, suppressions, dynamic templates and webhooks arrive', async t => {
  const { all, call, run } = await start(t)
  const { code, json } = await run()
  assert.is(code, 0)
  assert.equal(
    (await all('/domains')).map(({ name }) => name),
    ['here.example'],
  )
  const suppressions = await all('/suppressions')
  assert.is(suppressions.length, 523)
  const reasonOf = (email: string) => suppressions.find(entry => entry.email === email).reason
  assert.equal(
    ['gone519', 'invalid', 'angry', 'left'].map(name => reasonOf(`${name}@there.example`)),
    ['bounce', 'bounce', 'complaint', 'manual'],
  )
  const welcome = await call('GET', '/templates/sendgrid-d-1')
  assert.equal(
    [welcome.subject, welcome.html, welcome.text],
    ['Hello {{name|you}}', '<p>{{{order.id}}}</p><a href="{{{UNSUBSCRIBE_URL}}}">x</a>', '{{order.id}}'],
  )
  assert.equal(
    json.templates.not_made_reasons.map(({ name }: { name: string }) => name),
    ['Blocks (sendgrid-d-2)', 'Old (sendgrid-l-1)'],
  )
  const [webhook] = await all('/webhooks')
  assert.equal([webhook.url, webhook.events], ['https://hooks.example/sg', ['email.bounced']])
})

test('contacts come from exports, and who has left is unsubscribed', async t => {
  const { all, run } = await start(t)
  const { json, waits } = await run('--only', 'contacts')
  assert.is(json.contacts.error, null)
  assert.equal(waits, [5_000, 5_000, 5_000])
  const audiences = await all('/audiences')
  const membersOf = async (name: string) => {
    const { id } = audiences.find(audience => audience.name === name)
    const contacts = await all(`/audiences/${id}/contacts`)
    return contacts.map(({ email, unsubscribed }) => [email, unsubscribed]).toSorted()
  }
  assert.equal(await membersOf('Customers'), [
    ['ann@there.example', false],
    ['left@there.example', true],
  ])
  assert.equal(await membersOf('Friends'), [['bob@there.example', false]])
  assert.equal(await membersOf('SendGrid contacts without a list'), [['eve@there.example', false]])
  assert.equal(await membersOf('Weekly news'), [['bored@there.example', true]])
})

test('a dry run changes nothing, and a second run makes nothing twice', async t => {
  const dry = await assertMadeOnce(await start(t))
  assert.equal([dry.suppressions.made, dry.contacts.made, dry.templates.made], [523, 5, 1])
})

test('a rate limit is waited for until its reset, and a wrong key is one line', async t => {
  const { args, fake, run, runWith } = await start(t)
  const reset = Math.ceil(Date.now() / 1_000) + 20
  fake.instead.set('/v3/whitelabel/domains', [
    {
      status: 429,
      headers: { 'x-ratelimit-reset': String(reset) },
      body: { errors: [{ message: 'too many' }] },
    },
  ])
  const { code, waits } = await run('--only', 'domains')
  assert.is(code, 0)
  assert.ok(waits[0]! > 5_000 && waits[0]! <= 21_000)
  const wrong = await runWith({ args, env: { SENDGRID_API_KEY: 'SG.wrong' } })
  assert.is(wrong.code, 1)
  assert.match(
    wrong.err,
    /^mailhorn: SendGrid refused the key in SENDGRID_API_KEY \(GET \/v3\/whitelabel\/domains, status 401\): The provided/m,
  )
})

test('a key without a scope leaves out that kind alone, and the report says so', async t => {
  const { all, fake, run } = await start(t)
  fake.instead.set('/v3/templates', [{ status: 403, body: { errors: [{ message: 'access forbidden' }] } }])
  const { code, json } = await run('--only', 'domains,templates')
  assert.is(code, 1)
  assert.match(json.templates.error, /access forbidden/)
  assert.is((await all('/domains')).length, 1)
})

test.run()
