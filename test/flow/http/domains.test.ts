import * as assert from 'uvu/assert'
import {
  type ApiAnswer,
  type DnsRecordView,
  type Mailhorn,
  startMailhorn,
  zoneText,
} from '../../kit/mailhorn.ts'
import { assertRefusal, refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('domains')
const HOUR_MS = 3_600_000
let mailhorn: Mailhorn
let session = ''
test.before(async () => {
  mailhorn = await startMailhorn()
  session = await mailhorn.signIn()
})
test.after(() => mailhorn.close())

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const INVALID = { status: 422, name: 'validation_error', path: 'name' }

let names = 0
const newName = () => `domain-${++names}.example`

function create(name: string, more: object = {}): Promise<ApiAnswer> {
  return mailhorn.call('POST', '/domains', { session, body: { name, ...more } })
}

async function created(name = newName()) {
  const { status, body } = await create(name)
  assert.is(status, 201, JSON.stringify(body))
  return body
}

async function verify({ id }: { id: string }) {
  const { status, body } = await mailhorn.call('POST', `/domains/${id}/verify`, { session })
  assert.is(status, 200, JSON.stringify(body))
  return body
}

function recordsOf(domain: { records: DnsRecordView[] }, ...labels: string[]): DnsRecordView[] {
  return domain.records.filter(({ record }) => labels.includes(record))
}

test('a new one is pending and lists its six records, in their order', async () => {
  const { status, body: domain } = await create('Shop.Example')
  assert.is(status, 201)
  assert.match(domain.id, /^dom_[0-9a-f-]{36}$/)
  assert.equal(
    [domain.object, domain.name, domain.status, domain.region],
    ['domain', 'shop.example', 'pending', 'us-west-2'],
  )
  assert.equal([domain.open_tracking, domain.click_tracking], [false, false])
  assert.match(domain.created_at, TIME)
  assert.equal([domain.verified_at, domain.last_checked_at], [null, null])
  assert.is(domain.receiving.enabled, true)
  assert.is(domain.receiving.record.type, 'MX')
  assert.equal(
    domain.records.map(({ record, type }: DnsRecordView) => `${record}: ${type}`),
    ['Verification: TXT', 'DKIM 1: CNAME', 'DKIM 2: CNAME', 'DKIM 3: CNAME', 'SPF: TXT', 'MX: MX'],
  )
  for (const record of domain.records) {
    assert.is(record.status, 'not_started')
    assert.ok(record.ttl)
    assert.is('priority' in record, record.record === 'MX')
  }
})

test('its records have exactly the hosts and values of the contract', async () => {
  const { records } = await created('form.example')
  const [verification, dkim1, dkim2, dkim3, spf, mx] = records
  assert.is(verification.host, '_svc.form.example')
  assert.match(verification.value, /^svc-verify=[a-z2-7]{32}$/)
  const tokens = [dkim1, dkim2, dkim3].map(({ host, value }) => {
    const token = /^([a-z2-7]{32})\._domainkey\.form\.example$/.exec(host)?.[1]
    assert.is(value, `${token}.dkim.mailhorn.test`)
    return token
  })
  assert.is(new Set(tokens).size, 3)
  assert.equal([spf.host, spf.value], ['send.form.example', 'v=spf1 include:mailhorn.test ~all'])
  assert.equal(
    [mx.host, mx.value, mx.priority],
    ['send.form.example', 'feedback-smtp.us-west-2.mailhorn.test', 10],
  )
})

for (const region of ['us-west-2', 'us-east-1', 'eu-west-1'])
  test(`region ${region} is taken and named in the MX record`, async () => {
    const { status, body } = await create(newName(), { region })
    assert.equal([status, body.region], [201, region])
    assert.is(recordsOf(body, 'MX')[0]!.value, `feedback-smtp.${region}.mailhorn.test`)
  })

test('two domains share no token', async () => {
  const [a, b] = [await created(), await created()]
  const tokens = (domain: { records: DnsRecordView[] }) =>
    domain.records.map(({ host, value }) => `${host} ${value}`.match(/[a-z2-7]{32}/)?.[0]).filter(Boolean)
  assert.is(new Set([...tokens(a), ...tokens(b)]).size, 8)
})

test('a name in another script becomes A-labels', async () => {
  assert.is((await created('grüße.Example')).name, 'xn--gre-6ka8l.example')
})

for (const [what, fields, expected] of [
  ['no name', { name: undefined }, { ...INVALID, name: 'missing_required_field' }],
  ['null as name', { name: null }, { ...INVALID, name: 'missing_required_field' }],
  ['an empty list as name', { name: [] }, { ...INVALID, name: 'missing_required_field' }],
  ['a number as name', { name: 5 }, INVALID],
  ['a list as name', { name: ['a.example'] }, INVALID],
  ['a number as region', { region: 5 }, { status: 422, name: 'validation_error', path: 'region' }],
  ['an unknown region', { region: 'mars-1' }, { status: 422, name: 'invalid_region', path: 'region' }],
  ['an empty region', { region: '' }, { status: 422, name: 'invalid_region', path: 'region' }],
  ['a region of Object', { region: 'constructor' }, { status: 422, name: 'invalid_region', path: 'region' }],
] as const)
  test(`refuses ${what}`, async () => {
    const body = { name: 'refused.example', ...fields }
    await refuses(mailhorn, ['POST', '/domains', { session, body }], expected)
  })

for (const name of [
  '',
  ' ',
  '.',
  'localhost',
  'example',
  '.example.org',
  'example.org.',
  'a..example',
  '-a.example',
  'a-.example',
  'a_b.example',
  '*.example',
  '_dmarc.a.example',
  'a b.example',
  'a\nb.example',
  'a.example\0',
  'a.example\r\nb.example',
  'http://a.example',
  'a.example/path',
  'a.example:25',
  'ann@a.example',
  'a.example, b.example',
  '127.0.0.1',
  '[127.0.0.1]',
  '[::1]',
  '2130706433',
  'a.1',
  `${'x'.repeat(64)}.example`,
  `${'x.'.repeat(126)}example`,
  'xn--.example',
  'a。',
  '😀',
])
  test(`refuses the name ${JSON.stringify(name.slice(0, 30))}`, () =>
    refuses(mailhorn, ['POST', '/domains', { session, body: { name } }], INVALID))

for (const name of ['mailhorn.test', 'MAILHORN.TEST', 'mail.mailhorn.test', 'a.b.mailhorn.test'])
  test(`refuses ${name}, which is the provider's own`, () =>
    refuses(mailhorn, ['POST', '/domains', { session, body: { name } }], {
      ...INVALID,
      says: /provider zone/,
    }))

for (const [name, says] of [
  ['simulator.test', /simulator/],
  ['a.simulator.test', /simulator/],
  ['co.uk', /public suffix/],
  ['GitHub.io', /public suffix/],
  ['公司.cn', /public suffix/],
  ['gmail.com', /mailbox provider/],
  ['mail.yahoo.co.jp', /mailbox provider/],
] as const)
  test(`refuses ${name}, which no account could verify`, () =>
    refuses(mailhorn, ['POST', '/domains', { session, body: { name } }], { ...INVALID, says }))

test('an account has so many domains that are not verified, and no more', async t => {
  const strict = await t.using(startMailhorn({ env: { MAILHORN_DOMAINS_PENDING_MAX: '1' } }))
  await strict.verifiedDomain('verified.example')
  const own = await strict.signIn()
  const register = (name: string) => strict.call('POST', '/domains', { session: own, body: { name } })
  assert.is((await register('a.example')).status, 201)
  await refuses(strict, ['POST', '/domains', { session: own, body: { name: 'b.example' } }], {
    ...{ status: 422, name: 'validation_error' },
    says: /^An account may have 1 domain that is not verified\./,
  })
})

test('a name is registered once, however it is spelled', async () => {
  await created('once.example')
  for (const name of ['once.example', 'ONCE.example', ' once.example ', 'once。example'])
    await refuses(mailhorn, ['POST', '/domains', { session, body: { name } }], {
      ...INVALID,
      says: /once\.example/,
    })
  await created('sub.once.example')
})

test('ten requests at once for one name register it once', async () => {
  const name = newName()
  const answers = await Promise.all(Array.from({ length: 10 }, () => create(name)))
  assert.equal(answers.map(({ status }) => status).sort(), [201, ...Array(9).fill(422)])
})

test('is shown by its id as it was created', async () => {
  const domain = await created()
  assert.equal((await mailhorn.call('GET', `/domains/${domain.id}`, { session })).body, domain)
  assert.equal((await mailhorn.call('GET', `/domains/${domain.id.slice(4)}`, { session })).body, domain)
})

test('the list shows the newest first, page by page', async () => {
  const newest = await created()
  const list = async (query: string) => (await mailhorn.call('GET', `/domains${query}`, { session })).body
  const all = await list('?limit=100')
  assert.equal([all.object, all.has_more, all.data.length], ['list', false, all.total])
  assert.equal(all.data[0], newest)
  const times = all.data.map(({ created_at: at }: { created_at: string }) => at)
  assert.equal(times, times.toSorted().reverse())
  const page = await list('?limit=2&offset=1')
  assert.equal([page.total, page.has_more], [all.total, true])
  assert.equal(page.data, all.data.slice(1, 3))
  const last = await list(`?limit=2&offset=${all.total - 1}`)
  assert.equal([last.data.length, last.has_more], [1, false])
  const beyond = await list('?offset=1000')
  assert.equal([beyond.data, beyond.has_more, beyond.total], [[], false, all.total])
})

for (const query of [
  'limit=0',
  'limit=101',
  'limit=-1',
  'limit=1e2',
  'limit=abc',
  'limit=1.5',
  'limit=%201',
  'limit=99999999999999999999',
  'offset=-1',
  'offset=x',
  'offset=1e18',
  'offset=1000000001',
])
  test(`the list refuses ${query}`, () =>
    refuses(mailhorn, ['GET', `/domains?${query}`, { session }], {
      status: 422,
      name: 'validation_error',
      path: query.split('=')[0]!,
    }))

test('stays pending while its records are not there, and says what to look for', async () => {
  const domain = await created()
  const { status, checks, records, last_checked_at: at } = await verify(domain)
  assert.is(status, 'pending')
  assert.match(at, TIME)
  for (const key of ['dkim', 'dmarc', 'mx', 'ownership', 'spf']) assert.ok(Object.hasOwn(checks, key), key)
  const [verification, dkim1, , , spf, mx] = domain.records
  assert.equal(
    [checks.ownership.status, checks.ownership.expected, checks.ownership.found],
    ['pending', verification.value, []],
  )
  assert.equal(checks.ownership.resolvers, [{ server: mailhorn.zone.server, status: 'pending', found: [] }])
  assert.is(checks.dkim.status, 'pending')
  assert.is(checks.dkim.selectors.length, 3)
  const [first] = checks.dkim.selectors
  assert.equal(
    [first.host, first.status, first.expected, first.found],
    [dkim1.host, 'pending', dkim1.value, []],
  )
  assert.is(first.advice, `Add a CNAME record at ${dkim1.host} with the value ${dkim1.value}.`)
  assert.equal(checks.name_servers.servers, [], 'nobody serves the zone yet')
  assert.is(checks.receiving.expected, 'mailhorn.test')
  assert.equal([checks.spf.status, checks.spf.expected, checks.spf.found], ['pending', spf.value, []])
  assert.equal([checks.mx.status, checks.mx.expected, checks.mx.found], ['pending', mx.value, []])
  assert.is(checks.dmarc.status, 'pending')
  assert.equal(
    records.map(({ status: each }: { status: string }) => each),
    Array(6).fill('pending'),
  )
})

test('is verified when all its records are there, and stays so in every view', async () => {
  const domain = await created()
  mailhorn.zone.add(zoneText(domain.records))
  mailhorn.zone.add(`_dmarc.${domain.name} TXT "v=DMARC1; p=reject"`)
  const { checks, ...verified } = await verify(domain)
  assert.is(verified.status, 'verified')
  assert.match(verified.verified_at, TIME)
  for (const check of [checks.ownership, checks.dkim, checks.spf, checks.mx, checks.dmarc])
    assert.is(check.status, 'verified', JSON.stringify(check))
  assert.equal(
    verified.records.map(({ status }: { status: string }) => status),
    Array(6).fill('verified'),
  )
  assert.equal((await mailhorn.call('GET', `/domains/${domain.id}`, { session })).body, verified)
  assert.is((await verify(domain)).verified_at, verified.verified_at)
})

for (const [labels, status] of [
  [['Verification', 'DKIM 1'], 'verified'],
  [['Verification', 'DKIM 1', 'DKIM 3'], 'verified'],
  [['Verification'], 'pending'],
  [['Verification', 'DKIM 2', 'DKIM 3', 'SPF', 'MX'], 'pending'],
  [['DKIM 1', 'DKIM 2', 'DKIM 3', 'SPF', 'MX'], 'pending'],
] as const)
  test(`${labels.join(', ')} alone make it ${status}`, async () => {
    const domain = await created()
    mailhorn.zone.add(zoneText(recordsOf(domain, ...labels)))
    const verified = await verify(domain)
    assert.is(verified.status, status)
    for (const record of verified.records)
      assert.is(record.status, (labels as readonly string[]).includes(record.record) ? 'verified' : 'pending')
  })

test('wrong records fail their check, and are shown as found', async () => {
  const domain = await created()
  const [verification, dkim1, , , spf, mx] = domain.records
  mailhorn.zone.add(`
    ${verification.host} TXT "svc-verify=somebodyelse"
    ${dkim1.host} CNAME elsewhere.example
    ${spf.host} TXT "v=spf1 -all"
    ${mx.host} MX 10 mail.elsewhere.example
    _dmarc.${domain.name} TXT "v=DMARC1; p=none"
    _dmarc.${domain.name} TXT "v=DMARC1; p=reject"
  `)
  const { status, checks } = await verify(domain)
  assert.is(status, 'pending')
  assert.equal([checks.ownership.status, checks.ownership.found], ['failed', ['svc-verify=somebodyelse']])
  assert.equal(
    [checks.dkim.status, checks.dkim.selectors[0].status, checks.dkim.selectors[0].found],
    ['failed', 'failed', ['elsewhere.example']],
  )
  assert.equal([checks.spf.status, checks.spf.found], ['failed', ['v=spf1 -all']])
  assert.equal([checks.mx.status, checks.mx.found], ['failed', ['10 mail.elsewhere.example']])
  assert.is(checks.dmarc.status, 'failed')
})

test('records beside the right ones do no harm', async () => {
  const domain = await created()
  const [verification] = domain.records
  mailhorn.zone.add(zoneText(domain.records))
  mailhorn.zone.add(`
    ${verification.host} TXT "svc-verify=anotherprovider"
    ${verification.host} TXT "something else"
    send.${domain.name} TXT "google-site-verification=x"
  `)
  assert.is((await verify(domain)).status, 'verified')
})

test('a key published as TXT in place of the CNAME counts when it is the right one', async () => {
  const domain = await created()
  const [dkim1] = recordsOf(domain, 'DKIM 1')
  const [key] = mailhorn.rows<{ public_key: string }>(
    'select public_key from dkim_keys where token = ?',
    dkim1!.value.split('.')[0],
  )
  mailhorn.zone.add(zoneText(recordsOf(domain, 'Verification')))
  mailhorn.zone.add(`${dkim1!.host} TXT "v=DKIM1; k=rsa; p=${key!.public_key}"`)
  assert.is((await verify(domain)).status, 'verified')

  const other = await created()
  const [theirs] = recordsOf(other, 'DKIM 1')
  mailhorn.zone.add(zoneText(recordsOf(other, 'Verification')))
  mailhorn.zone.add(`${theirs!.host} TXT "v=DKIM1; k=rsa; p=AAAA"`)
  const refused = await verify(other)
  assert.equal([refused.status, refused.checks.dkim.status], ['pending', 'failed'])
})

test('name servers that fail leave it pending, and can be asked again', async () => {
  const domain = await created()
  mailhorn.zone.add(zoneText(domain.records))
  const { host } = domain.records[0]
  mailhorn.zone.add(`${host} SERVFAIL`)
  const failing = await verify(domain)
  assert.equal([failing.status, failing.checks.ownership.status], ['pending', 'pending'])
  mailhorn.zone.remove(host)
  mailhorn.zone.add(zoneText(recordsOf(domain, 'Verification')))
  assert.is((await verify(domain)).status, 'verified')
})

test('loses its standing when its records go, and regains it when they come back', async () => {
  const domain = await created()
  mailhorn.zone.add(zoneText(domain.records))
  assert.is((await verify(domain)).status, 'verified')
  for (const { host } of domain.records) mailhorn.zone.remove(host)
  assert.is((await verify(domain)).status, 'temporary_failure')
  const mail = { from: `a@${domain.name}`, to: 'ok@there.example', subject: 's', text: 't' }
  assert.ok(await mailhorn.send(mail), 'mail is still taken')
  mailhorn.zone.add(zoneText(domain.records))
  assert.is((await verify(domain)).status, 'verified')
})

test('fails after three days without its records, and needs but one good check', async () => {
  const [waiting, lost] = [await created(), await created()]
  mailhorn.zone.add(zoneText(lost.records))
  await verify(lost)
  for (const { host } of lost.records) mailhorn.zone.remove(host)
  await verify(lost)
  mailhorn.clock.advance(71 * HOUR_MS)
  assert.is((await verify(waiting)).status, 'pending')
  assert.is((await verify(lost)).status, 'temporary_failure')
  mailhorn.clock.advance(2 * HOUR_MS)
  assert.is((await verify(waiting)).status, 'failed')
  assert.is((await verify(lost)).status, 'failed')
  const mail = { from: `a@${lost.name}`, to: 'ok@there.example', subject: 's', text: 't' }
  const refused = await mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, body: mail })
  assertRefusal(refused, { status: 403, name: 'validation_error', says: /not verified/ })
  mailhorn.zone.add(zoneText(waiting.records))
  assert.is((await verify(waiting)).status, 'verified')
})

test('mail is taken once it is verified, and no longer when it is deleted', async () => {
  const domain = await created()
  const mail = { from: `a@${domain.name}`, to: 'ok@there.example', subject: 's', text: 't' }
  const send = () => mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, body: mail })
  const refusal = { status: 403, name: 'validation_error', says: new RegExp(`${domain.name}.*not verified`) }
  assertRefusal(await send(), refusal)
  mailhorn.zone.add(zoneText(domain.records))
  await verify(domain)
  assert.is((await send()).status, 200)

  const deleted = await mailhorn.call('DELETE', `/domains/${domain.id}`, { session })
  assert.equal([deleted.status, deleted.body], [200, { object: 'domain', id: domain.id, deleted: true }])
  assertRefusal(await send(), { ...refusal, says: new RegExp(`${domain.name}.*not registered`) })
  for (const [method, path] of [
    ['GET', `/domains/${domain.id}`],
    ['DELETE', `/domains/${domain.id}`],
    ['POST', `/domains/${domain.id}/verify`],
  ] as const)
    assertRefusal(await mailhorn.call(method, path, { session }), { status: 404, name: 'not_found' })
  const again = await created(domain.name)
  assert.equal([again.status, again.id === domain.id], ['pending', false])
  assert.is.not(again.records[0].value, domain.records[0].value)
})

test('its private keys are sealed, and shown by no view', async () => {
  const domain = await created()
  const rows = mailhorn.rows<{ private_key: Buffer }>('select private_key from dkim_keys')
  assert.ok(rows.length >= 3)
  for (const { private_key: bytes } of rows) {
    assert.not(bytes.includes('PRIVATE KEY'))
    assert.is.not(bytes[0], 0x30, 'DER begins so')
  }
  assert.not.match(JSON.stringify(domain), /private|MII/i)
})

test.run()
