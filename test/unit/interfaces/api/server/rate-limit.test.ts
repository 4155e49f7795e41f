import { pino } from 'pino'
import * as assert from 'uvu/assert'
import * as z from 'zod'
import { ApiError } from '../../../../../src/interfaces/api/api-error.ts'
import { type Credential, ok, type Route } from '../../../../../src/interfaces/api/route/route.ts'
import { createHttpApp } from '../../../../../src/interfaces/api/server/app.ts'
import { createSpendRequest } from '../../../../../src/interfaces/api/server/rate-limit.ts'
import { startHttpServer } from '../../../../../src/interfaces/api/server/server.ts'
import { UnreadReplies } from '../../../../../src/interfaces/api/server/unread-replies.ts'
import { createIdSource } from '../../../../../src/lib/ids.ts'
import { NORMAL_MODE } from '../../../../../src/pipeline/queue/service-mode.ts'
import { createRateLimit } from '../../../../../src/resources/accounts/rate-limit.ts'
import { type BodyReading, openBodyReading } from '../../../../kit/bodies.ts'
import { createManualClock } from '../../../../kit/manual-clock.ts'
import { assertRefusal } from '../../../../kit/refusals.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'

const test = suite('http: rate limit')
const newId = createIdSource()
const HEADERS = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'retry-after']
const TOO_MANY = { status: 429, name: 'rate_limit_exceeded', says: /3 requests per second/ }

const described = { summary: 'For the test', replies: { 200: z.looseObject({}) } }
const routes: Route[] = [
  {
    method: 'POST',
    path: '/things',
    access: 'key',
    ...described,
    handle: async request => ok({ body: await request.body() }),
  },
  {
    method: 'GET',
    path: '/broken',
    access: 'key',
    ...described,
    handle: () => Promise.reject(new Error('a bug')),
  },
  { method: 'GET', path: '/open', access: 'public', ...described, handle: async () => ok({}) },
]

let reading: BodyReading
test.before(async () => {
  reading = await openBodyReading()
})
test.after(() => reading.close())

/** A rate-limited HTTP server that takes three requests a second; the bearer token names the account. */
async function openDoor(t: TestContext) {
  const clock = createManualClock()
  const accounts = new Map<string, Credential>()
  for (const name of ['a', 'b'])
    accounts.set(name, { kind: 'key', accountId: newId(1), apiKeyId: newId(1), domain: null })
  const app = createHttpApp({
    requestLog: undefined,
    countRequest: () => {},
    serviceMode: { current: NORMAL_MODE },
    pages: undefined,
    isLinkHost: () => false,
    routes,
    async findCredential({ headers }, { access }) {
      const credential = accounts.get((headers.authorization ?? '').replace('Bearer ', ''))
      if (!credential && access !== 'public') throw new ApiError(401, 'missing_api_key', 'Who are you?')
      return credential ?? null
    },
    clientAddressOf: () => '127.0.0.1',
    readBody: reading.readBody,
    headers: {},
    spendRequest: createSpendRequest(createRateLimit({ clock, requestsPerSecond: 3 })),
    unreadReplies: new UnreadReplies(2 ** 30, clock),
    clock,
    log: pino({ level: 'silent' }),
  })
  const server = await startHttpServer(app, { host: '127.0.0.1', port: 0 })
  t.after(() => server.close(0))
  const call = async (method: string, path: string, account?: string, body?: string) => {
    const response = await fetch(`http://127.0.0.1:${server.address().port}${path}`, {
      method,
      headers: {
        ...(account === undefined ? {} : { authorization: `Bearer ${account}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
    })
    const { status, headers } = response
    return { status, headers, body: await response.json(), limits: HEADERS.map(name => headers.get(name)) }
  }
  return { clock, call }
}

test('rate limit: every reply has the ratelimit headers, and the refusal a retry-after', async t => {
  const { call } = await openDoor(t)
  for (const left of ['2', '1', '0']) {
    const { status, limits } = await call('POST', '/things', 'a')
    assert.equal([status, limits], [200, ['3', left, '1', null]])
  }
  const refused = await call('POST', '/things', 'a')
  assertRefusal(refused, TOO_MANY)
  assert.equal(refused.limits, ['3', '0', '1', '1'])
})

test('rate limit: 4xx and 5xx replies count and have the headers', async t => {
  const { call } = await openDoor(t)
  const malformed = await call('POST', '/things', 'a', '{')
  assert.equal([malformed.status, malformed.limits], [400, ['3', '2', '1', null]])
  const broken = await call('GET', '/broken', 'a')
  assert.equal([broken.status, broken.limits], [500, ['3', '1', '1', null]])
})

test('rate limit: it is checked before the body is read', async t => {
  const { call } = await openDoor(t)
  for (let i = 0; i < 3; i++) await call('POST', '/things', 'a')
  assertRefusal(await call('POST', '/things', 'a', '{'), TOO_MANY)
})

test('rate limit: unknown paths, wrong methods and missing credentials do not count', async t => {
  const { call } = await openDoor(t)
  for (let i = 0; i < 3; i++) await call('POST', '/things', 'a')
  for (const [method, path, account, status] of [
    ['GET', '/nowhere', 'a', 404],
    ['GET', '/things', 'a', 405],
    ['POST', '/things', undefined, 401],
    ['POST', '/things', 'stranger', 401],
  ] as const) {
    const answer = await call(method, path, account)
    assert.equal([answer.status, answer.limits], [status, [null, null, null, null]])
  }
  assertRefusal(await call('POST', '/things', 'a'), TOO_MANY)
})

test('rate limit: public routes have none', async t => {
  const { call } = await openDoor(t)
  for (let i = 0; i < 5; i++) {
    const { status, limits } = await call('GET', '/open', 'a')
    assert.equal([status, limits], [200, [null, null, null, null]])
  }
  assert.is((await call('POST', '/things', 'a')).status, 200)
})

test('rate limit: accounts are independent, and tokens are refilled over time', async t => {
  const { call, clock } = await openDoor(t)
  for (let i = 0; i < 4; i++) await call('POST', '/things', 'a')
  assert.is((await call('POST', '/things', 'b')).status, 200)
  clock.advance(334)
  const { status, limits } = await call('POST', '/things', 'a')
  assert.equal([status, limits], [200, ['3', '0', '1', null]])
})

test('rate limit: concurrent requests do not exceed it', async t => {
  const { call } = await openDoor(t)
  const answers = await Promise.all(Array.from({ length: 40 }, () => call('POST', '/things', 'a')))
  assert.is(answers.filter(({ status }) => status === 200).length, 3)
})

test.run()
