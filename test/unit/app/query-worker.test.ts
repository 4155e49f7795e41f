import { MessageChannel } from 'node:worker_threads'
import * as assert from 'uvu/assert'
import { createQueryWorker } from '../../../src/app/query-worker.ts'
import { emailListRoutes } from '../../../src/interfaces/api/emails/list-routes.ts'
import { createHttpApp } from '../../../src/interfaces/api/server/app.ts'
import { startHttpServer } from '../../../src/interfaces/api/server/server.ts'
import { UnreadReplies } from '../../../src/interfaces/api/server/unread-replies.ts'
import type { Log } from '../../../src/lib/log.ts'
import { NORMAL_MODE } from '../../../src/pipeline/queue/service-mode.ts'
import { newId } from '../../kit/mail.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('reading')
const STARTING_ANEW = { status: 503, name: 'application_error', says: /restarting/ }

/**
 * The list of emails, asked for over HTTP and answered by a thread that dies when it is asked for failed
 * ones.
 */
async function open(t: TestContext) {
  const clock = createManualClock()
  const faults: string[] = []
  const writerPorts: { close(): void }[] = []
  const log = {
    error: ({ err }: { err: Error }, what: string) => faults.push(`${what}: ${err.message}`),
    isLevelEnabled: () => false,
    debug() {},
    warn() {},
  } as unknown as Log
  const reading = createQueryWorker({
    entry: new URL('./scripted-reading.ts', import.meta.url),
    location: { kind: 'sqlite', databaseFile: '', blobFolder: '' },
    connectWriter() {
      const { port1, port2 } = new MessageChannel()
      writerPorts.push(port1)
      return port2
    },
    clock,
    clockSeat: null,
    secret: new Uint8Array(32),
    logLevel: 'silent',
    log,
  })
  t.after(reading.stop)
  t.after(() => {
    for (const port of writerPorts) port.close()
  })
  const app = createHttpApp({
    requestLog: undefined,
    countRequest: () => {},
    serviceMode: { current: NORMAL_MODE },
    pages: undefined,
    isLinkHost: () => false,
    routes: emailListRoutes({ reader: reading.reader, horizonOf: async () => 0 }),
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
  const list = async (query = '') => {
    const response = await fetch(`http://127.0.0.1:${server.address().port}/emails${query}`)
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as { total: number },
    }
  }
  return { clock, list, faults, threadCount: () => writerPorts.length }
}

test('query worker: its thread starts with the first call', async t => {
  const { list, threadCount } = await open(t)
  assert.is(threadCount(), 0)
  await list()
  await list()
  assert.is(threadCount(), 1)
})

test('query worker: calls in progress at its death are answered 503', async t => {
  const { list, faults } = await open(t)
  const first = (await list()).body.total
  assert.ok(first > 0)
  const replies = await Promise.all(['?status=queued', '?status=sent', '?status=failed'].map(list))
  for (const reply of replies) {
    assertRefusal(reply, STARTING_ANEW)
    assert.is(reply.headers.get('retry-after'), '2')
  }
  assert.ok(faults.includes('The query worker died: the disk is gone'), faults.join('\n'))
})

test('query worker: calls are answered 503 until it is restarted one second later', async t => {
  const { list, clock, faults, threadCount } = await open(t)
  const first = (await list()).body.total
  await list('?status=failed')
  await until(() => clock.timerCount === 1)
  assertRefusal(await list(), STARTING_ANEW)
  clock.advance(999)
  assertRefusal(await list(), STARTING_ANEW)
  assert.is(threadCount(), 1)
  clock.advance(1)
  const { status, body } = await list()
  assert.is(status, 200)
  assert.ok(body.total !== first, 'another thread has answered')
  assert.is(threadCount(), 2)
  assert.is(faults.filter(fault => fault.startsWith('The query worker died')).length, 1)
})

test('query worker: it is restarted after each death, but not after stop', async t => {
  const { list, clock, threadCount } = await open(t)
  for (let death = 1; death <= 3; death++) {
    await list('?status=failed')
    await until(() => clock.timerCount === 1)
    if (death < 3) clock.advance(1_000)
  }
  assert.is(threadCount(), 3)
})

test.run()
