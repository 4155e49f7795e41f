import * as assert from 'uvu/assert'
import type { LoggedRequest } from '../../../../src/resources/request-log/commands.ts'
import { BODY_BYTES_MAX, RequestLog } from '../../../../src/resources/request-log/request-log.ts'
import type { LoggedRequestRow } from '../../../../src/store/model/schema/requests.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { newId } from '../../../kit/new-id.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('request log')
const accountId = newId(1)
const credentialId = newId(2)

function row(more: Partial<LoggedRequestRow> = {}): LoggedRequestRow {
  return {
    ...{ accountId, id: newId(3), credentialKind: 'key', credentialId, method: 'POST', path: '/emails' },
    ...{ query: null, status: 200, errorName: null, userAgent: 'resend-node', durationMs: 3 },
    clientAddress: '203.0.113.9',
    resourceId: 'eml_1',
    ...more,
  }
}

function open({ hasBodies = true, run = async () => {} }: { hasBodies?: boolean; run?: () => unknown } = {}) {
  const clock = createManualClock()
  const written: LoggedRequest[][] = []
  const dropped: [number, unknown][] = []
  const requestLog = new RequestLog({
    clock,
    hasBodies,
    onDropped: (count, error) => dropped.push([count, error]),
    async run(_: string, { requests }: { requests: LoggedRequest[] }) {
      await run()
      written.push(structuredClone(requests))
    },
  } as ConstructorParameters<typeof RequestLog>[0])
  return { clock, requestLog, written, dropped }
}

const NONE = { request: undefined, response: undefined }
const body = (bytes: number) => ({ request: Buffer.alloc(bytes, 'a'), response: undefined })

test('a request moves to the writer with its body, without the memory around it', async () => {
  const { requestLog, written } = open()
  const received = Buffer.alloc(64 * 1024, ' ')
  received.write('{}', 100)
  const bodies = { request: received.subarray(100, 102), response: '{"é":1}' }
  requestLog.record(row({ query: 'limit=1', status: 422, errorName: 'validation_error' }), bodies, true)
  received.fill('x')
  await requestLog.flush()
  const [{ requestBody, responseBody, requestCut, responseCut, query, status, errorName }] = written[0] as [
    LoggedRequest,
  ]
  assert.equal([query, status, errorName], ['limit=1', 422, 'validation_error'])
  assert.equal([Buffer.from(requestBody!).toString(), responseBody], ['{}', '{"é":1}'])
  assert.equal([requestBody!.buffer.byteLength, requestCut, responseCut], [2, false, false])
})

test('requests are written together, half a second after the first', async () => {
  const { clock, requestLog, written } = open()
  requestLog.record(row({ path: '/a' }), NONE, true)
  clock.advance(499)
  requestLog.record(row({ path: '/b' }), NONE, true)
  assert.is(written.length, 0)
  clock.advance(1)
  await requestLog.flush()
  assert.equal(
    written.map(batch => batch.map(({ path }) => path)),
    [['/a', '/b']],
  )
  assert.is(clock.timerCount, 0)
})

test('many requests are written in several commands', async () => {
  const { requestLog, written } = open()
  for (let i = 0; i < 1_001; i++) requestLog.record(row(), NONE, true)
  await requestLog.close()
  assert.equal(
    written.map(({ length }) => length),
    [500, 500, 1],
  )
})

test('closing writes what waits, also what arrives during a write', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { clock, requestLog, written } = open({ run: () => promise })
  requestLog.record(row(), NONE, true)
  clock.advance(500)
  requestLog.record(row(), NONE, true)
  const closed = requestLog.close()
  resolve()
  await closed
  assert.is(written.flat().length, 2)
})

test('requests are dropped and counted while too many wait', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { clock, requestLog, written, dropped } = open({ run: () => promise })
  requestLog.record(row(), NONE, true)
  clock.advance(500)
  for (let i = 0; i < 20_007; i++) requestLog.record(row(), NONE, true)
  assert.is(requestLog.droppedCount(), 7)
  resolve()
  await requestLog.close()
  assert.is(written.flat().length, 20_001)
  assert.equal(dropped, [[7, undefined]])
})

test('requests that cannot be stored are dropped, and later ones are written', async () => {
  const fault = new Error('disk full')
  let isFull = true
  const { requestLog, written, dropped } = open({
    async run() {
      if (isFull) throw fault
    },
  })
  requestLog.record(row(), NONE, true)
  await requestLog.flush()
  isFull = false
  requestLog.record(row(), NONE, true)
  await requestLog.flush()
  assert.equal([written.flat().length, dropped, requestLog.droppedCount()], [1, [[1, fault]], 1])
})

test('long bodies are cut', async () => {
  const { requestLog, written } = open()
  const response = 'b'.repeat(BODY_BYTES_MAX + 1)
  requestLog.record(row(), { ...body(BODY_BYTES_MAX + 1), response }, true)
  requestLog.record(row(), { ...body(BODY_BYTES_MAX), response: 'b' }, true)
  await requestLog.flush()
  assert.equal(
    written
      .flat()
      .map(({ requestBody, responseBody, requestCut, responseCut }) => [
        ...[requestBody!.length, requestCut, responseBody!.length, responseCut],
      ]),
    [
      [BODY_BYTES_MAX, true, BODY_BYTES_MAX, true],
      [BODY_BYTES_MAX, false, 1, false],
    ],
  )
})

test('of requests beyond the rate limit, some are logged', async () => {
  const { clock, requestLog, written, dropped } = open()
  const flood = async () => {
    for (let i = 0; i < 2_000; i++) requestLog.record(row({ status: 429 }), NONE, false)
    await requestLog.flush()
    return written.splice(0).flat().length
  }
  assert.is(await flood(), 1_024)
  clock.advance(10_000)
  assert.is(await flood(), 40)
  requestLog.record(row(), NONE, true)
  await requestLog.flush()
  assert.equal([written.flat().length, dropped], [1, []])
})

test('bodies are left out when the setting says so', async () => {
  const { requestLog, written } = open({ hasBodies: false })
  requestLog.record(row(), body(5), true)
  await requestLog.flush()
  assert.is(written.flat()[0]!.requestBody, undefined)
})

/** Records requests of 10 KiB and returns the number of those whose body is stored. */
async function storedOf(opened: ReturnType<typeof open>, count: number, more: Partial<LoggedRequestRow>) {
  const { requestLog, written } = opened
  const before = written.flat().length
  for (let i = 0; i < count; i++) requestLog.record(row(more), body(10_240), true)
  await requestLog.flush()
  return written
    .flat()
    .slice(before)
    .filter(({ requestBody }) => requestBody).length
}

test('an account stores a limited amount of bodies, most of all of failed requests', async () => {
  const opened = open()
  assert.is(await storedOf(opened, 100, { status: 200 }), 51)
  assert.is(await storedOf(opened, 100, { status: 422 }), 51)
  assert.is(await storedOf(opened, 1, { status: 422, accountId: newId(9) }), 1)
  opened.clock.advance(10_000)
  assert.is(await storedOf(opened, 100, { status: 422 }), 4)
  opened.clock.advance(1_000_000)
  assert.is(await storedOf(opened, 100, { status: 200 }), 51)
})

test.run()
