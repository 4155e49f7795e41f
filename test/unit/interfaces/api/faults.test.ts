import { connect, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { createReadBody } from '../../../../src/interfaces/api/body/body.ts'
import type { Route } from '../../../../src/interfaces/api/route/route.ts'
import { createHttpApp } from '../../../../src/interfaces/api/server/app.ts'
import { startHttpServer } from '../../../../src/interfaces/api/server/server.ts'
import { UnreadReplies } from '../../../../src/interfaces/api/server/unread-replies.ts'
import { createLog } from '../../../../src/lib/log.ts'
import { NORMAL_MODE } from '../../../../src/pipeline/queue/service-mode.ts'
import { StorageUnavailable } from '../../../../src/store/model/command.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'

const test = suite('http/faults')

/** An HTTP server that does `work` with each body. */
async function openDoor(t: TestContext, work: (socket: Socket) => Promise<never>) {
  const clock = createManualClock()
  const lines: string[] = []
  const unused = () => Promise.reject(new Error('nothing here needs it'))
  let socket: Socket | undefined
  const readBody = createReadBody(
    { bytesMax: 1024, enter: unused, read: unused },
    { email: unused, batch: unused },
  )
  const app = createHttpApp({
    requestLog: undefined,
    countRequest: () => {},
    serviceMode: { current: NORMAL_MODE },
    pages: undefined,
    isLinkHost: () => false,
    routes: [
      {
        method: 'POST',
        path: '/things',
        access: 'public',
        async handle({ body }: { body(): Promise<unknown> }) {
          await body()
          return work(socket!)
        },
      } as unknown as Route,
    ],
    findCredential: async () => null,
    clientAddressOf: () => '127.0.0.1',
    readBody(request, options, bodyWork) {
      socket = request.socket
      return readBody(request, options, bodyWork)
    },
    headers: {},
    spendRequest: undefined,
    unreadReplies: new UnreadReplies(2 ** 30, clock),
    clock,
    log: createLog('debug', { write: line => void lines.push(line) }),
  })
  const server = await startHttpServer(app, { host: '127.0.0.1', port: 0 })
  t.after(() => server.close(0))
  const { port } = server.address()
  return {
    clock,
    port,
    post: () =>
      fetch(`http://127.0.0.1:${port}/things`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"a": 1}',
      }),
    text: (message: string) => lines.map(line => JSON.parse(line)).filter(({ msg }) => msg === message),
  }
}

test('internal error: it is logged with its request', async t => {
  const { post, text } = await openDoor(t, () => Promise.reject(new Error('a bug')))
  const reply = await post()
  assert.is(reply.status, 500)
  const [line, ...more] = text('An HTTP request failed with an internal error')
  assert.equal(
    [line.level, line.request_id, line.path, line.err.message],
    ['error', reply.headers.get('x-request-id'), '/things', 'a bug'],
  )
  assert.equal(more, [])
})

test('store unavailable: the 503 replies are logged at most once per minute', async t => {
  const { post, text, clock } = await openDoor(t, () => Promise.reject(new StorageUnavailable('full')))
  for (let count = 0; count < 3; count++) assert.is((await post()).status, 503)
  clock.advance(60_000)
  await post()
  const lines = text(
    'HTTP requests are refused with 503: the service is overloaded or the store is unavailable',
  )
  assert.equal(
    lines.map(({ level, times, err }) => [level, times, err.message]),
    [
      ['warn', 1, 'full'],
      ['warn', 3, 'full'],
    ],
  )
  assert.equal(text('An HTTP request failed with an internal error'), [])
})

test('client disconnect: it is not logged as an error', async t => {
  const working = Promise.withResolvers<void>()
  const { port, text } = await openDoor(t, async socket => {
    working.resolve()
    await new Promise(resolve => socket.once('close', resolve))
    throw new Error('nobody waits for it')
  })
  const head =
    'POST /things HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n'
  const amid = connect(port, '127.0.0.1', () => amid.end(`${head}{`))
  amid.on('error', () => {})
  amid.resume()
  await until(() => text('The client disconnected before the reply').length === 1)
  const behind = connect(port, '127.0.0.1', () => void behind.write(`${head}{}`))
  await working.promise
  behind.resetAndDestroy()
  await until(() => text('The client disconnected before the reply').length === 2)
  assert.equal(text('An HTTP request failed with an internal error'), [])
})

test.run()
