import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/lib/clock.ts'
import { type AttemptOptions, attempt } from '../../../../src/pipeline/delivery/attempt.ts'
import type { OutgoingMessage } from '../../../../src/pipeline/delivery/message/message.ts'
import { createMayReturn } from '../../../../src/pipeline/delivery/missing-domain.ts'
import { type AttemptResult, signalOf } from '../../../../src/pipeline/delivery/outcome/attempt-result.ts'
import type { DeliveryRoute, RouteTarget } from '../../../../src/pipeline/delivery/route.ts'
import { createSessionPool } from '../../../../src/pipeline/delivery/sessions/session-pool.ts'
import { createSourceIps, type EgressSource } from '../../../../src/pipeline/delivery/shaping/source-ips.ts'
import { createHostTlsPolicies } from '../../../../src/pipeline/delivery/tls-policy/host-tls-policy.ts'
import { simulate } from '../../../../src/pipeline/simulator/simulate.ts'
import { createResolver } from '../../../../src/protocols/dns/resolver.ts'
import type { ClaimedDelivery } from '../../../../src/store/model/command.ts'
import { DELIVERY_CLASS } from '../../../../src/store/model/schema.ts'
import { type FakeMx, startFakeMx } from '../../../kit/fake-mx.ts'
import { newId } from '../../../kit/mail.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { startZone } from '../../../kit/zone.ts'

const test = suite('transport')

const claimed = (address: string): ClaimedDelivery => ({
  emailId: newId(1),
  ordinal: 0,
  accountId: newId(1),
  address,
  domain: address.slice(address.indexOf('@') + 1),
  class: DELIVERY_CLASS.transactional,
  simulated: 0,
  attempt: 1,
  expiresAt: 0,
})

const message: OutgoingMessage = {
  mailFrom: 'b+token@send.here.test',
  bytes: [Buffer.from('Subject: a\r\n\r\n'), Buffer.from('b\r\n')],
  sizeBytes: 17,
  smtpUtf8: false,
  tls: 'any',
  dueAt: 0,
  signedAt: 0,
  signatures: null,
}

const routeTo = (target: RouteTarget): DeliveryRoute => ({ destination: 'destination', target })
const hosts = routeTo({
  kind: 'hosts',
  hostSet: 'mx.there.test',
  hosts: [{ name: 'mx.there.test', preference: 0 }],
})

async function open(t: TestContext, input?: FakeMx, sourceIps = createSourceIps([], systemClock)) {
  const mx = input ?? (await t.using(startFakeMx({ host: '127.0.0.2' })))
  const zone = await t.using(startZone('mx.there.test A 127.0.0.2'))
  const resolver = createResolver({ servers: [zone.server], clock: systemClock, timeoutMs: 10_000, tries: 1 })
  const pool = createSessionPool(systemClock, { messagesPerConnection: () => 100 })
  t.after(async () => {
    await pool.close()
    resolver.close()
  })
  const options: AttemptOptions = {
    clock: systemClock,
    resolver,
    pool,
    tlsPolicies: createHostTlsPolicies({ clock: systemClock, dane: null }),
    tlsResults: null,
    random: Math.random,
    smartHostOf: () => undefined,
    sourceIps,
    localName: 'out.mailhorn.test',
    port: mx.port,
    allowPrivateAddresses: true,
    simulate,
    deliverLocally: async () => {
      throw new Error('nothing is received here')
    },
    mayReturn: createMayReturn({
      find: async () => [],
      clock: systemClock,
    }),
  }
  const [source] = sourceIps.sources as [EgressSource]
  return {
    mx,
    carryTo: (address: string, route = hosts, from = source) =>
      attempt(options, route, claimed(address), message, from),
  }
}

const short = (result: AttemptResult) => `${result.kind} ${result.class}, ${signalOf(result)}`

test('the reply decides the result and the congestion signal', async t => {
  const { carryTo } = await open(t)
  assert.is(short(await carryTo('ok@there.test')), 'delivered unknown, ok')
  assert.is(short(await carryTo('perm-550-511@there.test')), 'bounced invalid-recipient, ok')
  assert.is(short(await carryTo('defer-451@there.test')), 'deferred unknown, ok')
  assert.is(short(await carryTo('421-after-0@there.test')), 'deferred rate-limited, congested')
  assert.is(short(await carryTo('drop-after-rcpt@there.test')), 'deferred unknown, congested')
  assert.is(short(await carryTo('drop-after-dot@there.test')), 'deferred unknown, neutral')
})

test('a result holds reply, phase and all host attempts', async t => {
  const { carryTo } = await open(t)
  const result = await carryTo('perm-550-511@there.test')
  assert.equal(
    [result.phase, result.text, result.reply?.code, result.hostAttempts.map(({ host }) => host)],
    ['rcpt', '550 5.1.1 perm', 550, ['mx.there.test']],
  )
})

test('a result holds what the reply means for the address, the delay and the operator', async t => {
  const { mx, carryTo } = await open(t)
  assert.is((await carryTo('perm-550-511@there.test')).blamesAddress, true)
  assert.is((await carryTo('perm-550-571@there.test')).blamesAddress, undefined)
  assert.is(mx.violations.length, 0)
  const says = async (rcpt: string) => {
    const strict = await t.using(startFakeMx({ host: '127.0.0.2', port: 0, at: { rcpt } }))
    return (await open(t, strict)).carryTo('a@there.test')
  }
  assert.is((await says('451 4.7.1 Greylisted, come back in 300 s')).hintMs, 300_000)
  assert.is((await says('550 5.7.1 blocked using zen.spamhaus.org')).alert, 'ip-reputation')
})

test('after a reputation refusal the next attempt uses another source address, and only this path is congested', async t => {
  const rcpt = (times: number) => (times < 2 ? '550 5.7.1 blocked using zen.spamhaus.org' : undefined)
  const mx = await t.using(startFakeMx({ host: '127.0.0.2', at: { rcpt } }))
  const two = ['127.0.0.31', '127.0.0.32'].map(address => ({ address, name: null }))
  const sourceIps = createSourceIps(two, systemClock)
  const [one, other] = sourceIps.sources as [EgressSource, EgressSource]
  const { carryTo } = await open(t, mx, sourceIps)
  const first = await carryTo('a@there.test', hosts, one)
  assert.is(short(first), 'deferred blocked, congested')
  assert.is(first.alert, 'ip-reputation')
  assert.is(first.hostAttempts[0]!.source, '127.0.0.31')
  assert.equal(
    [sourceIps.isUsable(one, 'there.test'), sourceIps.isUsable(other, 'there.test')],
    [false, true],
  )
  assert.is(short(await carryTo('a@there.test', hosts, other)), 'bounced blocked, congested')
  assert.is(short(await carryTo('a@there.test', hosts, other)), 'delivered unknown, ok')
  assert.is(mx.messages[0]!.clientAddress, '127.0.0.32')
})

test('a single source address is used whatever its reputation', async t => {
  const mx = await t.using(
    startFakeMx({ host: '127.0.0.2', at: { rcpt: '550 5.7.1 blocked using zen.spamhaus.org' } }),
  )
  const { carryTo } = await open(t, mx, createSourceIps([{ address: '127.0.0.31', name: null }], systemClock))
  assert.is(short(await carryTo('a@there.test')), 'bounced blocked, ok')
})

test('an internationalized recipient needs SMTPUTF8 even if the message does not', async t => {
  const { carryTo, mx } = await open(t)
  assert.is((await carryTo('jürgen@there.test')).kind, 'delivered')
  assert.ok(mx.messages[0]!.params.has('SMTPUTF8'))
  await carryTo('ok@there.test')
  assert.not(mx.messages[1]!.params.has('SMTPUTF8'))
})

test('the simulator decides the result of its mail without the network', async t => {
  const { carryTo, mx } = await open(t)
  const result = await carryTo('bounced@simulator.test', routeTo({ kind: 'simulator' }))
  assert.equal([result.kind, result.simulated, signalOf(result)], ['bounced', true, 'neutral'])
  assert.is(mx.sessionCount, 0)
})

for (const [enhanced, reason, expected] of [
  ['5.1.10', 'there.test takes no mail (null MX)', 'bounced bad-domain, neutral'],
  ['5.4.4', 'there.test has no mail host', 'bounced no-route, neutral'],
  ['5.4.6', 'mail for there.test would come back to us', 'bounced no-route, neutral'],
] as const)
  test(`mail that can go nowhere bounces: ${enhanced} ${reason}`, async t => {
    const { carryTo } = await open(t)
    const carried = await carryTo('a@there.test', routeTo({ kind: 'undeliverable', enhanced, reason }))
    assert.is(short(carried), expected)
    const { phase, reply, text, hostAttempts } = carried
    assert.equal([phase, reply, text, hostAttempts, carried.enhanced], ['dns', null, reason, [], enhanced])
    assert.is(carried.blamesAddress, expected.includes('bad-domain'))
  })

test('mail to a missing domain bounces at the second answer', async t => {
  const { carryTo } = await open(t)
  const missing = routeTo({ kind: 'undeliverable', enhanced: '5.1.2', reason: 'there.test does not exist' })
  const carried = await carryTo('a@there.test', missing)
  assert.is(short(carried), 'deferred bad-domain, neutral')
  assert.is(carried.text, 'there.test does not exist')
})

test('an unknown route defers the delivery', async t => {
  const { carryTo } = await open(t)
  const carried = await carryTo('a@there.test', routeTo({ kind: 'unknown', reason: 'SERVFAIL' }))
  assert.is(short(carried), 'deferred unknown, congested')
  assert.is(carried.text, 'SERVFAIL')
})

test.run()
