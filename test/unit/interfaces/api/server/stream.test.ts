import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import * as assert from 'uvu/assert'
import { emailListRoutes } from '../../../../../src/interfaces/api/emails/list-routes.ts'
import { createHttpApp } from '../../../../../src/interfaces/api/server/app.ts'
import { startHttpServer } from '../../../../../src/interfaces/api/server/server.ts'
import { UnreadReplies } from '../../../../../src/interfaces/api/server/unread-replies.ts'
import type { Log } from '../../../../../src/lib/log.ts'
import { NORMAL_MODE } from '../../../../../src/pipeline/queue/service-mode.ts'
import { newId } from '../../../../kit/mail.ts'
import { createManualClock } from '../../../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { until } from '../../../../kit/until.ts'

const test = suite('http/stream')
const STALLED_MS = 120_000
const BATCH = Buffer.alloc(1024 * 1024, 'x')
/** More than the buffers between server and client hold. */
const BATCHES = 40
/** So many looks in a row that see nothing move. */
const STILL_LOOKS = 20

/** The export of an account that has very much. */
async function openExport(t: TestContext) {
  const clock = createManualClock()
  let requests = 0
  const told: string[] = []
  const log = {
    debug: (_: unknown, what: string) => told.push(what),
    isLevelEnabled: () => false,
  } as unknown as Log
  const app = createHttpApp({
    requestLog: undefined,
    countRequest: () => {},
    serviceMode: { current: NORMAL_MODE },
    pages: undefined,
    isLinkHost: () => false,
    routes: emailListRoutes({
      reader: {
        listEmails: async () => undefined,
        async exportEmails() {
          requests++
          return { csv: BATCH, next: requests < BATCHES ? newId(1) : null }
        },
      },
      horizonOf: async () => 0,
    }),
    findCredential: async () => ({ kind: 'key', accountId: newId(1), apiKeyId: newId(1), domain: null }),
    clientAddressOf: () => '127.0.0.1',
    readBody: () => Promise.reject(new Error('nothing here has a body')),
    headers: {},
    spendRequest: undefined,
    unreadReplies: new UnreadReplies(2 ** 30, clock),
    clock,
    log,
  })
  const server = await startHttpServer(app, { host: '127.0.0.1', port: 0 })
  t.after(() => server.close(0))
  const request = get(`http://127.0.0.1:${server.address().port}/emails/export`)
  const [reply] = (await once(request, 'response')) as [IncomingMessage]
  t.after(() => reply.destroy())
  return {
    clock,
    reply,
    isCut: () => told.includes('The client disconnected before the end of the reply'),
    /** Resolves when the client's buffers are full, and nothing moves any more. */
    async stuck() {
      let seen = 0
      let looks = 0
      await until(() => {
        looks = requests === seen ? looks + 1 : 0
        seen = requests
        return looks === STILL_LOOKS
      })
      assert.ok(requests < BATCHES, 'everything was sent to a client that does not read')
    },
    /** Reads so much or a little more, and stops. @returns how much */
    async read(bytes: number) {
      let size = 0
      await until(() => {
        size += reply.read()?.length ?? 0
        return size >= bytes
      })
      return size
    },
  }
}

test('streamed reply: a client that reads nothing for two minutes is disconnected, with a truncated reply', async t => {
  const { clock, reply, isCut, stuck } = await openExport(t)
  await stuck()
  clock.advance(STALLED_MS - 1)
  await new Promise(setImmediate)
  assert.is(isCut(), false)
  clock.advance(1)
  await until(isCut)
  let size = 0
  try {
    for await (const piece of reply) size += piece.length
    assert.unreachable('the reply ended as if it were whole')
  } catch (error) {
    assert.is((error as NodeJS.ErrnoException).code, 'ECONNRESET')
  }
  assert.ok(size < BATCHES * BATCH.length)
  assert.is(clock.timerCount, 0)
})

test('streamed reply: a slow reader gets everything', async t => {
  const { clock, reply, stuck, read, isCut } = await openExport(t)
  let size = 0
  for (let i = 0; i < 4; i++) {
    await stuck()
    clock.advance(STALLED_MS - 1)
    size += await read(4 * 1024 * 1024)
  }
  for await (const piece of reply) size += piece.length
  assert.ok(size >= BATCHES * BATCH.length)
  await until(() => clock.timerCount === 0)
  assert.is(isCut(), false)
})

test.run()
