import * as assert from 'uvu/assert'
import { type FakeApi, type FakeRequest, slice, startFakeApi } from '../../kit/fake-api.ts'
import { importingAccount } from '../../kit/importing.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('import from Postmark')
const SERVER = 'server-token'
const ACCOUNT = 'account-token'
const PAGE_MAX = 50

let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const DENIED = { status: 401, body: { ErrorCode: 10, Message: 'The server token is not valid.' } }
const DOMAINS = Array.from({ length: 3 }, (_, i) => ({
  Name: `d${i}.example`,
  SPFVerified: true,
  DKIMVerified: true,
  ID: i,
}))
const entry = (EmailAddress: string, SuppressionReason: string, Origin: string) => ({
  EmailAddress,
  SuppressionReason,
  Origin,
  CreatedAt: '2025-12-10T10:00:00-05:00',
})
const DUMPS: Record<string, object[]> = {
  outbound: [
    entry('gone@there.example', 'HardBounce', 'Recipient'),
    entry('angry@there.example', 'SpamComplaint', 'Recipient'),
    entry('by-hand@there.example', 'ManualSuppression', 'Customer'),
  ],
  news: [
    entry('gone@there.example', 'HardBounce', 'Recipient'),
    entry('left@there.example', 'ManualSuppression', 'Recipient'),
  ],
}
const template = (TemplateId: number, Name: string, more: object) => ({
  TemplateId,
  Name,
  Alias: null,
  Active: true,
  TemplateType: 'Standard',
  LayoutTemplate: null,
  ...more,
})
const TEMPLATES = [
  template(1, 'Frame', {
    Alias: 'frame',
    TemplateType: 'Layout',
    HtmlBody: '<header>Acme</header>{{{@content}}}{{{ pm:unsubscribe }}}',
    TextBody: 'Acme\n{{{ @content }}}',
  }),
  template(2, 'Receipt', {
    Alias: 'receipt',
    LayoutTemplate: 'frame',
    Subject: 'Receipt {{number}}',
    HtmlBody: '<p>{{ order.total }}</p>',
    TextBody: '{{order.total}}',
  }),
  template(3, 'Items', { Subject: 'Items', HtmlBody: '{{#items}}<li>{{name}}</li>{{/items}}' }),
  ...Array.from({ length: 60 }, (_, i) =>
    template(i + 10, `Note ${i}`, { Subject: `Note ${i}`, TextBody: 'x' }),
  ),
]
const hook = (Url: string, MessageStream: string, names: string[]) => ({
  ID: Url.length,
  Url,
  MessageStream,
  Triggers: Object.fromEntries(
    ['Open', 'Click', 'Delivery', 'Bounce', 'SpamComplaint', 'SubscriptionChange'].map(name => [
      name,
      { Enabled: names.includes(name) },
    ]),
  ),
})
const WEBHOOKS = [
  hook('https://hooks.example/pm', 'outbound', ['Bounce', 'SubscriptionChange']),
  hook('https://hooks.example/pm', 'news', ['Open']),
  hook('https://hooks.example/quiet', 'news', ['SubscriptionChange']),
]

function answer({ path, query }: FakeRequest) {
  const [offset, count] = [Number(query.get('offset')), Number(query.get('count'))]
  if (path === '/message-streams')
    return {
      body: {
        MessageStreams: [
          { ID: 'outbound', Name: 'Transactional', MessageStreamType: 'Transactional' },
          { ID: 'news', Name: 'Our news', MessageStreamType: 'Broadcasts' },
          { ID: 'inbound', Name: 'Inbound', MessageStreamType: 'Inbound' },
        ],
        TotalCount: 3,
      },
    }
  const stream = /^\/message-streams\/(\w+)\/suppressions\/dump$/.exec(path)?.[1]
  if (stream) return { body: { Suppressions: DUMPS[stream] } }
  if (path === '/templates')
    return { body: { TotalCount: TEMPLATES.length, Templates: slice(TEMPLATES, offset, count, PAGE_MAX) } }
  const ref = /^\/templates\/(.+)$/.exec(path)?.[1]
  if (ref) {
    const found = TEMPLATES.find(each => [String(each.TemplateId), each.Alias].includes(ref))
    return found && { body: found }
  }
  return path === '/webhooks' ? { body: { Webhooks: WEBHOOKS } } : undefined
}

async function start(t: TestContext) {
  const server: FakeApi = await t.using(
    startFakeApi({
      credentials: { 'x-postmark-server-token': SERVER, 'x-postmark-account-token': ACCOUNT },
      denied: DENIED,
      answer: request =>
        request.path === '/domains'
          ? {
              body: {
                TotalCount: DOMAINS.length,
                Domains: slice(
                  DOMAINS,
                  Number(request.query.get('offset')),
                  Number(request.query.get('count')),
                  2,
                ),
              },
            }
          : answer(request),
    }),
  )
  const keys = { POSTMARK_SERVER_TOKEN: SERVER, POSTMARK_ACCOUNT_TOKEN: ACCOUNT }
  const account = importingAccount(mailhorn, keys)
  const args = ['postmark', '--from', server.url, '--json']
  return {
    ...account,
    server,
    args,
    run: (...more: string[]) => account.run({ args: [...args, ...more] }),
    runWith: account.run,
  }
}

test('domains, suppressions, templates with their layout, and webhooks arrive', async t => {
  const { all, call, run } = await start(t)
  const { code, json } = await run()
  assert.is(code, 0)
  assert.equal((await all('/domains')).map(({ name }) => name).toSorted(), [
    'd0.example',
    'd1.example',
    'd2.example',
  ])
  assert.equal((await all('/suppressions')).map(({ email, reason }) => [email, reason]).toSorted(), [
    ['angry@there.example', 'complaint'],
    ['by-hand@there.example', 'manual'],
    ['gone@there.example', 'bounce'],
  ])
  const receipt = await call('GET', '/templates/receipt')
  assert.is(
    receipt.html,
    '<header>Acme</header><p>{{ order.total }}</p><a href="{{UNSUBSCRIBE_URL}}">Unsubscribe</a>',
  )
  assert.equal([receipt.text, receipt.status], ['Acme\n{{order.total}}', 'published'])
  assert.equal([json.templates.made, json.templates.not_made], [61, 1])
  assert.match(json.templates.not_made_reasons[0].reason, /html contains `\{\{#items\}\}`/)
  const webhooks = await all('/webhooks')
  assert.equal(
    webhooks.map(({ url, events }) => [url, events.toSorted()]),
    [['https://hooks.example/pm', ['email.bounced', 'email.opened']]],
  )
  assert.is(json.webhooks.not_made_reasons[0].name, 'https://hooks.example/quiet')
})

test('who left a broadcast stream is an unsubscribed contact, and not suppressed', async t => {
  const { all, run } = await start(t)
  await run('--only', 'suppressions,contacts')
  const [audience] = await all('/audiences')
  const contacts = await all(`/audiences/${audience.id}/contacts`)
  assert.is(audience.name, 'Our news')
  assert.equal(
    contacts.map(({ email, unsubscribed }) => [email, unsubscribed]),
    [['left@there.example', true]],
  )
})

test('a dry run changes nothing, and a second run makes nothing twice', async t => {
  const { all, run } = await start(t)
  const dry = await run('--dry-run')
  assert.equal([dry.json.domains.made, dry.json.suppressions.made, dry.json.templates.made], [3, 3, 61])
  assert.equal([await all('/domains'), await all('/suppressions'), await all('/audiences')], [[], [], []])
  await run()
  const { json } = await run()
  for (const kind of ['domains', 'suppressions', 'templates', 'contacts', 'webhooks'])
    assert.is(json[kind].made, 0, kind)
  assert.is((await all('/templates')).length, 61)
})

test('without the token of the account, domains are named as not imported', async t => {
  const { args, runWith } = await start(t)
  const { code, json } = await runWith({ args, env: { POSTMARK_ACCOUNT_TOKEN: undefined } })
  assert.is(code, 0)
  assert.is(json.domains, undefined)
  assert.match(json.notes[0], /POSTMARK_ACCOUNT_TOKEN/)
})

test('a rate limit is waited for, and a wrong token is one line that names it', async t => {
  const { args, run, runWith, server } = await start(t)
  server.instead.set('/message-streams', [{ status: 429, headers: { 'retry-after': '3' }, body: {} }])
  const { waits } = await run('--only', 'suppressions')
  assert.equal(waits, [3_000])
  const { code, err } = await runWith({ args, env: { POSTMARK_ACCOUNT_TOKEN: 'wrong-token' } })
  assert.is(code, 1)
  assert.match(
    err,
    /^mailhorn: Postmark refused the key in POSTMARK_ACCOUNT_TOKEN \(GET \/domains, status 401\): The server token is not valid\.$/m,
  )
  assert.not.ok(err.includes('wrong-token'))
})

test.run()
