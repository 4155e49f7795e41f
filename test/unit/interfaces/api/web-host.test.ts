/** Tests that pages of links and ACME challenges refuse bodies of ten times their limit. */

import * as assert from 'uvu/assert'
import type { Route } from '../../../../src/interfaces/api/route/route.ts'
import { createHttpApp } from '../../../../src/interfaces/api/server/app.ts'
import { startHttpServer } from '../../../../src/interfaces/api/server/server.ts'
import { UnreadReplies } from '../../../../src/interfaces/api/server/unread-replies.ts'
import { trackingRoutes } from '../../../../src/interfaces/api/tracking/routes.ts'
import { unsubscribeRoutes } from '../../../../src/interfaces/api/unsubscribe/routes.ts'
import { CHALLENGE_PATH, wellKnownRoutes } from '../../../../src/interfaces/api/well-known/routes.ts'
import { createLog } from '../../../../src/lib/log.ts'
import { createSecretKeys } from '../../../../src/lib/secret-keys.ts'
import { NORMAL_MODE } from '../../../../src/pipeline/queue/service-mode.ts'
import { createUnsubscribeToken } from '../../../../src/pipeline/tracking/unsubscribe-token.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { newId } from '../../../kit/new-id.ts'
import { rawRequest } from '../../../kit/raw-http.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('http: pages for strangers')
const FORM_BYTES_MAX = 16 * 1024
const secrets = createSecretKeys(Buffer.alloc(32, 'k'))
const subscription = { accountId: newId(1), address: 'ann@there.example', topicId: null, broadcastId: null }
const TOKEN = createUnsubscribeToken(secrets, subscription)

/** @param isOfChallenges whether it is the listener of ACME challenges alone */
async function open(t: TestContext, isOfChallenges: boolean) {
  const store = await t.using(openLocalStore())
  const clock = createManualClock()
  let storedCount = 0
  const count = () => void storedCount++
  const routes: Route[] = [
    ...unsubscribeRoutes({ secrets, store: { ...store, run: (async () => count()) as never }, clock }),
    ...trackingRoutes({ secrets, visits: { opened: count, clicked: count }, isRecorded: () => true, clock }),
    ...wellKnownRoutes({ ...store, clock, mailHost: 'mx.test', secrets, findPolicy: async () => undefined }),
  ]
  const app = createHttpApp({
    requestLog: undefined,
    countRequest: () => {},
    serviceMode: { current: NORMAL_MODE },
    pages: undefined,
    isLinkHost: () => !isOfChallenges,
    routes: isOfChallenges ? routes.filter(({ path }) => path === CHALLENGE_PATH) : routes,
    findCredential: async () => null,
    clientAddressOf: () => '127.0.0.1',
    readBody: () => Promise.reject(new Error('nothing here has a JSON body')),
    headers: {},
    spendRequest: undefined,
    unreadReplies: new UnreadReplies(2 ** 30, clock),
    clock,
    log: createLog('silent'),
  })
  const server = await startHttpServer(app, { host: '127.0.0.1', port: 0, clock })
  t.after(() => server.close(0))
  return { url: `http://127.0.0.1:${server.address().port}`, clock, storedCount: () => storedCount }
}

const FORM = 'application/x-www-form-urlencoded'
const MULTIPART = 'multipart/form-data; boundary=x'
for (const [what, path, type, status, isOfChallenges] of [
  ['the unsubscribe page, as a form', `/u/${TOKEN}`, FORM, 413, false],
  ['the unsubscribe page, in parts', `/u/${TOKEN}`, MULTIPART, 413, false],
  ['an unsubscribe page that does not exist', '/u/x', FORM, 404, false],
  ['a pixel', '/o/x', FORM, 405, false],
  ['a tracked link', '/c/x', FORM, 405, false],
  ['a shared email', '/s/x', FORM, 404, false],
  ['the API, at a link host', '/auth/login', 'application/json', 404, false],
  ['an ACME challenge', '/.well-known/acme-challenge/x', FORM, 405, true],
  ['the API, at the listener of challenges', '/auth/login', 'application/json', 404, true],
  ['the unsubscribe page, at the listener of challenges', `/u/${TOKEN}`, FORM, 404, true],
] as const)
  for (const framing of ['length', 'chunks'])
    test(`ten times the largest form to ${what}, by ${framing}, is ${status} and stores nothing`, async t => {
      const { url, clock, storedCount } = await open(t, isOfChallenges)
      const body = `List-Unsubscribe=One-Click&x=${'x'.repeat(10 * FORM_BYTES_MAX)}`
      const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: ${type}\r\n`
      const request =
        framing === 'length'
          ? `${head}content-length: ${body.length}\r\n\r\n${body}`
          : `${head}transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
      assert.is((await rawRequest(url, request)).status, status)
      assert.is(storedCount(), 0)
      assert.is((await rawRequest(url, 'GET /u/x HTTP/1.1\r\nhost: x\r\n\r\n')).status, 404)
      assert.ok(clock.timerCount <= 2, `${clock.timerCount} timers`)
    })

test('a token of ten times its length is no link', async t => {
  const { url } = await open(t, false)
  for (const path of ['u', 'o', 'c']) {
    const { status } = await rawRequest(url, `GET /${path}/${'x'.repeat(10_240)} HTTP/1.1\r\nhost: x\r\n\r\n`)
    assert.is(status, 404)
  }
})

test.run()
