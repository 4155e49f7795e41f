import * as assert from 'uvu/assert'
import type { DomainChecks } from '../../../../../src/resources/domains/verify.ts'
import { suite } from '../../../../kit/suite.ts'
import { customerZone, HOST, openScene } from './scene.ts'

const test = suite('domains/checks/advice')
const ONE = 'one._domainkey.here.test'
const SPF = `v=spf1 include:${HOST} ~all`
const RETURN_PATH_MX = `feedback-smtp.us-west-2.${HOST}`

const checkIn = (checks: DomainChecks, record: string) =>
  ({
    Verification: checks.ownership,
    'DKIM 1': checks.dkim.selectors[0]!,
    SPF: checks.spf,
    MX: checks.mx,
  })[record]!

/** A record, what stands in its place, the status, the code of the problem, and what the advice says. */
const TABLE: [record: string, line: string, status: string, code: string, says: RegExp][] = [
  [
    'Verification',
    '',
    'pending',
    'missing',
    /Add a TXT record at _svc\.here\.test with the value svc-verify=token/,
  ],
  ['MX', '', 'pending', 'missing', /Add an MX record at send\.here\.test with the value 10 feedback-smtp/],
  [
    'Verification',
    '_svc.here.test.here.test TXT "svc-verify=token"',
    'pending',
    'doubled_zone',
    /is at _svc\.here\.test\.here\.test.*Enter the host as _svc\./,
  ],
  [
    'DKIM 1',
    `${ONE}.here.test CNAME one.dkim.${HOST}`,
    'pending',
    'doubled_zone',
    /Enter the host as one\._domainkey\./,
  ],
  ['SPF', `send.here.test.here.test TXT "${SPF}"`, 'pending', 'doubled_zone', /Enter the host as send\./],
  [
    'MX',
    `send.here.test.here.test MX 10 ${RETURN_PATH_MX}`,
    'pending',
    'doubled_zone',
    /Enter the host as send\./,
  ],
  [
    'Verification',
    'here.test TXT "svc-verify=token"',
    'pending',
    'at_apex',
    /is at here\.test; it must be at _svc/,
  ],
  [
    'SPF',
    `here.test TXT "v=spf1 include:_spf.example include:${HOST} -all"`,
    'pending',
    'at_apex',
    /must be at send\.here\.test/,
  ],
  ['MX', `here.test MX 10 ${RETURN_PATH_MX}`, 'pending', 'at_apex', /must be at send\.here\.test/],
  [
    'Verification',
    '_svc.here.test TXT "svc-verify=token;"',
    'failed',
    'trailing_characters',
    /has ";" after its end/,
  ],
  ['Verification', '_svc.here.test TXT "svc-verify="', 'failed', 'cut_off', /is truncated/],
  ['Verification', '_svc.here.test TXT "SVC-verify=token"', 'failed', 'letter_case', /letter case/],
  [
    'Verification',
    '_svc.here.test TXT "svc-verify=other"',
    'failed',
    'other_value',
    /another account or of an earlier/,
  ],
  [
    'Verification',
    '_svc.here.test CNAME pages.example',
    'pending',
    'alias',
    /alias \(CNAME\) of pages\.example/,
  ],
  ['Verification', '_svc.here.test TXT "\\"svc-verify=token\\""', 'verified', 'quoted', /without quotes/],
  ['SPF', `send.here.test TXT "\\"${SPF}\\""`, 'failed', 'quoted', /quotes/],
  [
    'SPF',
    `send.here.test TXT "${SPF}"\nsend.here.test TXT "v=spf1 -all"`,
    'failed',
    'several_spf',
    /2 SPF records/,
  ],
  [
    'SPF',
    'send.here.test TXT "v=spf1 ~all"',
    'failed',
    'include_missing',
    /add include:mail\.provider\.example before/,
  ],
  [
    'SPF',
    `send.here.test TXT "v=spf1 -all include:${HOST}"`,
    'failed',
    'include_after_all',
    /Move it before/,
  ],
  [
    'SPF',
    `send.here.test TXT "v=spf1 include:${HOST} ipv4:192.0.2.1 ~all"`,
    'failed',
    'spf_syntax',
    /"ipv4:192\.0\.2\.1" is not valid/,
  ],
  ['SPF', `send.here.test TXT "v=spf1 include:${HOST} +all"`, 'verified', 'passes_everybody', /\+all/],
  ['DKIM 1', `${ONE} A 192.0.2.7`, 'failed', 'flattened', /192\.0\.2\.7.*DNS only/],
  ['DKIM 1', `*.here.test A 192.0.2.7`, 'failed', 'flattened', /wildcard/],
  ['DKIM 1', `${ONE} TXT "one.dkim.${HOST}."`, 'failed', 'wrong_type', /must be a CNAME/],
  ['DKIM 1', `${ONE} TXT "v=DKIM1; p="`, 'failed', 'revoked_key', /revoked/],
  ['DKIM 1', `${ONE} TXT "v=DKIM1; p=OTHER"`, 'failed', 'wrong_key', /different key.*CNAME to one\.dkim/],
  [
    'DKIM 1',
    `${ONE} CNAME one.dkim.${HOST}.here.test`,
    'failed',
    'doubled_target',
    /End the value with a dot/,
  ],
  ['DKIM 1', `${ONE} CNAME elsewhere.example`, 'failed', 'other_target', /points to elsewhere\.example/],
  [
    'MX',
    `send.here.test MX 10 ${RETURN_PATH_MX}.here.test`,
    'failed',
    'doubled_target',
    /End the value with a dot/,
  ],
  [
    'MX',
    'send.here.test MX 10 mx.elsewhere.example',
    'failed',
    'other_exchange',
    /other mail servers \(10 mx\.elsewhere/,
  ],
  [
    'MX',
    `send.here.test MX 10 ${RETURN_PATH_MX}\nsend.here.test MX 5 first.example`,
    'failed',
    'extra_mx',
    /first\.example.*Remove them/,
  ],
  [
    'MX',
    `send.here.test MX 10 ${RETURN_PATH_MX}\nsend.here.test MX 20 later.example`,
    'verified',
    'extra_mx',
    /later\.example/,
  ],
]

for (const [record, line, status, code, says] of TABLE)
  test(`${record}: ${line || 'nothing'} is ${status}, ${code}`, async t => {
    const { check } = await openScene(t, customerZone('here.test', { [record]: line }))
    const { checks } = await check()
    const told = checkIn(checks, record)
    assert.equal([told.status, told.problems.map(problem => problem.code)], [status, [code]])
    assert.match(told.advice!, says)
  })

test('advice: correct records have none', async t => {
  const { check } = await openScene(t, `${customerZone()}\nhere.test MX 10 ${HOST}`)
  const { checks } = await check()
  for (const { status, advice, problems } of [
    checks.ownership,
    ...checks.dkim.selectors,
    checks.spf,
    checks.mx,
    checks.receiving!,
  ])
    assert.equal([status, advice, problems], ['verified', null, []])
})

test('advice: records without the label of a subdomain are found', async t => {
  const domain = 'shop.here.test'
  const zone = `here.test NS ns1.hoster.test\n${customerZone(domain, {
    Verification: '_svc.here.test TXT "svc-verify=token"',
    MX: `send.shop.here.test.here.test MX 10 ${RETURN_PATH_MX}`,
  })}`
  const { check } = await openScene(t, zone, { domain })
  const { checks } = await check()
  assert.is(checks.name_servers.zone, 'here.test')
  assert.equal(checks.ownership.problems[0]!.code, 'wrong_level')
  assert.match(
    checks.ownership.advice!,
    /applies to here\.test; for shop\.here\.test it must be at _svc\.shop\.here\.test/,
  )
  assert.match(checks.mx.advice!, /Enter the host as send\.shop\./)
})

test('advice: a key that is missing in the provider zone is not blamed on the customer', async t => {
  const { check, resolver } = await openScene(t, customerZone())
  resolver.remove(`one.dkim.${HOST}`)
  const [first] = (await check()).checks.dkim.selectors
  assert.equal([first!.status, first!.problems[0]!.code], ['pending', 'key_not_visible'])
  assert.match(first!.advice!, /operator of this service/)
})

test('advice: an MX elsewhere is not a failure', async t => {
  const { check } = await openScene(t, `${customerZone()}\nhere.test MX 1 mail.workspace.example`)
  const { receiving } = (await check()).checks
  assert.equal([receiving!.status, receiving!.found], ['pending', ['1 mail.workspace.example']])
  assert.match(
    receiving!.advice!,
    /If it is to, add an MX record at here\.test with the value 10 mail\.provider/,
  )
  assert.is((await check({ receiving: false })).checks.receiving, null)
})

test.run()
