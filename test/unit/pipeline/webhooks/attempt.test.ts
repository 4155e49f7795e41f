import * as assert from 'uvu/assert'
import { attemptWebhook, isSuccess, storedText } from '../../../../src/pipeline/webhooks/attempt.ts'
import type { ClaimedWebhookDelivery } from '../../../../src/pipeline/webhooks/dispatch-commands.ts'
import type { OutboundReply } from '../../../../src/protocols/http-client/exchange.ts'
import { OutboundFault } from '../../../../src/protocols/http-client/fault.ts'
import type { Outbound } from '../../../../src/protocols/http-client/outbound.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { newId } from '../../../kit/new-id.ts'
import { suite } from '../../../kit/suite.ts'

type OutboundRequest = Parameters<Outbound['send']>[0]

const test = suite('webhooks/attempt')
const [SECOND_MS, MINUTE_MS, HOUR_MS] = [1_000, 60_000, 3_600_000]
const ELAPSED_MS = 250.4

const replied = (status: number, text = ''): OutboundReply => ({
  status,
  headers: {},
  body: Buffer.from(text),
})

/** Makes one attempt whose request takes a quarter of a second. */
async function attempted(
  reply: OutboundReply | OutboundFault,
  { attempt = 1, isTest = 0, random = 0 }: { attempt?: number; isTest?: 0 | 1; random?: number } = {},
) {
  const clock = createManualClock()
  const startedAt = clock.now()
  const requests: OutboundRequest[] = []
  const send = async (request: OutboundRequest) => {
    requests.push(request)
    clock.advance(ELAPSED_MS)
    return reply
  }
  const delivery = { id: 7, eventId: newId(0), attempt, isTest, eventType: 'email.sent', body: '{"a":1}' }
  const result = await attemptWebhook(
    { outbound: { send }, clock, random: () => random, mailHost: 'mail.here.test' },
    {
      webhookId: newId(0),
      url: 'https://hook.test/a',
      dialect: null,
      signing: { secrets: ['whsec_dGVzdA=='], isStandard: false },
    },
    delivery as unknown as ClaimedWebhookDelivery,
  )
  const { nextAt } = result
  const delayMs = nextAt === null ? null : nextAt - clock.now()
  return { result, requests, startedAt, delayMs }
}

for (const [status, success] of [
  [199, false],
  [200, true],
  [204, true],
  [299, true],
  [300, false],
  [410, false],
  [500, false],
] as const)
  test(`webhook attempt: status ${status} is ${success ? 'a success' : 'retried after five seconds'}`, async () => {
    const { result, delayMs, startedAt } = await attempted(replied(status, 'said'))
    assert.is(isSuccess(replied(status)), success)
    assert.equal(
      [result.success, result.responseStatus, result.responseBody, result.error],
      [success, status, 'said', null],
    )
    assert.is(delayMs, success ? null : 5 * SECOND_MS)
    assert.equal([result.startedAt, result.durationMs], [startedAt, 250])
  })

test('webhook attempt: a fault is no reply, and is retried with its reason', async () => {
  const { result, delayMs } = await attempted(new OutboundFault('unreachable', 'the host cannot be reached'))
  assert.equal(
    [result.success, result.responseStatus, result.responseBody, result.error],
    [false, null, null, 'the host cannot be reached'],
  )
  assert.is(delayMs, 5 * SECOND_MS)
})

test('webhook attempt: the delays are the documented ones, and up to a tenth longer', async () => {
  const documented = [
    5 * SECOND_MS,
    5 * MINUTE_MS,
    30 * MINUTE_MS,
    2 * HOUR_MS,
    5 * HOUR_MS,
    10 * HOUR_MS,
    10 * HOUR_MS,
    null,
  ]
  for (const [random, factor] of [
    [0, 1],
    [1, 1.1],
  ] as const)
    for (const [i, delay] of documented.entries()) {
      const { delayMs } = await attempted(replied(500), { attempt: i + 1, random })
      assert.is(delayMs, delay === null ? null : Math.round(delay * factor), `after attempt ${i + 1}`)
    }
})

test('webhook attempt: a test is made once', async () => {
  assert.is((await attempted(replied(500), { isTest: 1 })).delayMs, null)
})

test('webhook attempt: the request is signed, and its limits are those of webhooks', async () => {
  const { requests } = await attempted(replied(200))
  const [{ headers, ...request }] = requests as [OutboundRequest]
  assert.equal(request, {
    url: 'https://hook.test/a',
    method: 'POST',
    body: '{"a":1}',
    limitMs: 10_000,
    limitBytes: 65_536,
    whenLonger: 'cut',
    whenBroken: 'cut',
  })
  assert.is((headers as Record<string, string>)['content-type'], 'application/json')
  assert.ok(Object.keys(headers!).some(name => /signature/i.test(name)))
})

test('webhook attempt: 4 KiB of a response are stored, without NUL characters', () => {
  assert.is(storedText(Buffer.from(`a\0b${'c'.repeat(5_000)}`)), `a\ufffdb${'c'.repeat(4_093)}`)
  assert.is(storedText(Buffer.alloc(0)), '')
})

test.run()
