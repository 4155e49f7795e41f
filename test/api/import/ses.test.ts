import * as assert from 'uvu/assert'
import { SES_KEYS, type SesAccount, startFakeSes } from '../../kit/fake-ses.ts'
import { importingAccount } from '../../kit/importing.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('import from Amazon SES')

let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const AT = 1_700_000_000.5
const preference = (TopicName: string, SubscriptionStatus: 'OPT_IN' | 'OPT_OUT') => ({
  TopicName,
  SubscriptionStatus,
})
const contact = (name: string, more = {}) => ({
  EmailAddress: `${name}@there.example`,
  UnsubscribeAll: false,
  LastUpdatedTimestamp: AT,
  ...more,
})
const ACCOUNT: SesAccount = {
  identities: [
    {
      name: 'a.example',
      type: 'DOMAIN',
      details: {
        ConfigurationSetName: 'strict',
        DkimAttributes: { SigningEnabled: true, SigningAttributesOrigin: 'AWS_SES', Tokens: ['k1', 'k2'] },
        MailFromAttributes: { MailFromDomain: 'send.a.example', MailFromDomainStatus: 'SUCCESS' },
      },
    },
    {
      name: 'b.example',
      type: 'DOMAIN',
      details: {
        DkimAttributes: { SigningEnabled: true, SigningAttributesOrigin: 'EXTERNAL', Tokens: ['own'] },
        MailFromAttributes: { BehaviorOnMxFailure: 'USE_DEFAULT_VALUE' },
      },
    },
    { name: 'ann@elsewhere.example', type: 'EMAIL_ADDRESS' },
  ],
  configurationSets: [
    {
      name: 'strict',
      details: { ConfigurationSetName: 'strict', DeliveryOptions: { TlsPolicy: 'REQUIRE' } },
      destinations: [
        {
          Name: 'to-queue',
          Enabled: true,
          MatchingEventTypes: ['BOUNCE', 'COMPLAINT', 'RENDERING_FAILURE'],
          SnsDestination: { TopicArn: 'arn:aws:sns:eu-west-1:123456789012:mail' },
        },
      ],
    },
  ],
  suppressions: [
    { EmailAddress: 'gone@there.example', Reason: 'BOUNCE', LastUpdateTime: AT },
    { EmailAddress: 'angry@there.example', Reason: 'COMPLAINT', LastUpdateTime: AT },
  ],
  templates: [
    {
      name: 'Welcome_1',
      content: {
        Subject: 'Hello {{name}}',
        Html: '{{!-- greeting --}}<p>{{contact.first}} {{{bio}}} {{this.city}}</p><a href="{{amazonSESUnsubscribeUrl}}">x</a>',
        Text: 'Hello {{name}}: {{amazonSESUnsubscribeUrl}}',
      },
    },
    { name: 'Blocks', content: { Subject: 'x', Html: '{{#if a}}x{{else}}y{{/if}} {{lookup a b}}' } },
  ],
  lists: [
    {
      name: 'Everybody',
      topics: [
        {
          TopicName: 'offers',
          DisplayName: 'Offers',
          Description: 'Now and then',
          DefaultSubscriptionStatus: 'OPT_IN',
        },
        { TopicName: 'news', DisplayName: 'News', DefaultSubscriptionStatus: 'OPT_OUT' },
      ],
      contacts: [
        contact('plain', { AttributesData: 'no JSON' }),
        contact('a+n=n', {
          TopicPreferences: [preference('offers', 'OPT_OUT'), preference('news', 'OPT_IN')],
          AttributesData: '{"firstName":"Ann","last_name":"van There","city":"Aarhus","seats":3}',
        }),
        contact('reader', {
          TopicPreferences: [preference('offers', 'OPT_IN'), preference('news', 'OPT_IN')],
        }),
        contact('left', { UnsubscribeAll: true, TopicPreferences: [preference('news', 'OPT_OUT')] }),
      ],
    },
  ],
}

async function start(t: TestContext, keys: Record<string, string> = {}) {
  const fake = await t.using(startFakeSes(ACCOUNT))
  const account = importingAccount(mailhorn, { ...SES_KEYS, ...keys })
  const args = ['ses', '--from', fake.url, '--json']
  const run = (...more: string[]) => account.run({ args: [...args, ...more] })
  /** Lists the contacts as `name: topics that they receive`. */
  const receivers = async () => {
    const { call, all } = account
    const [{ id }] = await all('/audiences')
    const lines: string[] = []
    for (const { id: contactId, email, unsubscribed } of await all(`/audiences/${id}/contacts`)) {
      const { data } = await call('GET', `/audiences/${id}/contacts/${contactId}/topics`)
      const names = data
        .filter(({ subscription }: { subscription: string }) => subscription === 'opt_in')
        .map(({ name }: { name: string }) => name)
      lines.push(`${email.split('@')[0]}: ${unsubscribed ? 'nothing' : names.toSorted().join(' ')}`)
    }
    return lines.toSorted()
  }
  return { ...account, args, fake, run, runWith: account.run, receivers }
}

test('domains, suppressions, templates, topics and contacts arrive, and the rest is named', async t => {
  const { all, call, receivers, run } = await start(t)
  const { code, json } = await run()
  assert.is(code, 0)
  assert.equal((await all('/domains')).map(({ name, tls }) => [name, tls]).toSorted(), [
    ['a.example', 'enforced'],
    ['b.example', 'opportunistic'],
  ])
  assert.ok(json.dns_records.some(({ host }: { host: string }) => host === 'send.a.example'))
  assert.equal(json.domains.notes, [
    'replace these records of Amazon SES, add no second one: MX send.a.example, TXT send.a.example',
    'once Amazon SES sends nothing more, remove: CNAME k1._domainkey.a.example, CNAME k2._domainkey.a.example',
    'once Amazon SES sends nothing more, remove: TXT own._domainkey.b.example',
  ])
  assert.equal(
    (await all('/suppressions'))
      .map(({ email, reason, created_at }) => [email, reason, created_at])
      .toSorted(),
    [
      ['angry@there.example', 'complaint', '2023-11-14T22:13:20.500Z'],
      ['gone@there.example', 'bounce', '2023-11-14T22:13:20.500Z'],
    ],
  )
  const welcome = await call('GET', '/templates/Welcome_1')
  assert.equal(
    [welcome.subject, welcome.html, welcome.text, welcome.status],
    [
      'Hello {{name}}',
      '<p>{{{contact.first}}} {{{bio}}} {{{city}}}</p><a href="{{UNSUBSCRIBE_URL}}">x</a>',
      'Hello {{name}}: {{UNSUBSCRIBE_URL}}',
      'published',
    ],
  )
  const [{ name, reason }] = json.templates.not_made_reasons
  assert.is(name, 'Blocks (Blocks)')
  for (const words of ['`{{#if a}}` at line 1', '`{{else}}`', '`{{lookup a b}}`, which has no translation'])
    assert.ok(reason.includes(words), `${words} in ${reason}`)
  assert.equal(
    (await all('/topics'))
      .map(topic => [topic.name, topic.description, topic.default_subscription])
      .toSorted(),
    [
      ['News', '', 'opt_out'],
      ['Offers', 'Now and then', 'opt_in'],
    ],
  )
  assert.equal(await receivers(), ['a+n=n: News', 'left: nothing', 'plain: Offers', 'reader: News Offers'])
  assert.ok(json.contacts.notes.includes('new topic Offers'))
  assert.equal(json.notes, [
    'Single addresses that may send (ann@elsewhere.example): register their domains instead.',
    'Attributes of contacts: SES tells them in a request for each contact, about one a second; add --attributes to import them.',
    'Event destination to-queue of the configuration set strict (Sns): make a webhook for email.bounced, email.complained at a URL of yours; without counterpart: RENDERING_FAILURE.',
  ])
})

test('a dry run changes nothing, and a second run makes nothing twice and subscribes nobody again', async t => {
  const { all, call, receivers, run } = await start(t)
  const dry = await run('--dry-run')
  const counts = ['domains', 'suppressions', 'templates', 'contacts'].map(kind => dry.json[kind].made)
  assert.equal(counts, [2, 2, 1, 4])
  for (const path of ['/domains', '/suppressions', '/templates', '/audiences', '/topics', '/contacts'])
    assert.equal(await all(path), [], path)
  await run()
  const news = (await all('/topics')).find(({ name }) => name === 'News')
  const [{ id }] = await all('/audiences')
  await call('PATCH', `/audiences/${id}/contacts/reader@there.example/topics`, {
    body: { topics: [{ id: news.id, subscription: 'opt_out' }] },
  })
  const { json } = await run()
  for (const kind of ['domains', 'suppressions', 'templates', 'contacts']) assert.is(json[kind].made, 0, kind)
  assert.is((await all('/topics')).length, 2)
  assert.equal(await receivers(), ['a+n=n: News', 'left: nothing', 'plain: Offers', 'reader: Offers'])
})

test('a topic that exists with another default gets the choices that make up for it', async t => {
  const { call, receivers, run } = await start(t)
  await call('POST', '/topics', { body: { name: 'Offers', default_subscription: 'opt_out' } })
  await call('POST', '/topics', { body: { name: 'News', default_subscription: 'opt_in' } })
  await run('--only', 'contacts')
  assert.equal(await receivers(), ['a+n=n: News', 'left: nothing', 'plain: Offers', 'reader: News Offers'])
})

test('attributes are read when they are asked for, and become names and properties', async t => {
  const { all, fake, run } = await start(t)
  fake.instead.set('/v2/email/contact-lists/Everybody/contacts/reader%40there.example', [
    { status: 404, body: { message: 'Contact does not exist.' } },
  ])
  const { code, json, err } = await run('--only', 'contacts', '--attributes')
  assert.is(code, 0)
  assert.match(err, /Reading the attributes of contacts of Everybody, about one a second/)
  const [{ id }] = await all('/audiences')
  const contacts = await all(`/audiences/${id}/contacts`)
  const ann = contacts.find(({ email }) => email === 'a+n=n@there.example')
  assert.equal(
    [ann.first_name, ann.last_name, ann.properties.city, ann.properties.seats, contacts.length],
    ['Ann', 'van There', 'Aarhus', '3', 4],
  )
  assert.is(json.notes[0], 'Attributes that are no object in JSON, of plain@there.example.')
})

test('throttling is waited out, in both of its forms, also where a list is asked for by POST', async t => {
  const { fake, run } = await start(t)
  const tooMany = { status: 429, body: { message: 'Too many requests' } }
  const throttled = {
    status: 400,
    headers: { 'x-amzn-errortype': 'ThrottlingException' },
    body: { message: 'Rate exceeded' },
  }
  fake.instead.set('/v2/email/suppression/addresses', [tooMany, throttled])
  fake.instead.set('/v2/email/contact-lists/Everybody/contacts/list', [
    tooMany,
    { status: 500, body: { message: 'Internal failure' } },
  ])
  const { code, json, waits } = await run('--only', 'suppressions,contacts')
  assert.equal([code, json.suppressions.made, json.contacts.made], [0, 2, 4])
  assert.equal(waits, [1_000, 2_000, 1_000, 2_000])
})

test('temporary keys are signed with their token, and wrong keys are one line that shows none of them', async t => {
  const { args, fake, run, runWith } = await start(t, { AWS_SESSION_TOKEN: 'token/of+a/session==' })
  assert.is((await run('--only', 'suppressions')).json.suppressions.made, 2)
  const wrong = 'wrong/secret'
  const message = `The request signature we calculated does not match. x-amz-security-token:token/of+a/session==`
  fake.instead.set('/v2/email/identities', [{ status: 403, body: { message } }])
  const refused = await run('--only', 'domains')
  assert.match(refused.err, /^mailhorn: .* does not match\. x-amz-security-token:\[key\]$/m)
  const { code, err } = await runWith({ args, env: { AWS_SECRET_ACCESS_KEY: wrong } })
  assert.is(code, 1)
  assert.match(
    err,
    /^mailhorn: Amazon SES refused the key in AWS_SECRET_ACCESS_KEY \(GET \/v2\/email\/identities, status 403\): The security token/m,
  )
  assert.not.ok(err.includes(wrong))
})

test('keys come from standard input in their order, and a region that is none is refused before a request', async t => {
  const { args, fake, session, runWith } = await start(t)
  const none = Object.fromEntries(Object.keys(SES_KEYS).map(name => [name, undefined]))
  const env = { ...none, MAILHORN_ACCESS_TOKEN: undefined }
  const input = [...Object.values(SES_KEYS), session].join('\n')
  assert.is((await runWith({ args: [...args, '--only', 'suppressions'], env, input })).code, 0)
  const before = fake.calls.length
  const { code, err } = await runWith({ args, env: { AWS_REGION: 'evil.example/' } })
  assert.equal([code, fake.calls.length], [1, before])
  assert.match(
    err,
    /AWS_REGION must be the region of the account, such as eu-west-1; got "evil\.example\/"\./,
  )
})

test.run()
