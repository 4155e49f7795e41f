import { createServer, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { type ProxyHeader, readProxyHeader, takeProxyHeader } from '../../../src/lib/proxy-header.ts'
import { binaryHeader } from '../../kit/proxy-header.ts'
import { dialSmtp } from '../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('PROXY header')

const IPV4 = Buffer.from([192, 0, 2, 7, 10, 0, 0, 1, 0x10, 0, 0, 25])
const IPV6 = Buffer.from(`20010db8${'00'.repeat(11)}07${'00'.repeat(15)}01${'10000019'}`, 'hex')
const MAPPED = Buffer.from(`${'00'.repeat(10)}ffffc0000207${'00'.repeat(15)}01${'10000019'}`, 'hex')
/** A TLV that says that the client speaks TLS 1.3, as HAProxy adds it. */
const TLV = Buffer.from('20000f0100000000210007544c5376312e33', 'hex')

const line = (text: string) => Buffer.from(text, 'latin1')
const withTlv = (bytes: Buffer) => Buffer.concat([bytes, TLV])

for (const [what, bytes, client] of [
  ['TCP4', line('PROXY TCP4 192.0.2.7 10.0.0.1 40960 25\r\n'), '192.0.2.7'],
  ['TCP6', line('PROXY TCP6 2001:DB8:0:0::7 ::1 40960 25\r\n'), '2001:db8::7'],
  ['TCP6 with IPv4 in IPv6', line('PROXY TCP6 ::ffff:192.0.2.7 ::1 0 65535\r\n'), '192.0.2.7'],
  ['UNKNOWN', line('PROXY UNKNOWN\r\n'), undefined],
  ['UNKNOWN with addresses', line('PROXY UNKNOWN ::1 ::1 1 2\r\n'), undefined],
  ['the longest line', line(`PROXY UNKNOWN ${'f'.repeat(91)}\r\n`), undefined],
  ['binary IPv4', binaryHeader(0x21, 0x11, IPV4), '192.0.2.7'],
  ['binary IPv4 with a TLV', binaryHeader(0x21, 0x11, withTlv(IPV4)), '192.0.2.7'],
  ['binary IPv6', binaryHeader(0x21, 0x21, IPV6), '2001:db8::7'],
  ['binary IPv4 in IPv6', binaryHeader(0x21, 0x21, withTlv(MAPPED)), '192.0.2.7'],
  [
    'the longest binary header',
    binaryHeader(0x21, 0x11, Buffer.concat([IPV4, Buffer.alloc(4_068)])),
    '192.0.2.7',
  ],
  ['LOCAL', binaryHeader(0x20, 0x00), undefined],
  ['LOCAL with addresses', binaryHeader(0x20, 0x11, IPV4), undefined],
  ['LOCAL of any family', binaryHeader(0x20, 0x31, Buffer.alloc(216)), undefined],
  ['UNSPEC', binaryHeader(0x21, 0x00, TLV), undefined],
] as const)
  test(`valid: ${what} gives ${client}, whatever follows it, and no piece of it is a header`, () => {
    const expected = { kind: 'valid', byteCount: bytes.length, client }
    assert.equal(readProxyHeader(bytes), expected)
    assert.equal(readProxyHeader(Buffer.concat([bytes, line('EHLO x\r\n')])), expected)
    for (let length = 0; length < bytes.length; length++)
      assert.is(readProxyHeader(bytes.subarray(0, length)), undefined, `${length} octets`)
  })

for (const [what, bytes, reason] of [
  ['a line of 108 octets', line(`PROXY UNKNOWN ${'f'.repeat(92)}\r\n`), 'it is longer than 107 octets'],
  ['a line without an end', line(`PROXY ${'1'.repeat(101)}`), 'it is longer than 107 octets'],
  ['a line that ends in LF', line('PROXY TCP4 192.0.2.7 10.0.0.1 1 25\n'), 'it does not end in CR LF'],
  ['a CR within the line', line('PROXY UNKNOWN \rEHLO\r\n'), 'its line is malformed'],
  ['an unknown family', line('PROXY UDP4 192.0.2.7 10.0.0.1 1 25\r\n'), 'its line is malformed'],
  ['no family', line('PROXY \r\n'), 'its line is malformed'],
  ['lower case', line('PROXY tcp4 192.0.2.7 10.0.0.1 1 25\r\n'), 'its line is malformed'],
  ['IPv6 as TCP4', line('PROXY TCP4 ::1 10.0.0.1 1 25\r\n'), 'its line is malformed'],
  ['IPv4 as TCP6', line('PROXY TCP6 192.0.2.7 ::1 1 25\r\n'), 'its line is malformed'],
  ['a zone', line('PROXY TCP6 fe80::1%eth0 ::1 1 25\r\n'), 'its line is malformed'],
  ['a name', line('PROXY TCP4 localhost 10.0.0.1 1 25\r\n'), 'its line is malformed'],
  ['octets with zeros', line('PROXY TCP4 192.0.02.7 10.0.0.1 1 25\r\n'), 'its line is malformed'],
  ['no ports', line('PROXY TCP4 192.0.2.7 10.0.0.1\r\n'), 'its line is malformed'],
  ['a port above 65535', line('PROXY TCP4 192.0.2.7 10.0.0.1 65536 25\r\n'), 'its line is malformed'],
  ['a port with zeros', line('PROXY TCP4 192.0.2.7 10.0.0.1 01 25\r\n'), 'its line is malformed'],
  ['two blanks', line('PROXY TCP4  192.0.2.7 10.0.0.1 1 25\r\n'), 'its line is malformed'],
  ['a further word', line('PROXY TCP4 192.0.2.7 10.0.0.1 1 25 x\r\n'), 'its line is malformed'],
  ['version 1 in binary', binaryHeader(0x11, 0x11, IPV4), 'its version or command is unknown'],
  ['an unknown command', binaryHeader(0x22, 0x11, IPV4), 'its version or command is unknown'],
  ['AF_UNIX', binaryHeader(0x21, 0x31, Buffer.alloc(216)), 'its connection is not TCP over IPv4 or IPv6'],
  ['UDP', binaryHeader(0x21, 0x12, IPV4), 'its connection is not TCP over IPv4 or IPv6'],
  [
    'a transport without a family',
    binaryHeader(0x21, 0x01, IPV4),
    'its connection is not TCP over IPv4 or IPv6',
  ],
  ['IPv4 that is too short', binaryHeader(0x21, 0x11, IPV4.subarray(1)), 'its addresses are incomplete'],
  ['IPv6 that is too short', binaryHeader(0x21, 0x21, IPV4), 'its addresses are incomplete'],
  ['4,097 octets', binaryHeader(0x21, 0x11, Buffer.alloc(4_081)), 'it is longer than 4096 octets'],
  [
    'the head of 65,551 octets',
    binaryHeader(0x20, 0, Buffer.alloc(65_535)).subarray(0, 16),
    'it is longer than 4096 octets',
  ],
] as const)
  test(`invalid: ${what}`, () => assert.equal(readProxyHeader(bytes), { kind: 'invalid', reason }))

for (const text of [
  'EHLO x\r\n',
  'P\r\n',
  'POST / HTTP/1.1\r\n',
  'proxy TCP4',
  'PROXY\r\n',
  '\r\nGET',
  '\r\n\r\nG',
  '\x16\x03\x01',
])
  test(`absent: ${JSON.stringify(text)}`, () => assert.equal(readProxyHeader(line(text)), { kind: 'absent' }))

/** Listens, takes the header of the next connection, and reads what follows it. */
async function listening(t: TestContext) {
  const taken: ProxyHeader[] = []
  const accepted = Promise.withResolvers<Socket>()
  const rest = Promise.withResolvers<string>()
  const server = createServer({ allowHalfOpen: true }, socket => {
    accepted.resolve(socket)
    takeProxyHeader(socket, header => {
      taken.push(header)
      let text = ''
      socket.on('data', piece => {
        text += piece
      })
      socket.on('end', () => {
        rest.resolve(text)
        socket.end()
      })
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => new Promise<void>(resolve => server.close(() => resolve())))
  const { port } = server.address() as { port: number }
  const client = await t.using(dialSmtp({ port }))
  return { client, taken, rest: rest.promise, accepted: accepted.promise }
}

const HEADER = binaryHeader(0x21, 0x11, withTlv(IPV4))

test('nothing that follows the header is lost, also if the client closes its side right behind it', async t => {
  const { client, taken, rest } = await listening(t)
  const commands = 'NOOP\r\n'.repeat(10_000)
  client.write(Buffer.concat([HEADER, line(commands)]))
  client.end()
  assert.is(await rest, commands)
  assert.equal(taken, [{ kind: 'valid', byteCount: HEADER.length, client: '192.0.2.7' }])
})

test('a header in pieces of one octet is read, and so is what follows', async t => {
  const { client, taken, rest, accepted } = await listening(t)
  const socket = await accepted
  for (const octet of [...HEADER, 0x61, 0x62]) {
    const before = socket.bytesRead
    client.write(Buffer.from([octet]))
    while (socket.bytesRead === before) await new Promise(setImmediate)
  }
  client.end()
  assert.is(await rest, 'ab')
  assert.is(taken.length, 1)
})

test('without a header, everything stays in the socket', async t => {
  const { client, taken, rest } = await listening(t)
  client.write('PROPFIND / HTTP/1.1\r\n')
  client.end()
  assert.is(await rest, 'PROPFIND / HTTP/1.1\r\n')
  assert.equal(taken, [{ kind: 'absent' }])
})

test('a connection that ends within its header is closed', async t => {
  const { client, taken, accepted } = await listening(t)
  const socket = await accepted
  client.write(HEADER.subarray(0, -1))
  client.end()
  assert.is(await client.reply(), '')
  assert.ok(socket.destroyed)
  assert.equal(taken, [])
})

test.run()
