/** Tests that HTTP listeners take the address of clients from the PROXY headers of trusted proxies alone. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import Koa from 'koa'
import * as assert from 'uvu/assert'
import { createClientAddress } from '../../../../../src/interfaces/api/server/client-address.ts'
import { startHttpServer } from '../../../../../src/interfaces/api/server/server.ts'
import { heldCertificate } from '../../../../../src/lib/certificates.ts'
import { createManualClock, settled } from '../../../../kit/manual-clock.ts'
import { binaryHeader, binaryHeaderOf } from '../../../../kit/proxy-header.ts'
import { exchange } from '../../../../kit/raw-http.ts'
import { connectionsAre, pass, type SlowClient, slowClient } from '../../../../kit/slow-clients.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { testCertificate } from '../../../../kit/tls.ts'
import { until } from '../../../../kit/until.ts'

const test = suite('http: behind proxies')
const PROXY = '127.9.9.9'
const STRANGER = '127.1.1.1'
const CLIENT = '192.0.2.7'
const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'
const textHeaderOf = (address: string) => `PROXY TCP4 ${address} 10.0.0.1 40960 443\r\n`

interface Options {
  maxConnections?: number
  maxPerClient?: number
  trustedProxies?: string[]
  isSecure?: boolean
}

/** Starts a server that answers with the address of the client. */
async function open(t: TestContext, { isSecure, trustedProxies = [PROXY], ...limits }: Options = {}) {
  const clock = createManualClock()
  const clientAddressOf = createClientAddress(trustedProxies)
  const app = new Koa()
  app.silent = true
  app.use(ctx => {
    ctx.body = clientAddressOf(ctx.req)
  })
  const certificates = isSecure ? heldCertificate(testCertificate('good')) : undefined
  const options = { host: '127.0.0.1', port: 0, clock, trustedProxies, ...limits }
  const server = await startHttpServer(app, options, certificates)
  t.after(() => server.close(0))
  const { port } = server.address()
  const answers = async (bytes: string | Uint8Array, { from = PROXY, replyCount = 1 } = {}) => {
    const { replies } = await exchange(`http://127.0.0.1:${port}`, bytes, { from, replyCount })
    return replies.map(({ status, text }) => (status === 200 ? text : status))
  }
  return { clock, server, port, answers }
}

const joined = (...pieces: (string | Uint8Array)[]) => Buffer.concat(pieces.map(piece => Buffer.from(piece)))
const forwarded = (address: string) => GET.replace('host', `x-forwarded-for: ${address}\r\nhost`)

for (const [what, header, expected] of [
  ['a text header', textHeaderOf(CLIENT), CLIENT],
  ['a text header with IPv6', 'PROXY TCP6 2001:db8::7 ::1 1 2\r\n', '2001:db8::7'],
  ['a binary header', binaryHeaderOf(CLIENT), CLIENT],
  ['a header of the proxy itself', binaryHeader(0x20, 0), PROXY],
  ['no header', '', PROXY],
] as const)
  test(`from a listed proxy, ${what} makes ${expected} the client of all requests behind it`, async t => {
    const { answers } = await open(t)
    assert.equal(await answers(joined(header, GET, GET), { replyCount: 2 }), [expected, expected])
  })

test('a header in pieces of one octet, with the request behind it, is read', async t => {
  const { port } = await open(t)
  const client = await slowClient(t, { port, from: PROXY })
  client.socket.setNoDelay(true)
  for (const octet of `${textHeaderOf(CLIENT)}${GET}`) {
    await client.send(octet)
    await settled()
  }
  await until(() => client.received().endsWith(CLIENT))
})

test('X-Forwarded-For counts if the client in the header is a listed proxy, too', async t => {
  const { answers } = await open(t, { trustedProxies: [PROXY, '10.0.0.0/8'] })
  assert.equal(await answers(joined(textHeaderOf('10.0.0.5'), forwarded(CLIENT))), [CLIENT])
  assert.equal(await answers(joined(textHeaderOf(CLIENT), forwarded('198.51.100.1'))), [CLIENT])
  assert.equal(await answers(forwarded(CLIENT)), [CLIENT])
})

for (const [what, header] of [
  ['text', textHeaderOf(CLIENT)],
  ['binary', binaryHeaderOf(CLIENT)],
] as const)
  test(`a ${what} header of an address that is not listed is answered 400, also behind another header`, async t => {
    const { answers } = await open(t)
    assert.equal(await answers(joined(header, GET), { from: STRANGER }), [400])
    assert.equal(await answers(joined(header, header, GET)), [400])
    assert.equal(await answers(joined(GET, header, GET), { replyCount: 2 }), [PROXY, 400])
  })

test('a malformed header of a listed proxy is answered 400', async t => {
  const { answers } = await open(t)
  for (const header of [
    'PROXY TCP4 x\r\n',
    `PROXY ${'1'.repeat(200)}`,
    binaryHeader(0x21, 0x31, Buffer.alloc(216)),
  ])
    assert.equal(await answers(joined(header, GET)), [400])
})

async function answerOverTls(port: number, { header, from }: { header: string | Uint8Array; from: string }) {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  socket.write(header)
  const secured = connectSecurely({ socket, rejectUnauthorized: false })
  try {
    await once(secured, 'secureConnect')
    secured.write(GET.replace('host', 'connection: close\r\nhost'))
    let received = ''
    for await (const text of secured.setEncoding('latin1')) received += text
    return received.slice(received.lastIndexOf('\r\n') + 2)
  } finally {
    secured.destroy()
  }
}

test('HTTPS: the header is in front of TLS', async t => {
  const { port } = await open(t, { isSecure: true })
  assert.is(await answerOverTls(port, { header: textHeaderOf(CLIENT), from: PROXY }), CLIENT)
  assert.is(await answerOverTls(port, { header: binaryHeaderOf(CLIENT), from: PROXY }), CLIENT)
  assert.is(await answerOverTls(port, { header: '', from: PROXY }), PROXY)
  const fromStranger = answerOverTls(port, { header: textHeaderOf(CLIENT), from: STRANGER })
  assert.ok((await Promise.allSettled([fromStranger]))[0]?.status === 'rejected')
})

test('connections count for the client that the header names', async t => {
  const { server, port, answers } = await open(t, { maxConnections: 20, maxPerClient: 2 })
  const clients: SlowClient[] = []
  for (let i = 0; i < 5; i++) {
    const client = await slowClient(t, { port, from: PROXY })
    await client.send(textHeaderOf(CLIENT))
    clients.push(client)
  }
  await until(() => clients.filter(({ hasEnd }) => hasEnd()).length === 3)
  await connectionsAre(server, 2)
  assert.equal(await answers(joined(textHeaderOf('192.0.2.8'), GET)), ['192.0.2.8'])
})

test('ten times the connections without a complete header: they count, make room first, and end after 10 s', async t => {
  const { clock, server, port, answers } = await open(t, { maxConnections: 20 })
  const clients = await Promise.all(
    Array.from({ length: 200 }, async () => {
      const client = await slowClient(t, { port, from: PROXY, staysOpen: true })
      await client.send('PROXY TCP4 ')
      return client
    }),
  )
  await until(() => clients.filter(({ hasEnd }) => hasEnd()).length === 180)
  await connectionsAre(server, 20)
  assert.equal(await answers(joined(textHeaderOf(CLIENT), GET)), [CLIENT])
  await pass(clock, 12_000)
  await connectionsAre(server, 0)
})

test('a connection that has sent a header alone does not delay the end of the service', async t => {
  const { server, port, answers } = await open(t)
  const client = await slowClient(t, { port, from: PROXY })
  await client.send(textHeaderOf(CLIENT))
  assert.equal(await answers(GET), [PROXY])
  await server.close(60_000)
  await until(client.hasEnd)
})

test.run()
