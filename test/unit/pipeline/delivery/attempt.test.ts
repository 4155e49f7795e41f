import { setImmediate as turn } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/lib/clock.ts'
import { attemptHosts } from '../../../../src/pipeline/delivery/attempt.ts'
import type { AttemptResult } from '../../../../src/pipeline/delivery/outcome/attempt-result.ts'
import { createSessionPool } from '../../../../src/pipeline/delivery/sessions/session-pool.ts'
import { createHostTlsPolicies } from '../../../../src/pipeline/delivery/tls-policy/host-tls-policy.ts'
import type { MessageTls } from '../../../../src/pipeline/delivery/tls-policy/next-hop.ts'
import type { FakeMxOptions } from '../../../kit/fake-mx.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'
import { testAuthority } from '../../../kit/tls.ts'
import { HOSTS, mailTo, open, SITE, short, wayOver } from './open-attempt.ts'

const test = suite('attempt')

const trustingPolicies = () =>
  createHostTlsPolicies({ clock: systemClock, authorities: [testAuthority()], dane: null })

test('the first host accepts the message, and no other is contacted', async t => {
  const { to, mxs } = await open(t, HOSTS, {}, {})
  const result = await to('ok')
  assert.equal(short(result), ['delivered', 'mx1.test final-dot 250'])
  const [{ host, ip, tls, tlsFallback, phases }] = result.hostAttempts as [AttemptResult['hostAttempts'][0]]
  assert.equal([host, ip, tls, tlsFallback], ['mx1.test', '127.0.0.2', null, null])
  for (const phase of ['connect', 'banner', 'ehlo', 'mail', 'rcpt', 'data', 'final-dot'] as const)
    assert.match(
      phases.find(([name]) => name === phase)?.[2] ?? '',
      phase === 'connect' ? /^$/ : /^[23]\d\d /,
      phase,
    )
  assert.equal(
    mxs.map(({ messages }) => messages.length),
    [1, 0],
  )
  assert.equal(mxs[0]!.violations, [])
})

test('a host that cannot be reached is skipped', async t => {
  const { to, mxs } = await open(t, HOSTS.replace('127.0.0.2', '127.0.0.99'), {}, {})
  const result = await to('ok')
  assert.equal(short(result), ['delivered', 'mx1.test connect con', 'mx2.test final-dot 250'])
  assert.match(result.hostAttempts[0]!.reply, /ECONNREFUSED/)
  assert.is(mxs[1]!.messages.length, 1)
})

test('a host that refuses the connection is skipped', async t => {
  const { to } = await open(t, HOSTS, { at: { banner: '554 5.7.1 no' } }, {})
  assert.equal(short(await to('ok')), ['delivered', 'mx1.test banner 554', 'mx2.test final-dot 250'])
})

test('all addresses of a host are tried before the next host', async t => {
  const { to } = await open(t, `mx1.test A 127.0.0.98\nmx1.test A 127.0.0.99\nmx2.test A 127.0.0.2`, {})
  const { hostAttempts } = await to('ok')
  assert.equal(
    hostAttempts.map(({ ip }) => ip.replace(/9[89]$/, '9x')),
    ['127.0.0.9x', '127.0.0.9x', '127.0.0.2'],
  )
})

const deadAddresses = (count: number) =>
  Array.from({ length: count }, (_, i) => `mx1.test A 127.0.0.${90 + i}`).join('\n')

test('hosts of equal preference are tried in random order', async t => {
  const { mxs, options } = await open(t, HOSTS, { acceptThenClose: true }, { acceptThenClose: true })
  const hosts = ['mx1.test', 'mx2.test'].map(name => ({ name, preference: 10 }))
  const lots = [0.99, 0, 0.99, 0]
  for (const lot of lots)
    await attemptHosts({ ...options, random: () => lot }, { ...wayOver([]), hosts }, mailTo('ok'))
  assert.equal(
    mxs.map(mx => mx.messages.length),
    [2, 2],
  )
})

test('each host gets its share of the ten addresses', async t => {
  const { to } = await open(t, `${deadAddresses(12)}\nmx2.test A 127.0.0.2`, {})
  assert.is((await to('ok', ['mx1.test'])).hostAttempts.length, 10)
  assert.equal(short(await to('ok', ['mx1.test', 'mx2.test'])), [
    'delivered',
    ...new Array(5).fill('mx1.test connect con'),
    'mx2.test final-dot 250',
  ])
})

test('the part of its share that one host leaves goes to the others', async t => {
  const { to } = await open(t, deadAddresses(12).replaceAll('mx1', 'mx2'), {})
  assert.is((await to('ok', ['mx1.test', 'mx2.test'])).hostAttempts.length, 10)
})

for (const [what, host, verdict] of [
  ['sends us away', { at: { banner: '554 5.7.1 no' } }, 'banner 554'],
  ['is too small', { extensions: ['SIZE 10'] }, 'mail 552'],
] as const)
  test(`a host of many addresses that ${what} does not keep the next one from being asked`, async t => {
    const count = 5
    const zone = Array.from({ length: count }, (_, i) => `mx1.test A 127.0.0.${i + 2}`).join('\n')
    const many = new Array<FakeMxOptions>(count).fill({ ...host, extensions: [...(host.extensions ?? [])] })
    const { to } = await open(t, `${zone}\nmx2.test A 127.0.0.${count + 2}`, ...many, {})
    const result = short(await to('ok', ['mx1.test', 'mx2.test']))
    assert.equal(
      [result[0], result[1], result.at(-1)],
      ['delivered', `mx1.test ${verdict}`, 'mx2.test final-dot 250'],
    )
  })

test('while hosts are left untried, no refusal is permanent', async t => {
  const names = Array.from({ length: 11 }, (_, i) => `mx${i}.test`)
  const zone = names.map(name => `${name} A 127.0.0.2`).join('\n')
  const { to } = await open(t, zone, { at: { banner: '554 5.7.1 no' } })
  const some = await to('ok', names)
  assert.equal([some.hostAttempts.length, some.kind], [10, 'deferred'])
  assert.is(some.text, '1 more hosts were not tried')
  assert.is((await to('ok', names.slice(1))).kind, 'bounced')
})

test('at most two sessions are opened', async t => {
  const busy = { at: { mail: '451 4.3.2 busy' } }
  const { to, mxs } = await open(t, HOSTS, busy, busy, {})
  assert.equal(short(await to('ok')), ['deferred unknown', 'mx1.test mail 451', 'mx2.test mail 451'])
  assert.is(mxs[2]!.sessionCount, 0)
})

for (const early of ['250 2.0.0 queued early', '250 ok', '251 2.1.5 will forward'])
  test(`${early}: acceptance before the message was sent is not the reason of the deferral, the breach is`, async t => {
    const { to } = await open(t, HOSTS, { at: { data: `354 go ahead\r\n${early}` } })
    const { kind, reply, text, hostAttempts } = await to('ok', ['mx1.test'])
    assert.equal([kind, reply], ['deferred', null])
    assert.match(text, /^the peer sent "25[01] .*" unasked$/)
    assert.is(hostAttempts[0]!.reply, text)
  })

test('a refusal that names an address, a domain or a host of ours does not blame the recipient', async t => {
  const answerText = [
    ['550 5.1.1 <bob@there.test> does not exist', true],
    ['550 5.1.1 <ann@acme.test> does not exist', false],
    ['550 <bob@there.test>: Recipient address rejected: Domain acme.test not found', false],
    ['550 5.1.1 mailbox b+token@send.here.test not found', false],
    ['550 5.1.2 out.mailhorn.test: no such host', false],
  ] as const
  for (const [rcpt, blamesAddress] of answerText) {
    const { options } = await open(t, HOSTS, { at: { rcpt } })
    const message = [Buffer.from('From: Ann <ann@acme.test>\r\nSubject: hello\r\n\r\nHello there.\r\n')]
    const transaction = mailTo('bob', { message, size: message[0]!.length })
    const result = await attemptHosts(options, wayOver(['mx1.test']), transaction)
    assert.equal([result.kind, result.blamesAddress ?? false], ['bounced', blamesAddress], rcpt)
  }
})

test('421 before the message makes the attempt try the next host', async t => {
  for (const point of ['ehlo', 'mail', 'rcpt', 'data'] as const) {
    const { to } = await open(t, HOSTS, { at: { [point]: '421 4.3.2 closing' } }, {})
    assert.equal(
      short(await to('ok')),
      ['delivered', `mx1.test ${point} 421`, 'mx2.test final-dot 250'],
      point,
    )
  }
})

test('a connection lost before the final dot makes the attempt try the next host', async t => {
  for (const fault of ['drop-after-rcpt', 'drop-after-data']) {
    const { to, mxs } = await open(t, HOSTS, {}, { at: { rcpt: () => undefined } })
    const result = await to(fault)
    assert.is(result.hostAttempts.length, 2, fault)
    assert.is(result.kind, 'deferred')
    assert.is(mxs[1]!.sessionCount, 1)
  }
})

test('after the final dot no other host is tried, because the message may have arrived', async t => {
  const { to, mxs } = await open(t, HOSTS, {}, {})
  const result = await to('drop-after-dot')
  assert.is(result.kind, 'deferred')
  assert.is(result.phase, 'final-dot')
  assert.is(result.hostAttempts.length, 1)
  assert.is(mxs[1]!.sessionCount, 0)
})

for (const [recipient, expected] of [
  ['defer-451', ['deferred unknown', 'mx1.test rcpt 451']],
  ['full-452-422', ['deferred mailbox-full', 'mx1.test rcpt 452']],
  ['perm-550-511', ['bounced invalid-recipient', 'mx1.test rcpt 550']],
  ['data-554', ['bounced content', 'mx1.test data 554']],
  ['dot-451', ['deferred unknown', 'mx1.test final-dot 451']],
  ['dot-554-571', ['bounced content', 'mx1.test final-dot 554']],
] as const)
  test(`a verdict about the recipient ends the attempt: ${recipient}`, async t => {
    const { to, mxs } = await open(t, HOSTS, {}, {})
    assert.equal(short(await to(recipient)), [...expected])
    assert.is(mxs[1]!.sessionCount, 0)
  })

const SMALL: FakeMxOptions = { extensions: ['SIZE 10', 'SMTPUTF8'] }
const TOO_SMALL = 'mx1.test mail 552'

test('a message that one host rules out goes to the next one, however many there are', async t => {
  const { to, mxs } = await open(t, HOSTS, SMALL, SMALL, {})
  assert.equal(short(await to('ok')), ['delivered', TOO_SMALL, 'mx2.test mail 552', 'mx3.test final-dot 250'])
  assert.not.ok(mxs[0]!.transcript.some(line => / MAIL /.test(line)))
})

test('a message that all hosts rule out bounces', async t => {
  const { to } = await open(t, HOSTS, SMALL, SMALL)
  assert.equal(short(await to('ok', ['mx1.test', 'mx2.test'])), [
    'bounced message-too-large',
    TOO_SMALL,
    'mx2.test mail 552',
  ])
})

test('a message that all reachable hosts rule out is deferred while another host is down', async t => {
  const { to } = await open(t, HOSTS.replace('127.0.0.3', '127.0.0.99'), SMALL)
  assert.equal(short(await to('ok', ['mx1.test', 'mx2.test'])), [
    'deferred unknown',
    TOO_SMALL,
    'mx2.test connect con',
  ])
})

test('a host that rules the message out on a reused session is not dialled again', async t => {
  const { options, mxs } = await open(t, HOSTS, SMALL, {})
  const nextHop = wayOver(['mx1.test', 'mx2.test'])
  await attemptHosts(options, nextHop, mailTo('ok', { size: 5 }))
  assert.equal(short(await attemptHosts(options, nextHop, mailTo('ok'))), [
    'delivered',
    TOO_SMALL,
    'mx2.test final-dot 250',
  ])
  assert.is(mxs[0]!.sessionCount, 1)
})

test('a message that the only host rules out on a reused session bounces', async t => {
  const { options, mxs } = await open(t, HOSTS, SMALL)
  const nextHop = wayOver(['mx1.test'])
  await attemptHosts(options, nextHop, mailTo('ok', { size: 5 }))
  assert.equal(short(await attemptHosts(options, nextHop, mailTo('ok'))), [
    'bounced message-too-large',
    TOO_SMALL,
  ])
  assert.is(mxs[0]!.sessionCount, 1)
})

test('a bounce needs a permanent refusal of every host', async t => {
  const gone = { at: { banner: '554 5.7.1 no' } }
  const { to } = await open(t, HOSTS, gone, gone, {})
  assert.equal(short(await to('ok', ['mx1.test', 'mx2.test'])), [
    'bounced policy',
    'mx1.test banner 554',
    'mx2.test banner 554',
  ])
  const later = await open(t, HOSTS, gone, { at: { banner: '421 4.3.2 later' } }, {})
  assert.is((await later.to('ok', ['mx1.test', 'mx2.test'])).kind, 'deferred')
})

test('the result names the host that gave it, which need not be the last one', async t => {
  const gone = { at: { banner: '554 5.7.1 no' } }
  const busy = { at: { banner: '421 4.3.2 later' } }
  const by = async (...hosts: FakeMxOptions[]) => {
    const { to } = await open(t, HOSTS, ...hosts)
    const { kind, text, by } = await to('ok', ['mx1.test', 'mx2.test'])
    return [kind, text.slice(0, 3), by?.host]
  }
  assert.equal(await by(busy, gone), ['deferred', '421', 'mx1.test'])
  assert.equal(await by(gone, busy), ['deferred', '421', 'mx2.test'])
  assert.equal(await by(gone, gone), ['bounced', '554', 'mx2.test'])
  assert.equal(await by(gone, {}), ['delivered', '250', 'mx2.test'])
})

test('a result that no host gave names none', async t => {
  const { to } = await open(t, `${HOSTS}\nservfail.test SERVFAIL`, { at: { banner: '554 5.7.1 no' } })
  const { kind, text, by, hostAttempts } = await to('ok', ['mx1.test', 'servfail.test'])
  assert.equal([kind, by, hostAttempts.length], ['deferred', undefined, 1])
  assert.match(text, /servfail\.test/)
})

test('private addresses are refused unless allowed', async t => {
  const { to, mxs } = await open(t, HOSTS, {})
  const result = await to('ok', ['mx1.test'], { allowPrivateAddresses: false })
  assert.equal(short(result), ['bounced no-route'])
  assert.is(result.text, 'mx1.test has the private address 127.0.0.2')
  assert.is(mxs[0]!.sessionCount, 0)
})

test('private addresses do not count towards the ten, and other hosts are tried', async t => {
  const many = Array.from({ length: 9 }, (_, i) => `mx1.test A 10.0.0.${i}`).join('\n')
  const { to } = await open(t, `${many}\nmx2.test SERVFAIL`, {})
  const result = await to('ok', ['mx1.test', 'mx2.test'], { allowPrivateAddresses: false })
  assert.equal(short(result), ['deferred unknown'])
  assert.match(result.text, /the address of mx2\.test is not known: .*SERVFAIL/)
})

test('a host without an address bounces; one whose lookup fails defers', async t => {
  const { to } = await open(t, `mx1.test TXT nothing\nmx2.test A 127.0.0.2\nmx3.test SERVFAIL`, {})
  const none = await to('ok', ['mx1.test', 'gone.test'])
  assert.equal(short(none), ['bounced no-route'])
  assert.is(none.text, 'gone.test has no address')
  assert.equal(short(await to('ok', ['mx1.test', 'mx3.test'])), ['deferred unknown'])
  assert.equal(short(await to('ok', ['mx3.test', 'mx1.test', 'mx2.test'])), [
    'delivered',
    'mx2.test final-dot 250',
  ])
})

test('a session is reused for the next message', async t => {
  const { to, mxs } = await open(t, HOSTS, {})
  await to('ok')
  await to('perm-550-511')
  const { hostAttempts } = await to('ok2')
  assert.is(mxs[0]!.sessionCount, 1)
  assert.equal(
    mxs[0]!.messages.map(({ rcptTo }) => rcptTo[0]),
    ['ok@there.test', 'ok2@there.test'],
  )
  assert.equal(
    hostAttempts[0]!.phases.map(([phase]) => phase),
    ['mail', 'rcpt', 'data', 'body', 'final-dot'],
  )
  assert.equal(mxs[0]!.violations, [])
})

test('a session that the peer has closed is replaced without a host attempt', async t => {
  const at = { mail: (times: number) => (times === 1 ? ('drop' as const) : undefined) }
  const { to, mxs } = await open(t, HOSTS, { at })
  await to('ok')
  assert.equal(short(await to('ok2')), ['delivered', 'mx1.test final-dot 250'])
  assert.is(mxs[0]!.sessionCount, 2)
})

test('a reused session that ends with 421 at MAIL is replaced without a host attempt', async t => {
  const at = { mail: (times: number) => (times === 1 ? '421 4.7.0 too many messages' : undefined) }
  const { to, mxs } = await open(t, HOSTS, { at })
  await to('ok')
  assert.equal(short(await to('ok2')), ['delivered', 'mx1.test final-dot 250'])
  assert.is(mxs[0]!.sessionCount, 2)
})

test('a reused session that ends later is a host attempt, and the hosts are tried anew', async t => {
  const at = { rcpt: (times: number) => (times === 1 ? '421 4.7.0 too many messages' : undefined) }
  const { to, mxs } = await open(t, HOSTS, { at })
  await to('ok')
  assert.equal(short(await to('ok2')), ['delivered', 'mx1.test rcpt 421', 'mx1.test final-dot 250'])
  assert.is(mxs[0]!.sessionCount, 2)
})

test('a refusal on a reused session is a refusal', async t => {
  const { to, mxs } = await open(t, HOSTS, {}, {})
  await to('ok')
  assert.equal(short(await to('perm-550-511')), ['bounced invalid-recipient', 'mx1.test rcpt 550'])
  assert.is(mxs[0]!.sessionCount, 1)
})

test('TLS is used if offered, and a verified certificate is recorded', async t => {
  const plain = await open(t, HOSTS, { tls: 'good' })
  const [{ tls, policy }] = (await plain.to('ok')).hostAttempts as [AttemptResult['hostAttempts'][0]]
  assert.equal(
    [tls?.version, tls?.verified, tls?.reason],
    ['TLSv1.3', false, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  )
  assert.match(tls!.cipher, /AES|CHACHA/)
  assert.is(policy, 'none')
  const trusting = await open(t, 'mx.test A 127.0.0.2', { tls: 'good' })
  assert.is(
    (await trusting.to('ok', ['mx.test'], { tlsPolicies: trustingPolicies() })).hostAttempts[0]!.tls
      ?.verified,
    true,
  )
})

test('a host that fails on current TLS options gets reduced ones for an hour', async t => {
  const at = { tls: (times: number) => (times % 2 === 0 && times < 4 ? ('drop' as const) : undefined) }
  const { to, mxs } = await open(t, 'mx.test A 127.0.0.2', { tls: 'good', at, acceptThenClose: true })
  const clock = createManualClock()
  const tlsPolicies = createHostTlsPolicies({ clock, authorities: [testAuthority()], dane: null })
  const versionOf = async (requests: MessageTls) =>
    (await to('ok', ['mx.test'], { tlsPolicies }, requests)).hostAttempts[0]!.tls?.version
  assert.is(await versionOf('any'), 'TLSv1.2')
  assert.is(mxs[0]!.sessionCount, 2)
  clock.advance(3_600_000)
  assert.is(await versionOf('enforced'), 'TLSv1.2')
  assert.is(mxs[0]!.sessionCount, 4)
  assert.is(await versionOf('enforced'), 'TLSv1.2')
  assert.is(await versionOf('any'), 'TLSv1.2')
  assert.is(mxs[0]!.sessionCount, 6)
  clock.advance(3_600_000)
  assert.is(await versionOf('any'), 'TLSv1.3')
})

test('a host whose TLS failed gets plain text at once for an hour', async t => {
  const { to, mxs } = await open(t, HOSTS, { tls: 'handshake-fails' })
  const clock = createManualClock()
  const tlsPolicies = createHostTlsPolicies({ clock, dane: null })
  const hostAttempt = async () => {
    const fresh = createSessionPool(systemClock, { messagesPerConnection: () => 100 })
    const { hostAttempts } = await to('ok', ['mx1.test'], { tlsPolicies, pool: fresh })
    await fresh.close()
    return hostAttempts[0]!
  }
  for (const sessions of [3, 4]) {
    assert.match((await hostAttempt()).tlsFallback ?? '', /wrong version|closed the connection/i)
    assert.is(mxs[0]!.sessionCount, sessions)
  }
  clock.advance(3_600_000)
  await hostAttempt()
  assert.is(mxs[0]!.sessionCount, 7)
})

test('a session in plain text states why as long as it is kept', async t => {
  const { to } = await open(t, HOSTS, { tls: 'handshake-fails' })
  const tlsPolicies = createHostTlsPolicies({ clock: systemClock, dane: null })
  for (const fresh of [true, true, false]) {
    const pool = fresh ? createSessionPool(systemClock, { messagesPerConnection: () => 1 }) : undefined
    const { hostAttempts } = await to('ok', ['mx1.test'], { tlsPolicies, ...(pool && { pool }) })
    await pool?.close()
    assert.ok(hostAttempts[0]!.tlsFallback)
  }
  const { hostAttempts } = await to('ok', ['mx1.test'], { tlsPolicies })
  assert.not.ok(
    hostAttempts[0]!.phases.some(([phase]) => phase === 'connect'),
    'the session of the last',
  )
  assert.ok(hostAttempts[0]!.tlsFallback)
})

test('a host that refuses STARTTLS temporarily is asked again next time', async t => {
  const { to, mxs } = await open(t, HOSTS, { tls: 'refused-454', acceptThenClose: true })
  await to('ok', ['mx1.test'])
  await to('ok', ['mx1.test'])
  assert.is(mxs[0]!.transcript.filter(line => line.endsWith('C: STARTTLS')).length, 2)
})

test('a host that requires TLS and fails at it is deferred, and TLS is tried each time', async t => {
  let isBroken = true
  const at = { tls: () => (isBroken ? ('drop' as const) : undefined) }
  const { to, mxs } = await open(t, HOSTS, { tls: 'good', insistsOnTls: true, at })
  assert.equal(short(await to('ok', ['mx1.test'])), ['deferred policy', 'mx1.test mail 530'])
  assert.equal(short(await to('ok', ['mx1.test'])), ['deferred policy', 'mx1.test mail 530'])
  isBroken = false
  const result = await to('ok', ['mx1.test'])
  assert.equal(short(result), ['delivered', 'mx1.test final-dot 250'])
  assert.is(result.hostAttempts[0]!.tls?.version, 'TLSv1.3')
  assert.equal(mxs[0]!.violations, [])
})

test('a host that is contacted in plain text and starts to require TLS gets TLS in the same attempt', async t => {
  let isBroken = true
  const at = {
    tls: () => (isBroken ? ('drop' as const) : undefined),
    mail: () => (isBroken ? undefined : '550 5.7.10 please use TLS'),
  }
  const { to } = await open(t, HOSTS, { tls: 'good', at })
  assert.is((await to('ok', ['mx1.test'])).kind, 'delivered')
  isBroken = false
  const { kind, hostAttempts } = await to('ok', ['mx1.test'])
  assert.equal(
    hostAttempts.map(({ tls, reply }) => [tls !== null, reply]),
    [
      [false, '550 5.7.10 please use TLS'],
      [true, '550 5.7.10 please use TLS'],
    ],
  )
  assert.is(kind, 'bounced')
})

test('a host that requires TLS and refuses STARTTLS temporarily does not bounce', async t => {
  const { to } = await open(t, HOSTS, { tls: 'refused-454', insistsOnTls: true })
  assert.equal(short(await to('ok', ['mx1.test'])), ['deferred policy', 'mx1.test mail 530'])
})

test('a host that requires TLS and never offers it bounces', async t => {
  const { to } = await open(t, HOSTS, { insistsOnTls: true })
  assert.equal(short(await to('ok', ['mx1.test'])), ['bounced policy', 'mx1.test mail 530'])
})

for (const [what, point] of [
  ['RCPT', 'rcpt'],
  ['DATA', 'data'],
] as const)
  test(`a host that loses ${what} behind MAIL gets one command at a time in the same attempt, and for an hour`, async t => {
    // Each first of two sessions is silent behind MAIL, as if it had read one command of the packet.
    let isPacket = true
    const at = { [point]: () => (isPacket ? ('hang' as const) : undefined) }
    const { to, mxs } = await open(t, HOSTS, { pipelining: true, at, acceptThenClose: true })
    const clock = createManualClock()
    const tlsPolicies = createHostTlsPolicies({ clock, dane: null })
    const send = async () => {
      let isOver = false
      const started = clock.monotonic()
      const sending = to('ok', ['mx1.test'], { tlsPolicies, clock }).finally(() => {
        isOver = true
      })
      for (; !isOver; await turn()) {
        clock.advance(100)
        isPacket &&= mxs[0]!.sessionCount < 2
      }
      return [...short(await sending), clock.monotonic() - started < 60_000]
    }
    const again = ['delivered', `mx1.test ${point} tim`, 'mx1.test final-dot 250', true]
    assert.equal(await send(), again)
    const commands = mxs[0]!.transcript.filter(line => /^2 [CS]: (?:MAIL|RCPT|DATA|250 2\.1|354)/.test(line))
    assert.equal(
      commands.map(line => line.slice(5, 9)),
      ['MAIL', '250 ', 'RCPT', '250 ', 'DATA', '354 '],
    )
    assert.equal(await send(), ['delivered', 'mx1.test final-dot 250', true])
  })

test('a host that is silent without pipelining, too, is not tried a third time', async t => {
  const { to, mxs } = await open(t, HOSTS, { pipelining: true, at: { rcpt: 'hang' } })
  const clock = createManualClock()
  let isOver = false
  const sending = to('ok', ['mx1.test'], { clock }).finally(() => {
    isOver = true
  })
  for (; !isOver; await turn()) clock.advance(1_000)
  assert.equal(short(await sending), ['deferred unknown', 'mx1.test rcpt tim', 'mx1.test rcpt tim'])
  assert.is(mxs[0]!.sessionCount, 2)
})

for (const requests of ['enforced', 'required'] as const) {
  for (const [tls, reason] of [
    ['expired', /expired/],
    ['wrong-name', /altnames/],
    ['self-signed', /self-signed/],
    ['1.0-only', /version|protocol/],
    ['handshake-fails', /wrong version|closed the connection/],
    ['refused-454', /454/],
    ['off', /does not offer STARTTLS/],
  ] as const)
    test(`${requests}: a host with TLS ${tls} gets nothing, and the next one is tried`, async t => {
      const { to, mxs } = await open(
        t,
        `${HOSTS}\nmx.test A 127.0.0.3`,
        { tls },
        { tls: 'good', extensions: ['REQUIRETLS'] },
      )
      const tlsPolicies = trustingPolicies()
      const alone = await to('ok', ['mx1.test'], { tlsPolicies }, requests)
      assert.equal([alone.kind, alone.class], ['deferred', 'unknown'])
      assert.match(alone.hostAttempts[0]!.reply, reason)
      assert.is(alone.hostAttempts[0]!.policy, 'domain')
      const both = await to('ok', ['mx1.test', 'mx.test'], { tlsPolicies }, requests)
      assert.is(both.kind, 'delivered')
      assert.is(both.hostAttempts.at(-1)!.tls?.verified, true)
      assert.is(mxs[0]!.messages.length, 0)
    })
}

test('an unverified session is not reused for a message that requires verification', async t => {
  const { to, mxs } = await open(t, 'mx.test A 127.0.0.2', { tls: 'good' })
  const tlsPolicies = trustingPolicies()
  for (const requests of ['any', 'enforced', 'any', 'enforced'] as const)
    await to('ok', ['mx.test'], { tlsPolicies }, requests)
  assert.equal(
    mxs[0]!.messages.map(({ sessionId }) => sessionId),
    [1, 2, 1, 2],
  )
})

test('when TLS fails, the message is sent in plain text and the reason is recorded', async t => {
  const { to } = await open(t, HOSTS, { tls: 'handshake-fails' })
  const result = await to('ok', ['mx1.test'])
  assert.equal(short(result), ['delivered', 'mx1.test final-dot 250'])
  assert.is(result.hostAttempts[0]!.tls, null)
  assert.ok(result.hostAttempts[0]!.tlsFallback)
})

test('connections use the given source address', async t => {
  const { options, mxs, pool } = await open(t, HOSTS, {})
  const from = (number: number, name: string | null = null) =>
    attemptHosts(options, wayOver(['mx1.test']), mailTo('ok'), [{ address: `127.0.0.${number}`, name }])
  const { hostAttempts } = await from(77, 'out77.test')
  await from(78)
  await from(77)
  assert.equal(
    mxs[0]!.messages.map(({ clientAddress, sessionId }) => [clientAddress, sessionId]),
    [
      ['127.0.0.77', 1],
      ['127.0.0.78', 2],
      ['127.0.0.77', 1],
    ],
  )
  assert.equal(
    mxs[0]!.transcript.filter(line => / EHLO /.test(line)),
    ['1 C: EHLO out77.test', '2 C: EHLO out.mailhorn.test'],
  )
  assert.is(hostAttempts[0]!.source, '127.0.0.77')
  assert.is(pool.take('the destination', 'ok@there.test'), undefined)
})

test('only address families with a source address are used', async t => {
  const { options, mxs } = await open(t, 'v6.test AAAA ::1', {})
  const sources = [{ address: '127.0.0.77', name: null }]
  const { kind, text } = await attemptHosts(options, wayOver(['v6.test']), mailTo('ok'), sources)
  assert.equal([kind, text], ['bounced', 'v6.test has no ipv4 address'])
  assert.is(mxs[0]!.sessionCount, 0)
})

test('a malformed message throws, and the session stays usable', async t => {
  const { options, pool, mxs } = await open(t, HOSTS, {})
  const broken = mailTo('ok', { message: [Buffer.from('Subject: a\n\nbare line ends\n')] })
  await attemptHosts(options, wayOver(['mx1.test']), broken).then(
    () => assert.unreachable(),
    error => assert.match(error.message, /CR or LF/),
  )
  assert.is(pool.take(SITE, 'ok@there.test')?.session.alive, true)
  assert.is(mxs[0]!.sessionCount, 1)
})

test.run()
