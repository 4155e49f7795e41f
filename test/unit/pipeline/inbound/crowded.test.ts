import type { Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { flood, HALF_HELLO, scattered } from '../../../kit/flood.ts'
import { finish, openInboundListener as open } from '../../../kit/inbound-listener.ts'
import { settled } from '../../../kit/manual-clock.ts'
import { dialSmtp, type SmtpClient } from '../../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'

/** Clients that hold connections and messages open, while an honest one comes from elsewhere. */
const test = suite('inbound/listener under load')

const HONEST = '127.200.0.1'
const [LARGE_MAX, OF_ONE_MAX, SHARE] = [64, 20, 8]
const LARGE = `${'x'.repeat(98)}\r\n`.repeat(10_000)
/** More than stays in memory. */
const BEGINNING = `Subject: large\r\n\r\n${`${'y'.repeat(98)}\r\n`.repeat(1_400)}`

type Listener = Awaited<ReturnType<typeof open>>

async function serves({ inData }: Listener, text?: string) {
  const client = await inData(HONEST)
  assert.match(await finish(client, text), /^250 /)
  await client.close()
}

async function flooded(t: TestContext, options: Parameters<typeof flood>[0]) {
  const { sockets, close } = await flood(options)
  t.after(close)
  return sockets
}

/** Messages under way, each from the address that `from` says. */
function underWay({ inData }: Listener, count: number, from: (i: number) => string): Promise<SmtpClient[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => inData(from(i))))
}

/** Each sends so many bytes a second, evenly, while time passes. */
async function trickle({ clock }: Listener, clients: readonly SmtpClient[], bytes: number, seconds: number) {
  const line = `${'z'.repeat(Math.max(bytes - 2, 1))}\r\n`
  for (let second = 0; second < seconds; second++) {
    for (const client of clients) client.write(line)
    await turns()
    clock.advance(1_000)
  }
}

/** Waits until bytes written to sockets have arrived at the other end. */
async function turns() {
  for (let i = 0; i < 5; i++) await settled()
}

/** Resolves when so many have been greeted, or told to go. */
async function greeting(sockets: readonly Socket[], count: number) {
  let heard = 0
  for (const socket of sockets) socket.once('data', () => heard++)
  await until(() => heard >= count)
}

function lastReply(client: SmtpClient) {
  const told: { reply?: string } = {}
  client.reply().then(reply => {
    told.reply = reply
  })
  return told
}

for (const [what, words] of [
  ['say nothing', ''],
  ['say EHLO', 'EHLO silent.example\r\n'],
] as const)
  test(`eviction: of 600 connections from 30 addresses that ${what}, the oldest are closed`, async t => {
    const listener = await open(t)
    const sockets = await flooded(t, { port: listener.port, count: 600, from: i => scattered(i, 30) })
    await greeting(sockets, 500)
    for (const socket of sockets) if (words) socket.write(words)
    await turns()
    for (let i = 0; i < 5; i++) await serves(listener)
  })

test('eviction: connections with an unfinished STARTTLS handshake are closed first', async t => {
  const listener = await open(t, { connectionsMax: 40 })
  const held = await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      const client = await t.using(dialSmtp({ port: listener.port, from: scattered(i, 10) }))
      await client.reply()
      await client.say('EHLO half.example')
      assert.match(await client.say('STARTTLS'), /^220 /)
      client.write(HALF_HELLO)
      return client
    }),
  )
  await turns()
  for (let i = 0; i < 3; i++) await serves(listener)
  assert.is(held.length, 40)
})

test('a STARTTLS handshake times out after 30 s', async t => {
  const { port, clock } = await open(t)
  const client = await t.using(dialSmtp({ port }))
  await client.reply()
  await client.say('EHLO half.example')
  await client.say('STARTTLS')
  client.write(HALF_HELLO)
  await turns()
  clock.advance(29_000)
  const told = lastReply(client)
  await turns()
  assert.is(told.reply, undefined)
  clock.advance(1_000)
  await until(() => told.reply === '')
})

test('eviction: stalled transactions are closed after one second', async t => {
  const listener = await open(t, { connectionsMax: 40 })
  const { clock, greeted } = listener
  await Promise.all(Array.from({ length: 40 }, (_, i) => greeted(scattered(i, 10))))
  clock.advance(1_000)
  for (let i = 0; i < 3; i++) await serves(listener)
})

test('eviction: a new connection is kept while older ones are idle or slow', async t => {
  for (const isSlow of [false, true]) {
    const listener = await open(t, { connectionsMax: 40 })
    const { port, clock } = listener
    if (isSlow) await trickle(listener, await underWay(listener, 40, i => scattered(i, 40)), 4_200, 2)
    else {
      const sockets = await flooded(t, { port, count: 40, from: i => scattered(i, 40) })
      await greeting(sockets, 40)
      for (const socket of sockets) socket.write('EHLO idle.example\r\n')
      await turns()
      clock.advance(6_000)
    }
    const client = await t.using(dialSmtp({ port, from: HONEST }))
    const others = (first: number) =>
      flooded(t, { port, count: 5, from: i => scattered(100 + first + i, 250) })
    assert.match(await client.reply(), /^220 /)
    await others(0)
    await turns()
    await client.say('EHLO honest.example')
    await others(5)
    await turns()
    for (const line of ['MAIL FROM:<ann@there.example>', 'RCPT TO:<bob@here.example>'])
      assert.match(await client.say(line), /^250 /)
    await others(10)
    await turns()
    assert.match(await client.say('DATA'), /^354 /)
    assert.match(await finish(client), /^250 /)
  }
})

test('a new connection gets 421 when all connections make progress', async t => {
  const listener = await open(t, { connectionsMax: 40 })
  await underWay(listener, 40, i => scattered(i, 10))
  const late = await t.using(dialSmtp({ port: listener.port, from: HONEST }))
  assert.match(await late.reply(), /^421 4\.3\.2 /)
  assert.is(await late.reply(), '')
})

test('68 slow messages from four addresses do not block mail from others, small or large', async t => {
  const listener = await open(t)
  const slow = await underWay(listener, 68, i => `127.1.${i % 4}.1`)
  await trickle(listener, slow, 1_100, 3)
  await serves(listener)
  await serves(listener, LARGE)
})

for (const rate of [4_200, 1_100])
  test(`messages from hundreds of networks at ${rate} bytes per second do not block others`, async t => {
    const listener = await open(t, { connectionsMax: 200 })
    const slow = await underWay(listener, 200, i => scattered(i, 200))
    await trickle(listener, slow, rate, 9)
    for (let i = 0; i < 3; i++) {
      await serves(listener)
      await serves(listener, LARGE)
      await trickle(listener, slow, rate, 3)
    }
  })

test('minimum data rate: 2 KB/s is too slow after 10 s under load, and accepted otherwise', async t => {
  for (const [count, isBusy] of [
    [40, true],
    [20, false],
  ] as const) {
    const listener = await open(t)
    const slow = await underWay(listener, count, i => scattered(i, 20))
    const told = slow.map(lastReply)
    await trickle(listener, slow, 2_000, 14)
    if (isBusy) await until(() => told.filter(({ reply }) => reply).length >= count - 32)
    await turns()
    const slowed = told.filter(({ reply }) => /^421 4\.4\.2 .*slowly/.test(reply ?? ''))
    assert.is(slowed.length > 0, isBusy)
  }
})

test('large messages: 64 from one network are received at once, and one more evicts a much slower one', async t => {
  const listener = await open(t)
  const { inData, clock, left } = listener
  const busy = await underWay(listener, LARGE_MAX, i => `127.0.1.${1 + Math.floor(i / OF_ONE_MAX)}`)
  for (const client of busy) client.write(BEGINNING)
  await turns()
  const told = busy.map(lastReply)
  clock.advance(8_000)
  const late = await inData(HONEST)
  assert.match(await finish(late, LARGE), /^250 /)
  await until(() => told.some(({ reply }) => reply))
  const ended = told.filter(({ reply }) => reply !== undefined)
  assert.is(ended.length, 1)
  assert.match(ended[0]!.reply!, /^421 4\.4\.2 Too many large messages/)
  assert.is(left.blobs, LARGE_MAX - 1)
  for (const client of busy) client.write('end\r\n.\r\n')
  await until(() => told.every(({ reply }) => reply))
  assert.is(told.filter(({ reply }) => reply!.startsWith('250 ')).length, LARGE_MAX - 1)
})

test('large messages: a network loses slots beyond its guaranteed share only', async t => {
  const listener = await open(t)
  const { inData, left } = listener
  const busy = await underWay(listener, LARGE_MAX, i => `127.0.${Math.floor(i / SHARE)}.1`)
  for (const client of busy) client.write(BEGINNING)
  await until(() => left.blobs === LARGE_MAX)
  await turns()
  const late = await inData(HONEST)
  assert.is(await finish(late, LARGE), '452 4.3.1 Too many large messages at once, try again later')
  busy[0]!.write('end\r\n.\r\n')
  assert.match(await busy[0]!.reply(), /^250 /)
  const ninth = await inData('127.0.7.2')
  ninth.write(BEGINNING)
  await turns()
  await late.say('MAIL FROM:<ann@there.example>')
  await late.say('RCPT TO:<bob@here.example>')
  await late.say('DATA')
  assert.match(await finish(late, LARGE), /^250 /)
})

for (const [what, say] of [
  ['QUIT', 'QUIT\r\n'],
  ['an end for being HTTP', 'GET / HTTP/1.1\r\n'],
] as const)
  test(`a half-closed connection is destroyed two seconds after ${what}`, async t => {
    const listener = await open(t)
    const { port, clock } = listener
    const sockets = await flooded(t, { port, count: OF_ONE_MAX, from: () => HONEST })
    await greeting(sockets, OF_ONE_MAX)
    const ends = sockets.map(socket => new Promise(resolve => socket.once('end', resolve)))
    for (const socket of sockets) socket.write(say)
    await Promise.all(ends)
    const early = await t.using(dialSmtp({ port, from: HONEST }))
    assert.match(await early.reply(), /^421 4\.7\.0 Too many connections/)
    clock.advance(2_000)
    await turns()
    const late = await t.using(dialSmtp({ port, from: HONEST }))
    assert.match(await late.reply(), /^220 /)
  })

test('refused clients that stay connected are disconnected after two seconds', async t => {
  const { port, clock } = await open(t, { connectionsMax: 100 })
  const sockets = await flooded(t, { port, count: OF_ONE_MAX + 10, from: () => HONEST })
  await greeting(sockets, OF_ONE_MAX + 10)
  let gone = 0
  for (const socket of sockets) socket.once('close', () => gone++)
  clock.advance(2_000)
  for (let i = 0; i < 20; i++) {
    for (const socket of sockets.slice(OF_ONE_MAX)) if (socket.writable) socket.write('x')
    await turns()
  }
  assert.is(gone, 10)
})

test.run()
