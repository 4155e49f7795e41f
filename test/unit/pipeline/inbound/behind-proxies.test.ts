/** Tests that a mail listener takes the address of clients from PROXY headers of trusted proxies alone. */
import * as assert from 'uvu/assert'
import { networks } from '../../../../src/lib/networks.ts'
import { flood } from '../../../kit/flood.ts'
import { openInboundListener } from '../../../kit/inbound-listener.ts'
import { settled } from '../../../kit/manual-clock.ts'
import { binaryHeader, binaryHeaderOf } from '../../../kit/proxy-header.ts'
import { dialSmtp, type SmtpClient } from '../../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'

const test = suite('inbound: behind proxies')

const PROXY = '127.9.9.9'
const STRANGER = '127.1.1.1'
const CLIENT = '192.0.2.7'
const CONNECTIONS_MAX = 40

const textHeaderOf = (address: string) => `PROXY TCP4 ${address} 10.0.0.1 40960 25\r\n`

async function open(t: TestContext) {
  const taken: string[] = []
  const listener = await openInboundListener(t, {
    trustedProxies: networks([PROXY]),
    connectionsMax: CONNECTIONS_MAX,
    async take({ clientIp }) {
      taken.push(clientIp)
    },
  })
  const dial = (from = PROXY) => t.using(dialSmtp({ port: listener.port, from }))
  /** Sends a mail over a connection that begins with the header. @returns the address it was stored with */
  const clientOf = async (header: string | Uint8Array, from?: string) => {
    const client = await dial(from)
    client.write(header)
    assert.match(await client.reply(), /^220 /)
    for (const line of ['EHLO x.example', 'MAIL FROM:<ann@there.example>', 'RCPT TO:<bob@here.example>'])
      assert.match(await client.say(line), /^250/)
    assert.match(await client.say('DATA'), /^354 /)
    assert.match(await client.say('Subject: hi\r\n\r\nHi.\r\n.'), /^250 /)
    return taken.at(-1)
  }
  return { ...listener, dial, clientOf }
}

test('mail through a proxy is that of the client in its header, in text and in binary', async t => {
  const { clientOf } = await open(t)
  assert.is(await clientOf(textHeaderOf(CLIENT)), CLIENT)
  assert.is(await clientOf('PROXY TCP6 2001:db8::7 2001:db8::1 40960 25\r\n'), '2001:db8::7')
  assert.is(await clientOf(binaryHeaderOf(CLIENT)), CLIENT)
})

test('a connection of the proxy itself is that of the proxy', async t => {
  const { clientOf } = await open(t)
  assert.is(await clientOf('PROXY UNKNOWN\r\n'), PROXY)
  assert.is(await clientOf(binaryHeader(0x20, 0)), PROXY)
})

test('from other addresses no header is needed', async t => {
  const { clientOf } = await open(t)
  assert.is(await clientOf('', STRANGER), STRANGER)
})

test('commands right behind the header are carried out, and the header is in pieces of one octet', async t => {
  const { dial } = await open(t)
  const client = await dial()
  for (const octet of `${textHeaderOf(CLIENT)}NOOP\r\nQUIT\r\n`) {
    client.write(octet)
    await settled()
  }
  assert.match(await client.reply(), /^220 /)
  assert.match(await client.reply(), /^250 /)
  assert.match(await client.reply(), /^221 /)
})

for (const [what, bytes] of [
  ['a text header', textHeaderOf('192.0.2.99')],
  ['a binary header', binaryHeaderOf('192.0.2.99')],
] as const) {
  test(`${what} of an address that is not listed is refused, and so are the commands behind it`, async t => {
    const { dial, logged } = await open(t)
    const client = await dial(STRANGER)
    client.write(bytes)
    client.write('EHLO x.example\r\nMAIL FROM:<ann@there.example>\r\n')
    assert.match(
      await client.reply(),
      /^421 Error: 5\.7\.1 A PROXY header is taken from smtp\.trusted_proxies only/,
    )
    assert.is(await client.reply(), '')
    assert.equal([logged.at(-1)?.event, logged.at(-1)?.address], ['smtp_refused', STRANGER])
  })

  test(`${what} behind another one is refused`, async t => {
    const { dial } = await open(t)
    const client = await dial()
    client.write(Buffer.concat([binaryHeaderOf(CLIENT), Buffer.from(bytes)]))
    assert.match(
      await client.reply(),
      /^421 Error: 5\.7\.1 A PROXY header is taken from smtp\.trusted_proxies only/,
    )
  })
}

for (const [what, bytes, reason] of [
  [
    'sends no header',
    'EHLO x.example\r\n',
    'A connection from smtp.trusted_proxies begins with a PROXY header',
  ],
  ['sends a malformed header', 'PROXY TCP4 x\r\n', 'The PROXY header is refused: its line is malformed'],
  [
    'sends a header that is too long',
    `PROXY ${'1'.repeat(200)}`,
    'The PROXY header is refused: it is longer than 107 octets',
  ],
  [
    'names a Unix socket',
    binaryHeader(0x21, 0x31, Buffer.alloc(216)),
    'The PROXY header is refused: its connection is not TCP over IPv4 or IPv6',
  ],
] as const)
  test(`a proxy that ${what} is not greeted, and the log says why`, async t => {
    const { dial, logged } = await open(t)
    const client = await dial()
    client.write(bytes)
    const reply = await client.reply()
    assert.ok(reply.startsWith('421 4.3.5 ') && reply.endsWith(reason), reply)
    assert.is(await client.reply(), '')
    const { event, address, reply: said } = logged.at(-1)!
    assert.equal([event, address, said], ['smtp_refused', PROXY, reply])
  })

test('a proxy that says nothing is not greeted, and waits for at most five seconds', async t => {
  const { dial, clock } = await open(t)
  const client = await dial()
  client.write('PROXY TCP4 ')
  await until(() => clock.timerCount > 0)
  clock.advance(4_999)
  await settled()
  clock.advance(1)
  assert.match(await client.reply(), /^421 4\.4\.2 The proxy has not sent its PROXY header in time/)
  assert.is(await client.reply(), '')
})

test('a connection that waits for its header does not delay the end of the listener', async t => {
  const clients: SmtpClient[] = []
  t.after(() => clients[0]?.close()) // after the listener
  const { port, clock } = await open(t)
  clients.push(await dialSmtp({ port, from: PROXY }))
  clients[0]!.write('PROXY TCP4 ')
  await until(() => clock.timerCount > 0)
})

test('limits count each client behind a proxy for itself', async t => {
  const { port, dial, clock } = await open(t)
  const { close } = await flood({ port, count: 20, from: () => PROXY, opening: textHeaderOf('192.0.2.8') })
  t.after(close)
  await until(() => clock.timerCount === 20)
  const crowd = await dial()
  crowd.write(textHeaderOf('192.0.2.8'))
  assert.match(await crowd.reply(), /^421 4\.7\.0 Too many connections from you/)
  const other = await dial()
  other.write(textHeaderOf(CLIENT))
  assert.match(await other.reply(), /^220 /)
})

test('ten times the connections without a complete header: they count, and make room first', async t => {
  const { port, dial, clock } = await open(t)
  const { close } = await flood({
    port,
    count: 10 * CONNECTIONS_MAX,
    from: () => PROXY,
    opening: 'PROXY TCP4 ',
  })
  t.after(close)
  await until(() => clock.timerCount > 0)
  // each has a timer for its header and one for its duration
  assert.ok(clock.timerCount <= 2 * CONNECTIONS_MAX, `${clock.timerCount} timers`)
  const honest = await dial()
  honest.write(textHeaderOf(CLIENT))
  assert.match(await honest.reply(), /^220 /)
  clock.advance(5_000)
  await until(() => clock.timerCount <= CONNECTIONS_MAX)
})

test.run()
