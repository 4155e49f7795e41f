import { connect, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { LINGER_MS } from '../../../src/interfaces/api/server/last-words.ts'
import { largeInputBytes, machineMemoryBytes } from '../../../src/lib/machine-memory.ts'
import { addAccount, openSession } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { rawRequest } from '../../kit/raw-http.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('bodies that come slowly, or not at all', { limitMs: 60_000 })
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const JSON_TYPE = 'content-type: application/json\r\n'
const MIB = 1024 * 1024
const LIMIT_OF_SENDS = 56 * MIB
const HALF = Buffer.alloc(140_000, ' ')
const LARGE = {
  from: 'a@here.example',
  to: 'delivered@simulator.test',
  subject: 's',
  text: 'x'.repeat(300_000),
}

/** A connection on which no more comes than this; it stays open when the other side has closed its own. */
async function halfSent(t: TestContext, head: string, bytes: Uint8Array, from = '127.0.0.1') {
  const { hostname, port } = new URL(mailhorn.baseUrl)
  const socket = connect({ host: hostname, port: Number(port), localAddress: from, allowHalfOpen: true })
  t.after(() => socket.destroy())
  socket.on('error', () => {}).resume()
  await new Promise<void>(resolve => socket.write(`${head}\r\n`, () => resolve()))
  await new Promise<void>(resolve => socket.write(bytes, () => resolve()))
  return socket
}

function post(path: string, length: number, headers = ''): string {
  return `POST ${path} HTTP/1.1\r\nhost: x\r\n${JSON_TYPE}${headers}content-length: ${length}\r\n`
}

/** Makes requests, after which the service has read everything that was sent before them. */
async function othersWereServed() {
  for (let i = 0; i < 20; i++) await mailhorn.call('GET', '/emails', { key: mailhorn.apiKey })
}

/** Resolves when the service has ended the connection. */
const endOf = (socket: Socket) => new Promise<void>(resolve => socket.once('end', resolve))

/**
 * Time passes for the service until the work is done, which must not need a reader process: its time would be
 * over.
 */
async function whileTimePasses<T>(work: Promise<T>): Promise<T> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  await until(() => {
    if (!isDone) mailhorn.clock.advance(2_000)
    return isDone
  })
  return done
}

test('half-sent requests without a credential take no room from large bodies', async t => {
  const sockets: Promise<Socket>[] = []
  for (let from = 2; from < 5; from++)
    for (let i = 0; i < 112; i++) sockets.push(halfSent(t, post('/auth/login', MIB), HALF, `127.0.0.${from}`))
  await Promise.all(sockets)
  const { status } = await mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, body: LARGE })
  assert.is(status, 200)
})

test('a sign-in is refused as soon as its body is larger than 16 KB', async () => {
  const pieces = [`${post('/auth/login', MIB)}\r\n`, Buffer.alloc(16 * 1024 + 1, ' ')]
  const reply = await rawRequest(mailhorn.baseUrl, pieces)
  assertRefusal(reply, { status: 413, name: 'validation_error', says: /16384/ })
})

test('half-sent requests of accounts give up the room that they hold', async t => {
  const keys = [addAccount(mailhorn, 'ann'), addAccount(mailhorn, 'bob')].map(({ apiKey }) => apiKey)
  const ends: Promise<void>[] = []
  for (const key of [...keys, ...keys])
    ends.push(
      endOf(await halfSent(t, post('/emails', LIMIT_OF_SENDS, `authorization: Bearer ${key}\r\n`), HALF)),
    )
  await othersWereServed()
  const sent = mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, body: LARGE })
  await whileTimePasses(Promise.all(ends))
  // The room is free when the connections are closed, too.
  mailhorn.clock.advance(LINGER_MS)
  assert.is((await sent).status, 200)
})

test('previews of messages take room among the large bodies, and give it up', async t => {
  const session = openSession(mailhorn, 'bearer')
  const key = addAccount(mailhorn, 'eve').apiKey
  const head = (length: number) =>
    `POST /dashboard/preview HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${session}\r\n` +
    `content-type: application/x-www-form-urlencoded\r\ncontent-length: ${length}\r\n`
  // as many of the largest as fit into the share of an account
  const shareBytes = largeInputBytes(machineMemoryBytes()) / 2
  for (let i = 1; i <= Math.floor(shareBytes / (12 * MIB)); i++) await halfSent(t, head(12 * MIB), HALF)
  await othersWereServed()
  let isAnswered = false
  const another = rawRequest(mailhorn.baseUrl, [
    `${head(12 * MIB)}\r\n`,
    Buffer.alloc(12 * MIB, 'x'),
  ]).finally(() => {
    isAnswered = true
  })
  for (let i = 0; i < 20; i++) {
    const others = await mailhorn.call('POST', '/emails', { key, body: LARGE })
    assert.is(others.status, 200)
  }
  assert.not(isAnswered)
  assertRefusal(await whileTimePasses(another), { status: 415, name: 'validation_error', says: /form/ })
})

test('an import of which nothing more comes is ended', async t => {
  const session = openSession(mailhorn, 'bearer')
  const { body: audience } = await mailhorn.call('POST', '/audiences', { session, body: { name: 'all' } })
  const path = `/audiences/${audience.id}/contacts/import`
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: text/csv\r\nauthorization: Bearer ${session}\r\n`
  const socket = await halfSent(t, `${head}content-length: 1000000\r\n`, Buffer.from('email\na@b.example\n'))
  let received = ''
  socket.on('data', chunk => {
    received += chunk
  })
  await whileTimePasses(until(() => received.startsWith('HTTP/1.1 408 ')))
})

test('each body of a connection is measured by itself', async t => {
  const bytes = Buffer.from(JSON.stringify({ ...LARGE, text: 'x'.repeat(40_000) }))
  const head = post('/emails', bytes.length, `authorization: Bearer ${mailhorn.apiKey}\r\n`)
  const socket = await halfSent(t, head, bytes.subarray(0, 30_000))
  let received = ''
  socket.on('data', chunk => {
    received += chunk
  })
  const answers = () => received.match(/HTTP\/1\.1 \d+/g) ?? []
  const pass = async (ms: number) => {
    await othersWereServed()
    mailhorn.clock.advance(ms)
    await othersWereServed()
  }
  // the window of the first body begins at 30,000 bytes
  await pass(2_000)
  socket.write(bytes.subarray(30_000))
  await until(() => answers().length === 1)
  // the second body has 20,000 bytes when its window ends
  socket.write(`${head}\r\n`)
  await pass(2_000)
  socket.write(bytes.subarray(0, 20_000))
  await pass(10_000)
  socket.write(bytes.subarray(20_000))
  await until(() => answers().length === 2)
  assert.equal(answers(), ['HTTP/1.1 200', 'HTTP/1.1 200'])
})

test.run()
