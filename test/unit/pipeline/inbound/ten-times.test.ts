/** Tests that port 25 keeps its bounds with ten times as many connections, recipients, commands and bytes. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { createLargeMessages } from '../../../../src/pipeline/inbound/large-messages.ts'
import { createMailBytes } from '../../../../src/pipeline/inbound/mail-bytes.ts'
import { MinDataRate } from '../../../../src/pipeline/inbound/min-data-rate.ts'
import type { RcptPolicy } from '../../../../src/pipeline/inbound/rcpt-policy.ts'
import { flood, scattered } from '../../../kit/flood.ts'
import { openInboundListener as open } from '../../../kit/inbound-listener.ts'
import { createManualClock, settled } from '../../../kit/manual-clock.ts'
import { newId } from '../../../kit/new-id.ts'
import type { SmtpClient } from '../../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'

const test = suite('inbound: ten times its bounds')
const CONNECTIONS_MAX = 40
/** A quarter of the connections. */
const LINGERING_MAX = CONNECTIONS_MAX / 4
const OF_ONE_MAX = 20
const MIB = 1024 * 1024

/** Opens connections that stay open. Resolves when each was greeted or sent away. */
async function flooded(t: TestContext, port: number, count: number, from: (i: number) => string) {
  const { sockets, close } = await flood({ port, count, from })
  t.after(close)
  const heard = new Map<Socket, string>()
  for (const socket of sockets)
    socket.on('data', text => heard.set(socket, `${heard.get(socket) ?? ''}${text}`))
  await until(() => sockets.every(socket => heard.has(socket) || socket.destroyed || socket.readableEnded))
  return [...heard.values()]
}

/** Writes all and reads replies until the connection ends or `count` have come. @returns their codes */
async function codesOf(client: SmtpClient, lines: string, count: number): Promise<number[]> {
  client.write(lines)
  const codes: number[] = []
  for (let reply = await client.reply(); reply !== ''; reply = await client.reply()) {
    codes.push(Number(reply.slice(0, 3)))
    if (codes.length === count) break
  }
  return codes
}

const countOf = (codes: readonly number[], code: number) => codes.filter(one => one === code).length

test('ten times the connections of one network: 20 are greeted, and a quarter of all lingers for two seconds', async t => {
  const { port, clock } = await open(t, { connectionsMax: CONNECTIONS_MAX })
  const heard = await flooded(t, port, 10 * OF_ONE_MAX, () => '127.1.1.1')
  assert.is(heard.filter(text => text.startsWith('220')).length, OF_ONE_MAX)
  // each connection has a timer
  assert.is(clock.timerCount, OF_ONE_MAX + LINGERING_MAX)
  clock.advance(2_000)
  assert.is(clock.timerCount, OF_ONE_MAX)
})

test('ten times the connections of all networks: no more are open, and a quarter lingers', async t => {
  const { port, clock } = await open(t, { connectionsMax: CONNECTIONS_MAX })
  await flooded(t, port, 10 * CONNECTIONS_MAX, i => scattered(i, 100))
  const max = CONNECTIONS_MAX + LINGERING_MAX
  assert.ok(clock.timerCount <= max, `${clock.timerCount} timers`)
  clock.advance(2_000)
  assert.ok(clock.timerCount <= CONNECTIONS_MAX, `${clock.timerCount} timers`)
})

test('ten times the recipients: 100 are accepted, and the connection ends with its commands', async t => {
  const { greeted } = await open(t)
  const lines = Array.from({ length: 1_000 }, (_, i) => `RCPT TO:<user${i}@here.example>\r\n`)
  const codes = await codesOf(await greeted(), lines.join(''), 1_000)
  assert.is(countOf(codes, 250), 100)
  assert.is(countOf(codes, 452) + countOf(codes, 421), codes.length - 100)
})

test('ten times the refused commands: the connection ends after 20', async t => {
  const { greeted } = await open(t, { admit: async () => undefined })
  const codes = await codesOf(await greeted(), 'RCPT TO:<nobody@here.example>\r\n'.repeat(200), 200)
  assert.equal([countOf(codes, 550), codes.at(-1), codes.length], [20, 421, 21])
})

test('ten times the longest command line ends the connection', async t => {
  const { greeted } = await open(t)
  const client = await greeted()
  client.write('x'.repeat(160 * 1024))
  assert.match(await client.reply(), /^421 .*too long/)
})

test('ten times the largest message is refused before it is sent', async t => {
  const { greeted } = await open(t)
  const client = await greeted()
  await client.say('RSET')
  assert.match(await client.say(`MAIL FROM:<ann@there.example> SIZE=${600 * MIB}`), /^552 /)
})

test('ten times what is stored of a report: 1 MB is written', async t => {
  let written = 0
  const report = {
    addressKind: 'return-path',
    emailId: newId(1),
    ordinal: 0,
    recipient: 'ann@there.example',
  } as const
  const admit: RcptPolicy = async () => ({ kind: 'report', report })
  const write = async (block: Uint8Array) => {
    written += block.length
  }
  const { greeted } = await open(t, { admit, write })
  const client = await greeted()
  await client.say('RSET')
  for (const line of ['MAIL FROM:<>', 'RCPT TO:<bounce@here.example>', 'DATA']) await client.say(line)
  client.write(`Subject: x\r\n\r\n${`${'x'.repeat(1_022)}\r\n`.repeat(10 * 1_024)}`)
  assert.match(await client.say('.'), /^250 /)
  assert.ok(written <= MIB, `${written} bytes written`)
})

test('ten times the searched part of a header section: Received fields behind it are not counted', () => {
  const bytes = createMailBytes()
  const fill = 'X-Fill: x\r\n'.repeat((256 * 1_024) / 11)
  bytes.add(Buffer.from(`Received: from a by b\r\n${fill}`))
  for (let i = 0; i < 10; i++) bytes.add(Buffer.from(`Received: from a by b\r\n${fill}`))
  assert.is(bytes.hopCount(), 1)
})

test('ten times the large messages from as many networks: 64 have a place, and the others are refused', () => {
  const clock = createManualClock()
  const large = createLargeMessages(64, clock)
  let stoppedCount = 0
  const entered = Array.from({ length: 640 }, (_, i) =>
    large.enter(
      new MinDataRate(clock.monotonic(), {
        netblock: `netblock ${i}`,
        isHeldUp: () => false,
        stop: () => stoppedCount++,
      }),
    ),
  )
  assert.is(entered.filter(Boolean).length - stoppedCount, 64)
})

test('ten times the replies that may wait for their reader: the commands behind them are not read', async t => {
  const accepted = Promise.withResolvers<Socket>()
  const note = (message: unknown) => accepted.resolve((message as { socket: Socket }).socket)
  subscribe('net.server.socket', note)
  t.after(() => unsubscribe('net.server.socket', note))
  const { greeted } = await open(t)
  const client = await greeted()
  const socket = await accepted.promise
  // the system takes nothing more from the service, as if the client had stopped reading long ago
  Object.assign(socket, { _write() {}, _writev: null })
  client.write('VRFY bob\r\n'.repeat(100_000))
  for (let before = 0; before < socket.bytesRead; ) {
    before = socket.bytesRead
    for (let i = 0; i < 20; i++) await settled()
  }
  assert.ok(socket.writableLength < 100, `${socket.writableLength} bytes wait to be read`)
  assert.ok(socket.bytesRead < 192 * 1_024, `${socket.bytesRead} bytes of commands were read`)
  socket.destroy()
})

test.run()
