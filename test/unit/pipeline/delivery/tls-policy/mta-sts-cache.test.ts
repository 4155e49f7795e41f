import * as assert from 'uvu/assert'
import {
  createMtaStsCache,
  type StsFault,
} from '../../../../../src/pipeline/delivery/tls-policy/mta-sts-cache.ts'
import { createResolver } from '../../../../../src/protocols/dns/resolver.ts'
import { createOutbound } from '../../../../../src/protocols/http-client/outbound.ts'
import { createManualClock } from '../../../../kit/manual-clock.ts'
import { openLocalStore } from '../../../../kit/store.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { type CertificateName, testAuthority } from '../../../../kit/tls.ts'
import { until } from '../../../../kit/until.ts'
import { startWebHost, type WebRequest } from '../../../../kit/web-host.ts'
import { startZone } from '../../../../kit/zone.ts'

const test = suite('MTA-STS cache')
const DAY_MS = 24 * 3_600_000
const policyText = (mode = 'enforce', maxAgeSeconds = 7 * 86_400) =>
  `version: STSv1\nmode: ${mode}\nmx: *.there.test\nmax_age: ${maxAgeSeconds}\n`

interface Served {
  status?: number
  type?: string
  body?: string
  headers?: Record<string, string>
}

async function open(t: TestContext, certificate: CertificateName = 'good') {
  const served: Served = {}
  const answer = (_: WebRequest, response: import('node:http').ServerResponse) => {
    response.writeHead(served.status ?? 200, {
      'content-type': served.type ?? 'text/plain',
      ...served.headers,
    })
    response.end(served.body ?? policyText())
  }
  const web = await t.using(startWebHost({ certificate, answer }))
  const zone = await t.using(
    startZone('mta-sts.there.test A 127.0.0.1\n_mta-sts.there.test TXT "v=STSv1; id=1"'),
  )
  const clock = createManualClock()
  const resolver = createResolver({ servers: [zone.server], clock, timeoutMs: 10_000, tries: 1 })
  const outbound = createOutbound({ resolver, clock, allowLoopback: true, authorities: [testAuthority()] })
  const store = await t.using(openLocalStore())
  t.after(() => {
    outbound.close()
    resolver.close()
  })
  const faults: [string, StsFault['type']][] = []
  const openBook = () =>
    createMtaStsCache({
      resolver,
      outbound,
      find: store.find,
      run: store.run,
      clock,
      port: web.port,
      onFault: (domain, { type }) => void faults.push([domain, type]),
      onError(error) {
        throw error
      },
    })
  const setId = (id: string | null) => {
    zone.remove('_mta-sts.there.test')
    if (id !== null) zone.add(`_mta-sts.there.test TXT "v=STSv1; id=${id}"`)
    clock.advance(61_000)
  }
  const remaining = () => store.rows<{ policy_id: string }>('select policy_id from mta_sts_policies')
  return { web, zone, clock, served, faults, book: openBook(), openBook, setId, remaining }
}

const POLICY = { domain: 'there.test', mode: 'enforce', mx: ['*.there.test'], maxAgeSeconds: 604_800 }

test('a policy is fetched once and stored', async t => {
  const { book, openBook, web, remaining } = await open(t)
  const found = await Promise.all(Array.from({ length: 5 }, () => book.policyOf('there.test')))
  for (const policy of found) assert.equal(policy, POLICY)
  assert.equal(
    [web.requests[0]!.path, web.requests[0]!.headers.host],
    ['/.well-known/mta-sts.txt', `mta-sts.there.test:${web.port}`],
  )
  assert.equal(await openBook().policyOf('there.test'), POLICY)
  assert.is(web.requests.length, 1)
  assert.equal(remaining(), [{ policy_id: '1' }])
})

test('a domain without a record has no policy, and nothing is fetched', async t => {
  const { book, web, zone } = await open(t)
  assert.is(await book.policyOf('other.test'), null)
  assert.is(web.requests.length, 0)
  assert.equal(
    zone.queries.map(({ name, type }) => `${name} ${type}`),
    ['_mta-sts.other.test TXT'],
  )
})

test('when DNS does not answer, the policy is unknown', async t => {
  const { book, zone } = await open(t)
  zone.set('_mta-sts.there.test SERVFAIL')
  assert.is(await book.policyOf('there.test'), undefined)
})

test('a new id brings the new policy, and mode none is no policy', async t => {
  const { book, served, setId, web, remaining } = await open(t)
  await book.policyOf('there.test')
  served.body = policyText('testing')
  setId('2')
  assert.is((await book.policyOf('there.test'))?.mode, 'testing')
  served.body = policyText('none')
  setId('3')
  assert.is(await book.policyOf('there.test'), null)
  assert.is(await book.policyOf('there.test'), null)
  assert.is(web.requests.length, 3)
  assert.equal(remaining(), [{ policy_id: '3' }])
})

test('a policy applies until it expires, even if its record and host disappear', async t => {
  const { book, served, setId, clock } = await open(t)
  await book.policyOf('there.test')
  served.status = 500
  setId('2')
  assert.equal(await book.policyOf('there.test'), POLICY)
  setId(null)
  assert.equal(await book.policyOf('there.test'), POLICY)
  clock.advance(7 * DAY_MS)
  assert.is(await book.policyOf('there.test'), null)
})

test('a policy is renewed after a day without delaying mail', async t => {
  const { book, web, clock, served } = await open(t)
  await book.policyOf('there.test')
  clock.advance(DAY_MS)
  served.body = policyText('enforce', 3_600)
  assert.equal(await book.policyOf('there.test'), POLICY)
  await until(() => web.requests.length === 2)
  await until(async () => (await book.policyOf('there.test'))?.maxAgeSeconds === 3_600)
  clock.advance(1_801_000)
  await book.policyOf('there.test')
  await until(() => web.requests.length === 3)
})

for (const [what, served, type] of [
  ['is not there', { status: 404 }, 'sts-policy-fetch-error'],
  [
    'is elsewhere',
    { status: 301, headers: { location: 'https://mta-sts.there.test/x' } },
    'sts-policy-fetch-error',
  ],
  ['is a page', { type: 'text/html' }, 'sts-policy-invalid'],
  ['says nothing known', { body: 'version: STSv9' }, 'sts-policy-invalid'],
  ['has no end', { body: `${policyText()}${'x: y\n'.repeat(20_000)}` }, 'sts-policy-fetch-error'],
] as [string, Served, string][])
  test(`a policy that ${what} is reported, and asked for again after five minutes, then ten`, async t => {
    const book = await open(t)
    Object.assign(book.served, served)
    const ask = () => book.book.policyOf('there.test')
    assert.is(await ask(), undefined)
    assert.equal(book.faults, [['there.test', type]])
    const requestsAfter = async (ms: number) => {
      book.clock.advance(ms)
      await ask()
      return book.web.requests.length
    }
    assert.equal(
      [
        await requestsAfter(299_000),
        await requestsAfter(1_000),
        await requestsAfter(599_000),
        await requestsAfter(1_000),
      ],
      [1, 2, 2, 3],
    )
  })

for (const certificate of ['expired', 'wrong-name', 'self-signed'] as const)
  test(`a policy host with the ${certificate} certificate is not believed`, async t => {
    const { book, faults, web } = await open(t, certificate)
    assert.is(await book.policyOf('there.test'), undefined)
    assert.equal(faults, [['there.test', 'sts-webpki-invalid']])
    assert.is(web.requests.length, 0)
  })

test('a policy host that does not answer delays mail by ten seconds at most', async t => {
  const silent = await t.using(startWebHost({ answer() {} }))
  const { clock, zone, openBook } = await open(t)
  zone.set(`mta-sts.there.test A 127.0.0.1\n_mta-sts.there.test TXT "v=STSv1; id=1"`)
  const resolver = createResolver({ servers: [zone.server], clock, timeoutMs: 10_000, tries: 1 })
  const outbound = createOutbound({ resolver, clock, allowLoopback: true, authorities: [testAuthority()] })
  t.after(() => {
    outbound.close()
    resolver.close()
  })
  const store = await t.using(openLocalStore())
  const book = createMtaStsCache({
    resolver,
    outbound,
    find: store.find,
    run: store.run,
    clock,
    port: silent.port,
    onFault() {},
    onError() {},
  })
  const asking = book.policyOf('there.test')
  await until(() => silent.requests.length === 1)
  clock.advance(10_000)
  assert.is(await asking, undefined)
  assert.is((await openBook().policyOf('there.test'))?.mode, 'enforce')
})

test.run()
