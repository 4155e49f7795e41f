import * as assert from 'uvu/assert'
import { suite } from '../../../../kit/suite.ts'
import { customerZone, delegation, openScene, SOA, startNameServers } from './scene.ts'

const test = suite('domains/checks/name-servers')
const codes = ({ problems }: { problems: { code: string }[] }) => problems.map(({ code }) => code)

test('name servers: those of the zone are queried', async t => {
  await startNameServers(t, `${SOA}\n${customerZone()}`, `${SOA}\n${customerZone()}`)
  const { check } = await openScene(t, `${delegation(2)}\n${customerZone()}`)
  const { checks } = await check()
  assert.equal(checks.name_servers, {
    status: 'verified',
    zone: 'here.test',
    servers: [
      { name: 'ns1.hoster.test', address: '127.0.0.10', status: 'answers', reason: null },
      { name: 'ns2.hoster.test', address: '127.0.0.11', status: 'answers', reason: null },
    ],
    advice: null,
    problems: [],
  })
  for (const each of [checks.ownership, ...checks.dkim.selectors, checks.spf, checks.mx])
    assert.equal(
      each.name_servers.map(({ server, status }) => [server, status]),
      [
        ['ns1.hoster.test (127.0.0.10)', 'verified'],
        ['ns2.hoster.test (127.0.0.11)', 'verified'],
      ],
    )
})

test('name servers: a record hidden by a cached answer is waited for', async t => {
  await startNameServers(t, `${SOA}\n${customerZone()}`)
  const wrong = '_svc.here.test 720 TXT "svc-verify=old"'
  const { check } = await openScene(
    t,
    `${delegation(1)}\n${customerZone('here.test', { Verification: wrong, MX: '' })}`,
  )
  const { checks, ownership } = await check()
  assert.equal([checks.ownership.status, ...codes(checks.ownership)], ['failed', 'old_answer_cached'])
  assert.match(checks.ownership.advice!, /still returns a cached answer, for up to 12 min\. Wait; no action/)
  assert.equal(codes(checks.mx), ['old_answer_cached'])
  assert.is(ownership, 'unknown', 'it takes nothing away from the domain')
})

test('name servers: a removed record that resolvers still cache is reported', async t => {
  await startNameServers(t, SOA)
  const zone = customerZone('here.test', { Verification: '_svc.here.test 300 TXT "svc-verify=token"' })
  const { check } = await openScene(t, `${delegation(1)}\n${zone}`)
  const { checks, ownership } = await check()
  assert.equal([checks.ownership.status, ownership], ['verified', 'right'])
  assert.match(checks.ownership.advice!, /no longer have the record \(ns1.*drop it in 5 min at the latest/)
  assert.equal(codes(checks.ownership), ['vanishing'])
})

test('name servers: different answers are reported', async t => {
  await startNameServers(t, `${SOA}\n${customerZone()}`, SOA)
  const { check } = await openScene(t, delegation(2))
  const { ownership } = (await check()).checks
  assert.equal([ownership.status, ...codes(ownership)], ['pending', 'name_servers_disagree'])
  assert.match(ownership.advice!, /is at ns1\.hoster\.test \(127\.0\.0\.10\), but not at ns2/)
})

test('name servers: unusable ones are reported, the others are queried', async t => {
  await startNameServers(t, `${SOA}\n${customerZone()}`, 'here.test REFUSED', 'here.test TIMEOUT')
  const zone = `${delegation(3)}
    here.test NS ns4.hoster.test
    here.test NS ns0.hoster.test
    ns0.hoster.test A 10.0.0.1
    ${customerZone()}`
  const { check } = await openScene(t, zone, { silenceMs: 300 })
  const { checks } = await check()
  assert.equal(
    checks.name_servers.servers.map(({ name, status, reason }) => [name.slice(0, 3), status, reason]),
    [
      ['ns0', 'not_public', 'has no public address'],
      ['ns1', 'answers', null],
      ['ns2', 'lame', 'answers with REFUSED'],
      ['ns3', 'silent', 'does not answer (nothing within 0.3 s)'],
    ],
  )
  assert.is(checks.name_servers.status, 'verified')
  assert.match(
    checks.name_servers.advice!,
    /The name server ns2\.hoster\.test of here\.test answers with REFUSED\./,
  )
  assert.is(checks.ownership.name_servers.length, 1)
  assert.is(checks.ownership.status, 'verified')
})

test('name servers: a zone without server addresses is reported', async t => {
  await startNameServers(t, SOA)
  const { check, resolver } = await openScene(t, `${delegation(1)}\nns1.hoster.test A 127.0.0.1`)
  resolver.set('here.test NS ns9.hoster.test')
  const { checks } = await check()
  assert.equal(
    checks.name_servers.servers.map(({ status }) => status),
    ['no_address'],
  )
  assert.is(checks.name_servers.status, 'failed')
})

test('name servers: a delegation mismatch is reported', async t => {
  await startNameServers(t, `${SOA}\n${customerZone()}\n${delegation(1)}`)
  const above = 'test NS ns9.registry.test\nns9.registry.test A 127.0.0.10'
  const { check } = await openScene(
    t,
    `${above}\nhere.test NS ns8.hoster.test\nns8.hoster.test A 127.0.0.10\n${customerZone()}`,
  )
  const { name_servers: servers } = (await check()).checks
  assert.equal(codes(servers), ['name_servers_differ'])
  assert.match(
    servers.advice!,
    /names ns8\.hoster\.test as its name servers, but the parent zone delegates to ns1/,
  )
})

test('name servers: a delegation mismatch is reported where the parent zone begins several labels above', async t => {
  const domain = 'here.shop.town.test'
  const zone = customerZone(domain)
  await startNameServers(t, `${SOA.replace('here.test', domain)}\n${zone}\n${delegation(1, domain)}`)
  const { check } = await openScene(
    t,
    `test NS ns9.registry.test\nns9.registry.test A 127.0.0.10
    ${domain} NS ns8.hoster.test\nns8.hoster.test A 127.0.0.10\n${zone}`,
    { domain },
  )
  const { name_servers: servers } = (await check()).checks
  assert.equal(codes(servers), ['name_servers_differ'])
  assert.match(servers.advice!, /ns8\.hoster\.test .*, but the parent zone delegates to ns1\.hoster\.test/)
})

test('name servers: without answers the previous result is kept', async t => {
  const { check, resolver } = await openScene(t, customerZone(), { silenceMs: 300 })
  const { checks: former } = await check()
  for (const trouble of ['SERVFAIL', 'REFUSED', 'TIMEOUT', 'MALFORMED']) {
    resolver.set(`*.test ${trouble}`)
    const { checks, ownership, selectors } = await check({ former })
    assert.equal([ownership, ...selectors], Array(4).fill('unknown'), trouble)
    for (const each of [checks.ownership, ...checks.dkim.selectors, checks.spf, checks.mx])
      assert.equal([each.status, codes(each).at(-1)], ['verified', 'still_counted'], trouble)
    const fresh = await check()
    assert.equal([fresh.checks.ownership.status, ...codes(fresh.checks.ownership)], ['pending', 'no_answer'])
  }
})

test('name servers: a record is gone if definite answers outnumber lost ones', async t => {
  const silent = '*.test SERVFAIL'
  const standing = async (...zones: string[]) => {
    const { check } = await openScene(t, zones[0]!, { further: zones.slice(1) })
    return (await check()).ownership
  }
  assert.is(await standing('x.test A 192.0.2.1', silent), 'unknown')
  assert.is(await standing('x.test A 192.0.2.1', silent, silent), 'unknown')
  assert.is(await standing('x.test A 192.0.2.1', 'x.test A 192.0.2.1', silent), 'gone')
  assert.is(await standing(customerZone(), silent, 'x.test A 192.0.2.1'), 'right')
})

test.run()
