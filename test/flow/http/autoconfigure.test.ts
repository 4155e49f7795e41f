import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type FakeCloudflare, refusal, startCloudflare } from '../../kit/cloudflare.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal, refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('autoconfigure')
const TOKEN = 'canary-token-0123456789'
const INCLUDE = 'include:mailhorn.test'
let cloudflare: FakeCloudflare
let mailhorn: Mailhorn
let session = ''
test.before(async () => {
  cloudflare = await startCloudflare()
  mailhorn = await startMailhorn({
    env: { MAILHORN_AUTOCONFIGURE_CLOUDFLARE_BASE_URL: `${cloudflare.baseUrl}/` },
  })
  session = await mailhorn.signIn()
})
test.after(async () => {
  await mailhorn.close()
  await cloudflare.close()
})
let made = 0
/**
 * A domain in an empty zone of its own that the token opens, unless told otherwise, at a provider as it was
 * at first.
 */
async function created(name = `auto-${++made}.example`, zones = [name]) {
  cloudflare.records.splice(0)
  cloudflare.calls.splice(0)
  cloudflare.tokens.clear()
  cloudflare.instead = undefined
  delete cloudflare.pageSize
  cloudflare.tokens.set(TOKEN, zones)
  const { status, body } = await mailhorn.call('POST', '/domains', { session, body: { name } })
  assert.is(status, 201, JSON.stringify(body))
  return body
}

const ask = ({ id }: { id: string }, more: object = {}) =>
  mailhorn.call('POST', `/domains/${id}/autoconfigure`, { session, body: { dns_api_token: TOKEN, ...more } })

async function configure(domain: { id: string }, more: object = {}) {
  const { status, body } = await ask(domain, more)
  assert.is(status, 200, JSON.stringify(body))
  return body
}

type Told = { record: string; status: string; message?: string }
const told = ({ records }: { records: Told[] }) => records.map(({ record, status }) => `${record} ${status}`)
const LABELS = ['Verification', 'DKIM 1', 'DKIM 2', 'DKIM 3', 'SPF', 'MX']
const all = (status: string) => LABELS.map(label => `${label} ${status}`)
const allBut = (status: string, label: string, other: string) =>
  LABELS.map(each => `${each} ${each === label ? other : status}`)
const messageOf = ({ records }: { records: Told[] }, label: string) =>
  records.find(({ record }) => record === label)!.message

test('all six records are created as they are asked for, aliases without a proxy', async () => {
  const domain = await created()
  const done = await configure(domain)
  assert.equal([done.zone, told(done)], [domain.name, all('created')])
  assert.equal(
    cloudflare.records.map(({ type, name, content, ttl, proxied, priority }) => [
      type,
      name,
      content,
      ttl,
      proxied,
      priority,
    ]),
    domain.records.map(({ type, host, value, priority }: Record<string, unknown>) => [
      type,
      host,
      type === 'TXT' ? `"${value}"` : value,
      1,
      false,
      priority,
    ]),
  )
})

test('a second time they exist already, however they are spelled, and nothing is written', async () => {
  const domain = await created()
  await configure(domain)
  for (const record of cloudflare.records) {
    record.name = record.name.toUpperCase()
    if (record.type === 'TXT') record.content = record.content.slice(1, -1)
    else record.content = `${record.content.toUpperCase()}.`
  }
  cloudflare.calls.splice(0)
  assert.equal(told(await configure(domain)), all('already_exists'))
  assert.equal(
    cloudflare.calls.filter(call => !call.startsWith('GET')),
    [],
  )
})

test('two requests at once create them once', async () => {
  const domain = await created()
  const answers = await Promise.all([configure(domain), configure(domain)])
  assert.equal(answers.map(answer => told(answer)[0]).sort(), [
    'Verification already_exists',
    'Verification created',
  ])
  assert.is(cloudflare.records.length, 6)
})

test('one that appears in between exists already', async () => {
  const domain = await created()
  cloudflare.instead = ({ method }) =>
    method === 'POST' ? refusal(400, 81_058, 'An identical record already exists.') : undefined
  assert.equal(told(await configure(domain)), all('already_exists'))
})

test('the smallest zone that the token opens is taken', async () => {
  const domain = await created('deep.shop.zones.example', [
    'zones.example',
    'shop.zones.example',
    'other.example',
  ])
  assert.is((await configure(domain)).zone, 'shop.zones.example')
  assert.equal(cloudflare.calls.slice(0, 3), [
    'GET /client/v4/zones',
    'GET /client/v4/zones',
    'GET /client/v4/zones/zone-shop.zones.example/dns_records',
  ])
})

test('records of a host are read page by page', async () => {
  const domain = await created()
  cloudflare.pageSize = 5
  for (let i = 0; i < 12; i++) cloudflare.put('TXT', `send.${domain.name}`, `"note ${i}"`)
  cloudflare.put('TXT', `send.${domain.name}`, `"v=spf1 ${INCLUDE} ~all"`)
  assert.equal(told(await configure(domain)), allBut('created', 'SPF', 'already_exists'))
})

for (const [label, type, content, says] of [
  ['DKIM 1', 'CNAME', 'elsewhere.example', /has CNAME elsewhere\.example\. Remove it/],
  ['DKIM 2', 'TXT', '"v=DKIM1; p=OTHER"', /has TXT v=DKIM1; p=OTHER/],
  ['DKIM 3', 'A', '192.0.2.1', /has A 192\.0\.2\.1/],
  ['Verification', 'CNAME', 'pages.example', /has CNAME pages\.example/],
  ['MX', 'MX', 'mx.elsewhere.example', /has MX mx\.elsewhere\.example/],
  [
    'SPF',
    'TXT',
    '"v=spf1 include:other.example -all"',
    /has the SPF record v=spf1 include:other\.example -all\. Set merge_spf/,
  ],
] as const)
  test(`${type} ${content} at the host of ${label} is a conflict, and stays as it is`, async () => {
    const domain = await created()
    const { host } = domain.records.find(({ record }: { record: string }) => record === label)
    const there = cloudflare.put(type, host, content, type === 'MX' ? { priority: 5 } : {})
    const done = await configure(domain)
    assert.equal(told(done), allBut('created', label, 'conflict'))
    assert.match(messageOf(done, label)!, says)
    assert.is(there.content, content)
  })

test('a proxied alias, and an MX record beside ours, are conflicts too', async () => {
  const domain = await created()
  await configure(domain)
  cloudflare.records.find(({ type }) => type === 'CNAME')!.proxied = true
  cloudflare.put('MX', `send.${domain.name}`, 'further.example', { priority: 20 })
  const done = await configure(domain)
  assert.match(messageOf(done, 'DKIM 1')!, /is proxied: set it to "DNS only"/)
  assert.match(messageOf(done, 'MX')!, /further MX records \(further\.example\)/)
  assert.equal(told(done).filter(each => each.endsWith('conflict')).length, 2)
})

test('another verification text may stand beside ours; another preference will do', async () => {
  const domain = await created()
  cloudflare.put('TXT', `_svc.${domain.name}`, '"svc-verify=other"')
  cloudflare.put('MX', `send.${domain.name}`, domain.records[5].value, { priority: 5 })
  const done = await configure(domain)
  assert.equal(told(done), allBut('created', 'MX', 'already_exists'))
  assert.match(messageOf(done, 'MX')!, /preference of the MX record is 5/)
})

for (const [there, merged] of [
  ['v=spf1 include:other.example -all', `v=spf1 include:other.example ${INCLUDE} -all`],
  ['v=spf1 ip4:192.0.2.1', `v=spf1 ip4:192.0.2.1 ${INCLUDE}`],
  ['v=spf1 a redirect=other.example', `v=spf1 a ${INCLUDE} redirect=other.example`],
  [`v=spf1 -all ${INCLUDE}`, `v=spf1 ${INCLUDE} -all`],
  [`v=spf1 ?${INCLUDE} ~all`, `v=spf1 ${INCLUDE} ~all`],
] as const)
  test(`${there} is merged when that is asked for`, async () => {
    mailhorn.zone.set('other.example TXT "v=spf1 -all"')
    const domain = await created()
    const record = cloudflare.put('TXT', `send.${domain.name}`, `"${there}"`)
    const done = await configure(domain, { merge_spf: true })
    assert.equal(told(done), all('created'))
    assert.match(messageOf(done, 'SPF')!, /^Merged into the existing record/)
    assert.is(record.content, `"${merged}"`)
    assert.equal(told(await configure(domain, { merge_spf: true })), all('already_exists'))
    mailhorn.zone.set('')
  })

test('an SPF record that would ask for too much, or is one of two, is not merged', async () => {
  const domain = await created()
  const many = Array.from({ length: 10 }, (_, i) => `a:a${i}.test`).join(' ')
  mailhorn.zone.set(Array.from({ length: 10 }, (_, i) => `a${i}.test A 192.0.2.1`).join('\n'))
  const record = cloudflare.put('TXT', `send.${domain.name}`, `"v=spf1 ${many} -all"`)
  const done = await configure(domain, { merge_spf: true })
  assert.match(messageOf(done, 'SPF')!, /With this service added: .* needs 11 DNS lookups/)
  assert.is(record.content, `"v=spf1 ${many} -all"`)
  cloudflare.put('TXT', `send.${domain.name}`, '"v=spf1 -all"')
  assert.match(messageOf(await configure(domain, { merge_spf: true }), 'SPF')!, /has 2 SPF records/)
  mailhorn.zone.set('')
})

test('one record that the provider refuses fails, with its words but without the token', async () => {
  const domain = await created()
  cloudflare.instead = ({ method, body }) =>
    method === 'POST' && body.includes('"MX"')
      ? refusal(400, 9_005, `Content for ${TOKEN}\u0007 is\ninvalid`)
      : undefined
  const done = await configure(domain)
  assert.equal(told(done), allBut('created', 'MX', 'failed'))
  assert.is(messageOf(done, 'MX'), 'The DNS provider answers: Content for [token] is invalid (9005)')
})

test('a provider that stumbles is asked again; one that asks to wait is waited for', async () => {
  for (const [status, headers] of [
    [429, { 'retry-after': '1' }],
    [502, {}],
  ] as const) {
    const domain = await created()
    let stumbles = 1
    cloudflare.instead = () =>
      stumbles-- > 0 ? { status, headers, body: '<html>not now</html>' } : undefined
    const running = configure(domain)
    while (cloudflare.calls.length === 0) await new Promise(setImmediate)
    mailhorn.clock.advance(1_000)
    assert.equal(told(await running), all('created'))
    cloudflare.calls.splice(0)
  }
})

test('one that has no time for us for long, or stays broken, is told of, with nothing done', async () => {
  const domain = await created()
  const expected = { status: 503, name: 'application_error' }
  cloudflare.instead = () => ({ status: 429, headers: { 'retry-after': '3600' }, body: {} })
  assertRefusal(await ask(domain), { ...expected, says: /rate limit/ })
  cloudflare.instead = () => ({ status: 200, body: { success: true, result: 'what?' } })
  assertRefusal(await ask(domain), { ...expected, says: /unexpected response/ })
  cloudflare.instead = () => ({ status: 418, body: 'teapot' })
  assertRefusal(await ask(domain), { ...expected, says: /HTTP status 418/ })
  assert.is(cloudflare.calls.length, 3)
})

test('a token that is not good, or opens another zone, is refused by name', async () => {
  const domain = await created()
  const expected = { status: 422, name: 'validation_error', path: 'dns_api_token' }
  assertRefusal(await ask(domain, { dns_api_token: 'stranger' }), {
    ...expected,
    says: /Invalid access token \[token\]/,
  })
  cloudflare.tokens.set(TOKEN, ['other.example'])
  assertRefusal(await ask(domain), {
    ...expected,
    says: /no access to a zone that contains auto-\d+\.example/,
  })
  for (const token of ['', 'two words', 'line\nbreak', 'schlüssel', 'x'.repeat(1_001), 5, ['x']])
    await refuses(
      mailhorn,
      ['POST', `/domains/${domain.id}/autoconfigure`, { session, body: { dns_api_token: token } }],
      expected,
    )
  await refuses(mailhorn, ['POST', `/domains/${domain.id}/autoconfigure`, { session, body: {} }], {
    ...expected,
    name: 'missing_required_field',
  })
  assert.equal(cloudflare.records, [])
})

test('what was created is found by the next check', async () => {
  const domain = await created()
  await configure(domain)
  for (const { type, name, content, priority } of cloudflare.records)
    mailhorn.zone.add(`${name} ${type} ${priority ?? ''} ${content}`)
  const { body } = await mailhorn.call('POST', `/domains/${domain.id}/verify`, { session })
  assert.is(body.status, 'verified')
})

test('the token is nowhere: in no file of the service, and in no reply', async () => {
  const domain = await created()
  const replies = [await ask(domain), await ask(domain, { dns_api_token: `${TOKEN}-stranger` })]
  cloudflare.instead = () => refusal(403, 9_109, `no: ${TOKEN}`)
  replies.push(await ask(domain))
  replies.push(await mailhorn.call('GET', '/domains', { session }))
  for (const { body } of replies) assert.not.match(JSON.stringify(body), /canary-token/)
  for (const file of filesIn(mailhorn.dataDir)) assert.not(readFileSync(file).includes('canary-token'), file)
})

test('the provider has understood every request', () => assert.equal(cloudflare.faults, []))

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map(name => join(folder, String(name)))
    .filter(path => statSync(path).isFile())
}

test.run()
