import { createServer, type Server, type Socket } from 'node:net'
import { queryObjects } from 'node:v8'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/lib/clock.ts'
import type { Answer } from '../../../../src/protocols/dns/answer.ts'
import { createResolver } from '../../../../src/protocols/dns/resolver.ts'
import type { OutboundReply, OutboundRequest } from '../../../../src/protocols/http-client/exchange.ts'
import { OutboundFault } from '../../../../src/protocols/http-client/fault.ts'
import { createOutbound, type OutboundOptions } from '../../../../src/protocols/http-client/outbound.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { testAuthority } from '../../../kit/tls.ts'
import { until } from '../../../kit/until.ts'
import { startWebHost, type WebHostOptions } from '../../../kit/web-host.ts'
import { startZone } from '../../../kit/zone.ts'

const test = suite('http-client/outbound')
const ZONE = `
  files.example.test   A 127.0.0.1
`

interface Scene {
  zone?: string
  host?: WebHostOptions
  client?: Partial<OutboundOptions>
}

/** A web host, the DNS that names it, and a client that may reach it. */
async function open(t: TestContext, { zone: text = ZONE, host, client }: Scene = {}) {
  const zone = await t.using(startZone(text))
  const resolver = createResolver({ servers: [zone.server], clock: systemClock })
  t.after(() => resolver.close())
  const web = await t.using(startWebHost(host))
  const outbound = createOutbound({
    resolver,
    clock: systemClock,
    allowLoopback: true,
    authorities: [testAuthority()],
    ...client,
  })
  t.after(() => outbound.close())
  const send = (wanted: Partial<OutboundRequest> = {}) =>
    outbound.send({
      url: `https://files.example.test:${web.port}/a.pdf?b=c#d`,
      limitMs: 10_000,
      limitBytes: 1_000,
      ...wanted,
    })
  return { zone, web, outbound, send }
}

function replyOf(result: OutboundReply | OutboundFault): OutboundReply {
  if (result instanceof OutboundFault) throw result
  return result
}

function faultOf(result: OutboundReply | OutboundFault): string {
  if (!(result instanceof OutboundFault)) throw new Error(`answered ${result.status}`)
  return `${result.kind}: ${result.message}`
}

test('HTTP client: a reply has status, headers and body', async t => {
  const { send } = await open(t, {
    host: {
      answer: (_, response) => void response.writeHead(201, { 'content-type': 'text/x-own' }).end('héllo'),
    },
  })
  const { status, headers, body } = replyOf(await send())
  assert.equal([status, headers['content-type'], `${body}`], [201, 'text/x-own', 'héllo'])
})

test('HTTP client: a host name of one label is reached for the operator, and verified', async t => {
  const { send, web } = await open(t, { client: { allowPrivate: true } })
  assert.is(replyOf(await send({ url: `https://localhost:${web.port}/dir` })).status, 200)
  assert.equal(
    web.requests.map(({ headers, serverName }) => [headers.host, serverName]),
    [[`localhost:${web.port}`, 'localhost']],
  )
  const untrusted = await open(t, { client: { allowPrivate: true }, host: { certificate: 'wrong-name' } })
  const refused = await untrusted.send({ url: `https://localhost:${untrusted.web.port}/` })
  assert.match(faultOf(refused), /TLS failed \(ERR_TLS_CERT_ALTNAME_INVALID\)/)
})

test('HTTP client: a host name of one label that is not known is unreachable for the operator', async t => {
  const { send } = await open(t, { client: { allowPrivate: true } })
  assert.match(
    faultOf(await send({ url: 'https://no-such-host-here/' })),
    /unreachable: the host cannot be looked up/,
  )
})

test('HTTP client: the request has Host, path without fragment, and User-Agent', async t => {
  const { send, web } = await open(t)
  replyOf(await send())
  const [{ method, path, headers, serverName, body }] = web.requests as [(typeof web.requests)[0]]
  assert.equal([method, path, `${body}`], ['GET', '/a.pdf?b=c', ''])
  assert.equal([headers.host, serverName], [`files.example.test:${web.port}`, 'files.example.test'])
  assert.equal([headers['user-agent'], headers['accept-encoding']], ['Mailhorn', 'identity'])
  assert.is(headers.connection, 'close')
})

test('HTTP client: a final dot is not sent in TLS SNI', async t => {
  const { send, web } = await open(t)
  replyOf(await send({ url: `https://files.example.test.:${web.port}/` }))
  assert.is(web.requests[0]!.serverName, 'files.example.test')
})

test('HTTP client: an IP address is verified as an address', async t => {
  const { send, web } = await open(t)
  replyOf(await send({ url: `https://127.0.0.1:${web.port}/` }))
  assert.ok(!web.requests[0]!.serverName)
  assert.is(web.requests[0]!.headers.host, `127.0.0.1:${web.port}`)
})

test('HTTP client: method, headers and body are sent; connection headers are set by the client', async t => {
  const { send, web } = await open(t)
  const headers = { 'content-type': 'application/json', 'x-own': 'a', host: 'elsewhere.example' }
  replyOf(await send({ method: 'POST', headers, body: '{"ü":1}' }))
  const [{ method, headers: heard, body }] = web.requests as [(typeof web.requests)[0]]
  assert.equal([method, `${body}`], ['POST', '{"ü":1}'])
  assert.equal([heard['x-own'], heard['content-length']], ['a', '8'])
  assert.is(heard.host, `files.example.test:${web.port}`)
})

test('HTTP client: an invalid header throws', async t => {
  const { send } = await open(t)
  const error = await send({ headers: { 'x-own': 'a\r\nb: c' } }).catch(reason => reason)
  assert.is(error.code, 'ERR_INVALID_CHAR')
})

for (const status of [301, 302, 303, 307, 308])
  test(`HTTP client: a redirect (${status}) is returned and not followed`, async t => {
    const inner = await t.using(startWebHost())
    const location = `https://127.0.0.1:${inner.port}/`
    const { send } = await open(t, {
      host: { answer: (_, response) => void response.writeHead(status, { location }).end() },
    })
    const reply = replyOf(await send())
    assert.equal([reply.status, reply.headers.location], [status, location])
    assert.is(inner.connectionCount, 0)
  })

test('HTTP client: a compressed reply is not decoded', async t => {
  const { send } = await open(t, {
    host: { answer: (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('x') },
  })
  const { headers, body } = replyOf(await send())
  assert.equal([headers['content-encoding'], `${body}`], ['gzip', 'x'])
})

/** Everything that is another spelling of somewhere inside. `example` names come from the zone. */
const INSIDE_ZONE = `
  loop.example.test      A 127.0.0.1
  any.example.test       A 0.0.0.0
  metadata.example.test  A 169.254.169.254
  private.example.test   A 10.0.0.1
  loop6.example.test     AAAA ::1
  mapped.example.test    AAAA ::ffff:127.0.0.1
  nat64.example.test     AAAA 64:ff9b::7f00:1
  tunnel.example.test    AAAA 2002:7f00:1::
  site.example.test      AAAA fec0::1
  local.example.test     AAAA fd00::1
  many.example.test      A 127.0.0.1
  many.example.test      A 192.168.1.1
  many.example.test      AAAA ::1
  alias.example.test     CNAME loop.example.test
`
const INSIDE = [
  ...[...INSIDE_ZONE.matchAll(/^ +(\S+)/gm)].map(([, name]) => name!),
  ...['127.0.0.1', '127.0.0.2', '2130706433', '0x7f.1', '0x7f000001', '0177.0.0.1', '017700000001', '127.1'],
  ...['0', '0.0.0.0', '①②⑦.⓪.⓪.①', '127.0.0.1.', '127。0。0。1', '169.254.169.254', '0xa9fea9fe', '10.0.0.1'],
  ...['[::1]', '[::]', '[::ffff:7f00:1]', '[::ffff:127.0.0.1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]'],
  ...[
    '[64:ff9b::169.254.169.254]',
    '[64:ff9b:1::7f00:1]',
    '[2002:7f00:1::]',
    '[2001:0:7f00:1::]',
    '[fec0::1]',
  ],
  ...['[fd00::1]', '[fe80::1]', '[2a00:1450::5efe:7f00:1]', '[ff02::1]', 'localhost', 'localhost.'],
]
for (const host of new Set(INSIDE))
  test(`HTTP client: ${host} is refused`, async t => {
    const { send, web } = await open(t, { zone: INSIDE_ZONE, client: { allowLoopback: false } })
    const fault = faultOf(await send({ url: `https://${host}:${web.port}/` }))
    assert.match(fault, /^forbidden: /)
    assert.not.match(fault, /127\.|10\.|169\.|::/)
    assert.is(web.connectionCount, 0)
  })

test('HTTP client: allowing loopback does not allow private addresses', async t => {
  const { send, zone, web } = await open(t)
  zone.set(INSIDE_ZONE)
  for (const host of ['private', 'metadata', 'any', 'mapped', 'nat64', 'local'])
    assert.match(
      faultOf(await send({ url: `https://${host}.example.test:${web.port}/` })),
      /^forbidden: \S+ does not resolve to a public address/,
    )
})

test('HTTP client: only allowed addresses are dialled', async t => {
  const { send, zone, web } = await open(t)
  zone.set(`
    files.example.test  A 10.0.0.1
    files.example.test  A 192.168.0.1
    files.example.test  A 127.0.0.1
    files.example.test  AAAA fd00::1
  `)
  replyOf(await send())
  assert.is(web.requests[0]!.localAddress, '127.0.0.1')
})

test('HTTP client: the checked address is the one that is dialled', async t => {
  const queries: string[] = []
  const changing = async (name: string): Promise<Answer<string>> => {
    queries.push(name)
    return { kind: 'found', records: queries.length === 1 ? ['127.0.0.2'] : ['10.0.0.1'] }
  }
  const { send, web } = await open(t, {
    host: { host: '127.0.0.2' },
    client: { resolver: { addresses4: changing, addresses6: async () => ({ kind: 'no-data' }) } },
  })
  replyOf(await send())
  assert.equal(queries, ['files.example.test'])
  assert.is(web.requests[0]!.localAddress, '127.0.0.2')
  assert.match(faultOf(await send()), /^forbidden/)
})

test('HTTP client: the next address is tried after a refused connection', async t => {
  const { send, zone, web } = await open(t, { host: { host: '127.0.0.3' } })
  zone.set(`
    files.example.test  A 127.0.0.2
    files.example.test  AAAA ::1
    files.example.test  A 127.0.0.3
  `)
  replyOf(await send())
  assert.is(web.requests.length, 1)
})

for (const [what, zone, fault] of [
  ['does not exist', '', /^forbidden: \S+ does not resolve to a public address/],
  ['has no address', 'files.example.test TXT "x"', /^forbidden: \S+ does not resolve to a public address/],
  ['cannot be looked up', 'files.example.test SERVFAIL', /^unreachable: the address .* cannot be looked up/],
] as const)
  test(`a host that ${what}`, async t => {
    const { send } = await open(t, { zone: `${zone}\nother.example.test A 127.0.0.1` })
    assert.match(faultOf(await send()), fault)
  })

test('HTTP client: a failed IPv6 look-up does not prevent IPv4', async t => {
  const { send } = await open(t, { zone: `${ZONE}\nfiles.example.test SERVFAIL AAAA` })
  replyOf(await send())
})

test('HTTP client: http:// is allowed for 127.0.0.1 only, if configured', async t => {
  const plain = await t.using(startWebHost({ certificate: null }))
  const { send } = await open(t, { client: { allowLoopback: false, allowInsecureLoopback: true } })
  replyOf(await send({ url: `http://127.0.0.1:${plain.port}/hook` }))
  assert.is(plain.requests[0]!.headers.host, `127.0.0.1:${plain.port}`)
  for (const host of ['127.0.0.2', 'localhost', 'files.example.test', '[::ffff:127.0.0.1]'])
    assert.match(faultOf(await send({ url: `http://${host}:${plain.port}/` })), /^forbidden: .* https/)
  assert.match(faultOf(await send()), /^forbidden/)
  assert.is(plain.connectionCount, 1)
})

for (const [certificate, fault] of [
  ['wrong-name', /^unreachable: TLS failed \(ERR_TLS_CERT_ALTNAME_INVALID\)/],
  ['expired', /^unreachable: TLS failed \(CERT_HAS_EXPIRED\)/],
] as const)
  test(`HTTP client: a certificate that is ${certificate} is refused`, async t => {
    const { send, web } = await open(t, { host: { certificate } })
    assert.match(faultOf(await send()), fault)
    assert.is(web.requests.length, 0)
  })

test('HTTP client: an unknown authority is refused regardless of the environment', async t => {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  t.after(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED)
  const { send, web } = await open(t, { client: { authorities: [] } })
  assert.match(faultOf(await send()), /^unreachable: TLS failed/)
  assert.is(web.requests.length, 0)
})

test('HTTP client: a certificate for the name is refused for the address', async t => {
  const { send, web } = await open(t, { host: { host: '127.0.0.2' } })
  assert.match(faultOf(await send({ url: `https://127.0.0.2:${web.port}/` })), /ALTNAME_INVALID/)
})

test('HTTP client: a refused connection is unreachable', async t => {
  const { send, web } = await open(t)
  await web.close()
  assert.is(faultOf(await send()), 'unreachable: the host refuses the connection')
})

/** A host that speaks no HTTP, or not for long. */
async function openPlain(t: TestContext, serve: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server: Server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    serve(socket)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const clock = createManualClock()
  const { send } = await open(t, { client: { allowInsecureLoopback: true, clock } })
  const { port } = server.address() as { port: number }
  return {
    clock,
    sockets,
    send: (wanted: Partial<OutboundRequest> = {}) => send({ url: `http://127.0.0.1:${port}/`, ...wanted }),
  }
}

for (const [what, says, fault] of [
  ['nothing', '', /^broken: the host closed the connection/],
  ['no HTTP', '220 mail.example ESMTP\r\n', /^broken: the host does not answer in HTTP/],
  ['half a head', 'HTTP/1.1 200 OK\r\nContent-Le', /^broken/],
  ['half a body', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello', /^broken/],
  ['a broken chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', /^broken/],
  ['an endless head', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(160_000)}\r\n\r\n`, /^broken/],
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', /^broken/],
  ['another protocol', 'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n', /^broken/],
] as const)
  test(`HTTP client: a host that sends ${what} and closes is a fault`, async t => {
    const { send } = await openPlain(t, socket => socket.once('data', () => socket.end(says)))
    assert.match(faultOf(await send()), fault)
  })

const CHUNKED_REPLY = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

for (const [what, says, fault] of [
  ['a reply in chunks of one byte', CHUNKED_REPLY + '1\r\nx\r\n'.repeat(20_000), /too many small pieces/],
  [
    'a reply in chunks of 40 bytes',
    CHUNKED_REPLY + `28\r\n${'x'.repeat(40)}\r\n`.repeat(20_000),
    /small pieces/,
  ],
  ['informational replies without end', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000), /informational/],
] as const)
  for (const into of [undefined, async () => {}])
    test(`HTTP client: a host that sends ${what} is a fault${into ? ', also for a reply in pieces' : ''}`, async t => {
      const { send } = await openPlain(t, socket => socket.once('data', () => void socket.write(says)))
      const wanted = { limitBytes: 10_000_000, ...(into && { into }) }
      assert.match(faultOf(await send(wanted)), fault)
    })

test('HTTP client: a reply in 1,000 small chunks is read', async t => {
  const says = `${CHUNKED_REPLY}${'1\r\nx\r\n'.repeat(1_000)}0\r\n\r\n`
  const { send } = await openPlain(t, socket => socket.once('data', () => socket.end(says)))
  assert.is(replyOf(await send()).body.length, 1_000)
})

for (const [what, says, body] of [
  ['half a body', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello', 'hello'],
  ['no body', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n', ''],
  ['half a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel', 'hel'],
  ['a broken chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\n', ''],
] as const) {
  test(`HTTP client: a host that sends ${what} and closes has answered if a broken body is cut`, async t => {
    const { send } = await openPlain(t, socket => socket.once('data', () => socket.end(says)))
    const reply = replyOf(await send({ whenBroken: 'cut' }))
    assert.equal([reply.status, `${reply.body}`], [200, body])
  })
  test(`HTTP client: a host that sends ${what} and waits has answered if a broken body is cut`, async t => {
    const { promise: written, resolve: onWritten } = Promise.withResolvers<void>()
    const { send, clock, sockets } = await openPlain(t, socket =>
      socket.once('data', () => socket.write(says, () => onWritten())),
    )
    const result = send({ whenBroken: 'cut' })
    await written
    for (let turn = 0; turn < 50; turn++) await new Promise(resolve => setImmediate(resolve))
    clock.advance(10_000)
    const reply = replyOf(await result)
    assert.equal([reply.status, `${reply.body}`], [200, body])
    await until(() => [...sockets].every(socket => socket.destroyed || socket.readableEnded))
    assert.is(clock.timerCount, 0)
  })
}

for (const says of ['HTTP/1.1 200 OK\r\nContent-Le', ''])
  test(`HTTP client: a host that sends ${says ? 'half a head' : 'nothing'} has not answered, even if a broken body is cut`, async t => {
    const { send } = await openPlain(t, socket => socket.once('data', () => socket.end(says)))
    assert.match(faultOf(await send({ whenBroken: 'cut' })), /^broken/)
  })

test('HTTP client: a reply without length ends with its connection', async t => {
  const { send } = await openPlain(t, socket => socket.end('HTTP/1.0 200 OK\r\n\r\nhello'))
  assert.is(`${replyOf(await send()).body}`, 'hello')
})

for (const [what, serve] of Object.entries({
  'says nothing': () => {},
  'says a letter now and then': (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\nX: '),
  'never ends its body': (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nhel'),
  'keeps on promising': (socket: Socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(50)),
}))
  test(`HTTP client: the time limit applies to a host that ${what}`, async t => {
    let spoken: (() => void) | undefined
    const heard = new Promise<void>(resolve => {
      spoken = resolve
    })
    const { send, clock, sockets } = await openPlain(t, socket =>
      socket.once('data', () => {
        serve(socket)
        setImmediate(() => spoken!())
      }),
    )
    const result = send()
    await heard
    clock.advance(9_999)
    clock.advance(1)
    assert.is(faultOf(await result), 'timeout: the host did not answer in time')
    await until(() => [...sockets].every(socket => socket.destroyed || socket.readableEnded))
    assert.is(clock.timerCount, 0)
  })

test('HTTP client: the time limit includes look-up and handshake', async t => {
  const clock = createManualClock()
  const never = new Promise<Answer<string>>(() => {})
  const slow = await open(t, {
    client: { clock, resolver: { addresses4: () => never, addresses6: () => never } },
  })
  const lookUp = slow.send()
  clock.advance(10_000)
  assert.match(faultOf(await lookUp), /^timeout/)

  const silent = createServer().listen(0, '127.0.0.1')
  t.after(() => silent.close())
  const { send } = await open(t, { client: { clock } })
  const accepted = new Promise<Socket>(resolve => silent.once('connection', resolve))
  const { port } = silent.address() as { port: number }
  const handshake = send({ url: `https://files.example.test:${port}/` })
  const socket = await accepted
  await new Promise(resolve => socket.once('data', resolve))
  clock.advance(10_000)
  assert.match(faultOf(await handshake), /^timeout/)
  await new Promise(resolve => socket.resume().once('close', resolve))
})

test('HTTP client: a reply may have as many bytes as the limit', async t => {
  for (const chunked of [false, true])
    for (const [length, fault] of [
      [1_000, undefined],
      [1_001, 'too-large: the reply is larger than 1000 bytes'],
      [10_000, 'too-large: the reply is larger than 1000 bytes'],
    ] as const) {
      const { send } = await open(t, {
        host: {
          answer(_, response) {
            if (!chunked) response.setHeader('content-length', length)
            response.write('x')
            response.end('x'.repeat(length - 1))
          },
        },
      })
      const result = await send()
      if (fault) assert.is(faultOf(result), fault)
      else assert.is(replyOf(result).body.length, 1_000)
    }
})

test('HTTP client: a reply over the limit is aborted, also by its Content-Length', async t => {
  for (const says of [{}, { 'content-length': '1000000000000' }]) {
    const { send, web } = await open(t, {
      host: {
        answer(_, response) {
          response.writeHead(200, says)
          const more = () => {
            while (!response.destroyed && response.write(Buffer.alloc(10_000)));
          }
          response.on('drain', more)
          more()
        },
      },
    })
    assert.match(faultOf(await send()), /^too-large/)
    await until(() => web.openCount === 0)
  }
})

test('HTTP client: a long reply is cut if requested', async t => {
  const { send, web } = await open(t, {
    host: { answer: (_, response) => void response.writeHead(200).write('x'.repeat(100_000)) },
  })
  const { status, body } = replyOf(await send({ whenLonger: 'cut' }))
  assert.equal([status, body.length], [200, 1_000])
  await until(() => web.openCount === 0)
})

test('HTTP client: connections are kept alive if configured', async t => {
  for (const [keepAlive, connections] of [
    [true, 1],
    [false, 3],
  ] as const) {
    const { send, web } = await open(t, { client: { keepAlive } })
    for (let i = 0; i < 3; i++) replyOf(await send({ method: 'POST', body: `${i}` }))
    assert.equal(
      web.requests.map(({ body }) => `${body}`),
      ['0', '1', '2'],
    )
    assert.is(web.connectionCount, connections)
  }
})

test('HTTP client: a request on a closed kept-alive connection is sent again', async t => {
  let sockets: Socket[] = []
  const { send, web } = await open(t, {
    client: { keepAlive: true },
    host: {
      answer(_, response, socket) {
        sockets.push(socket)
        response.end('ok')
      },
    },
  })
  replyOf(await send())
  const [remaining] = sockets
  sockets = []
  remaining!.removeAllListeners('data').on('data', () => remaining!.destroy())
  replyOf(await send({ method: 'POST', body: 'again' }))
  assert.equal(
    web.requests.map(({ method }) => method),
    ['GET', 'POST'],
  )
  assert.is(web.connectionCount, 2)
})

test('HTTP client: a broken first request is not sent again', async t => {
  const { send, web } = await open(t, {
    client: { keepAlive: true },
    host: { answer: (_, __, socket) => void socket.destroy() },
  })
  assert.match(faultOf(await send({ method: 'POST', body: 'x' })), /^broken/)
  assert.is(web.requests.length, 1)
})

test('HTTP client: close aborts requests in progress', async t => {
  const { send, web, outbound } = await open(t, { host: { answer: () => {} } })
  const result = send()
  await until(() => web.requests.length === 1)
  outbound.close()
  assert.match(faultOf(await result), /^broken: the client is closed/)
  await until(() => web.openCount === 0)
})

test('HTTP client: finished requests leave nothing in memory', async t => {
  const { send } = await open(t, { client: { keepAlive: true } })
  const count = () => Number(queryObjects(AbortSignal, { format: 'count' }))
  replyOf(await send())
  const before = count()
  for (let i = 0; i < 50; i++) replyOf(await send())
  assert.ok(count() - before < 10, `${count() - before}`)
})

test.run()
