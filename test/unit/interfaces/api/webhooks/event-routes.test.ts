import * as assert from 'uvu/assert'
import { ApiError } from '../../../../../src/interfaces/api/api-error.ts'
import type { ApiReply, ApiRequest } from '../../../../../src/interfaces/api/route/route.ts'
import { webhookEventRoutes } from '../../../../../src/interfaces/api/webhooks/event-routes.ts'
import { sameId, wireId } from '../../../../../src/lib/ids.ts'
import type { ListedDelivery } from '../../../../../src/pipeline/webhooks/webhook-rows.ts'
import type { Webhooks } from '../../../../../src/pipeline/webhooks/webhooks.ts'
import { deliveryRow } from '../../../../../src/resources/events/outbox.ts'
import type { LoggedAttempt, WebhookDeliveryRow } from '../../../../../src/store/model/schema.ts'
import { newId } from '../../../../kit/new-id.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('api: events of a webhook')
const NOW = Date.parse('2026-01-01T00:00:00Z')
const [WEBHOOK, ACCOUNT] = [newId(NOW), newId(NOW)]
/** Oldest first. */
const EVENTS = Array.from({ length: 5 }, () => newId(NOW))
const [first, second, third, fourth, fifth] = EVENTS.map(id => wireId('evt', id)) as [
  string,
  string,
  string,
  string,
  string,
]
const BODY = { type: 'email.sent', created_at: '2026-01-01T00:00:00.000Z', data: { email_id: 'eml_1' } }

function delivery(eventId = EVENTS[0]!, changes: Partial<WebhookDeliveryRow> = {}): ListedDelivery {
  const fields = {
    webhookId: WEBHOOK,
    accountId: ACCOUNT,
    id: newId(NOW),
    body: JSON.stringify(BODY),
    at: NOW,
  }
  return { ...deliveryRow(fields, { id: eventId, type: 'email.sent' }), dialect: null, ...changes }
}

/** The routes over a webhook with these deliveries, newest first. */
function open(deliveries: readonly ListedDelivery[] = EVENTS.map(id => delivery(id)).reverse()) {
  const webhooks = {
    deliveries: async (accountId, id) =>
      sameId(accountId, ACCOUNT) && sameId(id, WEBHOOK) ? [...deliveries] : undefined,
  } as Pick<Webhooks, 'deliveries'> as Webhooks
  const routes = webhookEventRoutes({ webhooks, mailHost: 'mailhorn.test' })
  const get = async (path: string, params: Record<string, string>, query: string, accountId = ACCOUNT) => {
    const { handle } = routes.find(route => route.method === 'GET' && route.path.endsWith(path))!
    const request = { params, query: new URLSearchParams(query), credential: { accountId } } as unknown
    const { body } = (await handle(request as ApiRequest)) as ApiReply
    // biome-ignore lint/suspicious/noExplicitAny: what a client reads
    return body as any
  }
  const ofWebhook = { id: wireId('wh', WEBHOOK) }
  return {
    list: (query = '', params = ofWebhook, accountId = ACCOUNT) => get('/events', params, query, accountId),
    event: (id: string, params = ofWebhook) => get('/:event_id', { ...params, event_id: id }, ''),
    attempts: (query = '', id = first) => get('/attempts', { ...ofWebhook, event_id: id }, query),
  }
}

async function refusalOf(answer: Promise<unknown>) {
  const error = await answer.then(
    () => undefined,
    caught => caught,
  )
  assert.instance(error, ApiError)
  return [error.status, error.message, error.errors?.[0]?.path]
}

const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)

for (const [query, rows, hasMore] of [
  ['', [fifth, fourth, third, second, first], false],
  ['limit=5', [fifth, fourth, third, second, first], false],
  ['limit=4', [fifth, fourth, third, second], true],
  ['limit=2&offset=1', [fourth, third], true],
  ['limit=2&offset=3', [second, first], false],
  ['offset=5', [], false],
  [`limit=2&after=${fourth}`, [third, second], true],
  [`limit=2&after=${third}`, [second, first], false],
  [`after=${first}`, [], false],
  [`limit=2&before=${first}`, [third, second], true],
  [`limit=2&before=${third}`, [fifth, fourth], false],
  [`before=${fifth}`, [], false],
] as const)
  test(`given five events, ?${query} shows ${rows.length} of them, next to the cursor`, async () => {
    const page = await open().list(query)
    assert.equal(idsOf(page), rows)
    assert.equal([page.total, page.has_more], [5, hasMore])
  })

test('events of an unknown webhook, or of one of another account, are not found', async () => {
  const { list, event } = open()
  const params = { id: wireId('wh', newId(NOW)) }
  const notFound = [404, 'Webhook not found', undefined]
  assert.equal(await refusalOf(list('', params)), notFound)
  assert.equal(await refusalOf(list('', undefined, newId(NOW))), notFound)
  assert.equal(await refusalOf(event(first, params)), notFound)
})

test('an event is shown with its payload and the time of the next attempt', async () => {
  const waiting = delivery(EVENTS[1], { attempts: 1, responseStatus: 500, nextAt: NOW + 5_000 })
  const { event } = open([waiting, delivery(EVENTS[0], { state: 1, success: 1 })])
  const row = { object: 'webhook_event', type: 'email.sent', created_at: BODY.created_at, payload: BODY }
  assert.equal(await event(second), {
    ...row,
    id: second,
    status: 'pending',
    next_attempt_at: '2026-01-01T00:00:05.000Z',
  })
  assert.equal(await event(first), { ...row, id: first, status: 'success', next_attempt_at: null })
})

test('an event that was not sent to the webhook, or an id of no event, is not found', async () => {
  const { event } = open()
  for (const id of [wireId('evt', newId(NOW)), wireId('wh', EVENTS[0]!), 'nothing', ''])
    assert.equal(await refusalOf(event(id)), [404, 'Webhook event not found', undefined], id)
})

/** An event after three attempts, of which the second had no response. */
function openAttempted() {
  const log: LoggedAttempt[] = [500, null, 503].map((status, i) => ({
    attempt: i + 1,
    startedAt: NOW + i * 1_000,
    status,
    response: status === null ? 'timed out' : `answer ${i + 1}`,
  }))
  const attempted = delivery(EVENTS[0], { attempts: 3, responseStatus: 503, attemptLog: JSON.stringify(log) })
  return open([delivery(EVENTS[1]), attempted])
}

test('attempts are listed newest first, and one without a response has the status code 0', async () => {
  const { data, total, has_more } = await openAttempted().attempts()
  assert.equal([total, has_more], [3, false])
  assert.equal(
    data.map(({ id: _, ...attempt }: { id: string }) => attempt),
    [
      { http_status_code: 503, response: 'answer 3', sent_at: '2026-01-01T00:00:02.000Z' },
      { http_status_code: 0, response: 'timed out', sent_at: '2026-01-01T00:00:01.000Z' },
      { http_status_code: 500, response: 'answer 1', sent_at: '2026-01-01T00:00:00.000Z' },
    ],
  )
})

test('attempts are paged by the id of an attempt', async () => {
  const { attempts } = openAttempted()
  const [newest, middle, oldest] = idsOf(await attempts())
  const page = async (query: string) => {
    const { total, has_more, ...rest } = await attempts(query)
    assert.is(total, 3)
    return [idsOf(rest), has_more]
  }
  assert.equal(await page('limit=1'), [[newest], true])
  assert.equal(await page('limit=3&after='), [[newest, middle, oldest], false])
  assert.equal(await page(`limit=1&after=${newest}`), [[middle], true])
  assert.equal(await page(`limit=1&after=${middle}`), [[oldest], false])
  assert.equal(await page(`after=${oldest}`), [[], false])
})

test('attempts: a bad limit and an id of no attempt of this event are refused', async () => {
  const { attempts } = openAttempted()
  for (const query of ['limit=0', 'limit=101', 'limit=x'])
    assert.equal(
      (await refusalOf(attempts(query))).filter((_, i) => i !== 1),
      [422, 'limit'],
      query,
    )
  const message = 'The `after` parameter must be the id of an attempt of this event.'
  assert.equal(await refusalOf(attempts('after=whd_none.1')), [422, message, 'after'])
  const foreign = idsOf(await attempts())[0]
  assert.equal(await refusalOf(attempts(`after=${foreign}`, second)), [422, message, 'after'])
  assert.equal(idsOf(await attempts('limit=100')).length, 3)
})

test('given 21 attempts, a page without a limit has 20', async () => {
  const log = Array.from({ length: 21 }, (_, i) => ({
    attempt: i + 1,
    startedAt: NOW,
    status: 500,
    response: '',
  }))
  const { attempts } = open([delivery(EVENTS[0], { attempts: 21, attemptLog: JSON.stringify(log) })])
  const { data, has_more } = await attempts()
  assert.equal([data.length, has_more], [20, true])
})

test.run()
