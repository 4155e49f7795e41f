/**
 * Every point of a session times everything that can go wrong there, for one attempt: what becomes of the
 * recipient, who takes the message, and that nothing is left behind. The client's own view of the same table:
 * client/faults.test.ts.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/lib/clock.ts'
import { attemptHosts } from '../../../../src/pipeline/delivery/attempt.ts'
import type { AttemptResult } from '../../../../src/pipeline/delivery/outcome/attempt-result.ts'
import {
  createSessionPool,
  type SessionPool,
} from '../../../../src/pipeline/delivery/sessions/session-pool.ts'
import type { Transaction } from '../../../../src/pipeline/delivery/smtp-client/types.ts'
import { createHostTlsPolicies } from '../../../../src/pipeline/delivery/tls-policy/host-tls-policy.ts'
import { type NextHop, nextHopTo } from '../../../../src/pipeline/delivery/tls-policy/next-hop.ts'
import { createResolver, type Resolver } from '../../../../src/protocols/dns/resolver.ts'
import { openBlackHole } from '../../../kit/black-hole.ts'
import { type FakeMx, startFakeMx } from '../../../kit/fake-mx.ts'
import type { Fault, Point } from '../../../kit/fake-mx-behaviour.ts'
import { createManualClock, type ManualClock } from '../../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'
import { type ScriptedZone, startZone } from '../../../kit/zone.ts'
import { bigMessage, turns } from './smtp-client/dial.ts'

const test = suite('fault matrix')

const FAULTS = {
  '4xx': '451 4.3.0 later',
  '5xx': '554 5.3.0 never',
  '421': '421 4.3.2 closing',
  drop: 'drop',
  reset: 'reset',
  garbage: 'garbage',
  '64k': 'multi-line-64k',
  silence: 'hang',
} satisfies Record<string, Fault>
type FaultName = keyof typeof FAULTS

/** `first` and `second` tell which host took the message; of the others, the first one alone was asked. */
type Story = 'first' | 'second' | 'deferred' | 'bounced'

const all = (story: Story) => Object.fromEntries(Object.keys(FAULTS).map(fault => [fault, story])) as Cells
type Cells = Record<FaultName, Story>

const EXPECTED: Record<Exclude<Point, 'helo' | 'auth'>, Cells> = {
  banner: all('second'),
  // who refuses EHLO is greeted with HELO
  ehlo: { ...all('second'), '5xx': 'first' },
  // where TLS does not come about the message goes without, to the same host
  starttls: { ...all('first'), '421': 'second' },
  tls: all('first'),
  'ehlo-tls': { ...all('second'), '5xx': 'first' },
  mail: { ...all('second'), '5xx': 'bounced' },
  rcpt: { ...all('second'), '4xx': 'deferred', '5xx': 'bounced' },
  data: { ...all('second'), '4xx': 'deferred', '5xx': 'bounced' },
  body: { ...all('second'), '4xx': 'deferred', '5xx': 'bounced' },
  // the message may have arrived: it goes nowhere else in the same attempt
  dot: { ...all('deferred'), '5xx': 'bounced' },
  // said between two messages: the second one has a new session
  rset: all('first'),
  quit: all('first'),
}

/**
 * More than the buffers of both kernels hold, so that the client is in the middle of it when something
 * happens.
 */
const huge = bigMessage(24_000_000)
const small = [Buffer.from('Subject: hello\r\n\r\nHello there.\r\n')]

let zone: ScriptedZone
let resolver: Resolver
/** Client sockets of the running test. */
const sockets = new Set<Socket>()
const note = (message: unknown) => void sockets.add((message as { socket: Socket }).socket)

test.before(async () => {
  zone = await startZone('mx1.test A 127.0.0.2\nmx2.test A 127.0.0.3')
  resolver = createResolver({ servers: [zone.server], clock: systemClock })
  subscribe('net.client.socket', note)
})

test.after(async () => {
  unsubscribe('net.client.socket', note)
  resolver.close()
  await zone.close()
})

interface Scene {
  clock: ManualClock
  pool: SessionPool
  mxs: [FakeMx, FakeMx]
  /** Time must pass for anything to happen at the first host. */
  isSilent: boolean
  send(localPart: string, names: readonly string[]): Promise<AttemptResult>
}

/** Two hosts; at the first one `point` goes wrong each time it is reached. */
async function open(t: TestContext, point: Point, fault: Fault): Promise<Scene> {
  const tls = ['starttls', 'tls', 'ehlo-tls'].includes(point) ? 'good' : 'off'
  const first = await t.using(startFakeMx({ host: '127.0.0.2', tls, at: { [point]: fault } }))
  const second = await t.using(startFakeMx({ host: '127.0.0.3', port: first.port }))
  const clock = createManualClock()
  const pool = createSessionPool(clock, { messagesPerConnection: () => 100 })
  const tlsPolicies = createHostTlsPolicies({ clock, dane: null })
  const options = {
    ...{ clock, resolver, pool, tlsPolicies, random: () => 0.5, localName: 'out.mailhorn.test' },
    ...{ port: first.port, allowPrivateAddresses: true, tlsResults: null },
  }
  sockets.clear()
  return {
    clock,
    pool,
    mxs: [first, second],
    isSilent: fault === 'hang' || fault === 'stall',
    async send(localPart, names) {
      const transaction = mailTo(localPart, point === 'body' ? huge : small)
      return attemptHosts(options, wayOver(names), transaction)
    },
  }
}

function mailTo(localPart: string, message: readonly Buffer[]): Transaction {
  return {
    mailFrom: 'b+token@send.here.test',
    recipients: [`${localPart}@there.test`],
    message,
    size: message.reduce((sum, part) => sum + part.length, 0),
    smtpUtf8: false,
  }
}

function wayOver(names: readonly string[]): NextHop {
  const hosts = names.map((name, preference) => ({ name, preference }))
  const nextHop = nextHopTo(
    { domain: 'there.test', hostSet: names.join(' '), hosts, security: undefined },
    'any',
  )
  if ('reason' in nextHop) throw new Error(nextHop.reason)
  return nextHop
}

/** Does something during which the first host falls silent, as often as it does. */
async function throughSilence<T>({ clock, isSilent, mxs: [first] }: Scene, work: Promise<T>): Promise<T> {
  if (!isSilent) return work
  const silences = () => first.transcript.filter(line => /-: (hang|stall)/.test(line)).length
  let isOver = false
  let seen = 0
  const settled = work.finally(() => {
    isOver = true
  })
  await Promise.all([
    settled.catch(() => {}),
    until(async () => {
      if (silences() > seen) {
        seen++
        await turns()
        clock.advance(600_000)
      }
      return isOver
    }),
  ])
  return settled
}

/** A refused recipient first where RSET or a session that is kept is to be seen. */
async function sent(scene: Scene, point: Point, names: readonly string[]): Promise<AttemptResult> {
  if (point === 'rset') {
    const refused = await scene.send('perm-550-511', names)
    assert.is(refused.kind, 'bounced')
  }
  return throughSilence(scene, scene.send('ok', names))
}

function storyOf({ kind }: AttemptResult, [first, second]: Scene['mxs']): Story {
  if (kind !== 'delivered') return kind as Story
  assert.is(first.messages.length + second.messages.length, 1, 'taken once')
  return first.messages.length === 1 ? 'first' : 'second'
}

/** Nothing is kept that could not be used, and in the end there is no connection and no timer. */
async function requireOrder(scene: Scene) {
  const { clock, pool, mxs } = scene
  const remaining = pool.take('mx1.test mx2.test', 'ok@there.test') ?? pool.take('mx1.test', 'ok@there.test')
  if (remaining) {
    assert.ok(remaining.session.alive)
    pool.give('kept', remaining, 'ok@there.test')
  }
  await throughSilence(scene, pool.close())
  await until(() => [...sockets].every(({ destroyed }) => destroyed))
  assert.ok(sockets.size > 0)
  assert.is(clock.timerCount, 0)
  assert.equal(mxs[1].violations, [])
}

for (const [point, cells] of Object.entries(EXPECTED) as [Exclude<Point, 'helo' | 'auth'>, Cells][])
  for (const [name, expected] of Object.entries(cells) as [FaultName, Story][]) {
    const fault = point === 'body' && name === 'silence' ? 'stall' : FAULTS[name]
    test(`${name} at ${point}: ${expected}`, async t => {
      const scene = await open(t, point, fault)
      const result = await sent(scene, point, ['mx1.test', 'mx2.test'])
      assert.is(storyOf(result, scene.mxs), expected, result.text)
      assert.not.ok(result.blamesAddress)
      await requireOrder(scene)
    })

    if (expected === 'second')
      test(`${name} at ${point} of the only host: nobody is blamed`, async t => {
        const scene = await open(t, point, fault)
        const result = await sent(scene, point, ['mx1.test'])
        assert.is(storyOf(result, scene.mxs), name === '5xx' ? 'bounced' : 'deferred', result.text)
        assert.not.ok(result.blamesAddress)
        assert.is(scene.mxs[0].messages.length, 0)
        await requireOrder(scene)
      })
  }

test('connection refused: the second host is tried', async t => {
  const scene = await open(t, 'banner', 'drop')
  await scene.mxs[0].close()
  assert.is(storyOf(await scene.send('ok', ['mx1.test', 'mx2.test']), scene.mxs), 'second')
  await requireOrder(scene)
})

for (const [names, expected] of [
  [['mx1.test', 'mx2.test'], 'second'],
  [['mx1.test'], 'deferred'],
] as const)
  test(`a connection that is neither taken nor refused, of ${names.length}: ${expected}`, async t => {
    const scene = await open(t, 'banner', 'drop')
    await scene.mxs[0].close()
    await t.using(openBlackHole('127.0.0.2', scene.mxs[0].port))
    sockets.clear()
    const sending = scene.send('ok', names)
    await until(() => sockets.size > 0)
    await turns()
    scene.clock.advance(19_999)
    await turns()
    assert.is(scene.mxs[1].sessionCount, 0)
    scene.clock.advance(1)
    const result = await sending
    assert.is(storyOf(result, scene.mxs), expected, result.text)
    if (expected === 'deferred')
      assert.equal([result.phase, result.text], ['connect', 'timed out after 20 s'])
    await requireOrder(scene)
  })

test.run()
