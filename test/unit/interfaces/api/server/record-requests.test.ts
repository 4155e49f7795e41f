import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import * as assert from 'uvu/assert'
import type { Credential } from '../../../../../src/interfaces/api/route/route.ts'
import {
  type RequestState,
  recordRequests,
} from '../../../../../src/interfaces/api/server/record-requests.ts'
import { createLog } from '../../../../../src/lib/log.ts'
import type { Session } from '../../../../../src/resources/accounts/sessions.ts'
import type { RequestLog } from '../../../../../src/resources/request-log/request-log.ts'
import { createManualClock } from '../../../../kit/manual-clock.ts'
import { newId } from '../../../../kit/new-id.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'

const test = suite('http: recorded requests')

const accountId = newId(0)
const KEY = { kind: 'key', accountId, apiKeyId: newId(0), domain: null } as const
const TOKEN = {
  kind: 'token',
  accountId,
  tokenId: newId(0),
  name: 'CI',
  scopes: ['full'],
  operator: false,
  networks: null,
  expiresAt: null,
} as const
const sessionOf = (kind: Session['kind']) => ({
  kind: 'session' as const,
  accountId,
  session: { kind, sessionId: newId(0) } as Session,
})

interface Given {
  method?: string
  path?: string
  headers?: Record<string, string>
  status?: number
  state?: Partial<RequestState>
  /** Credential that a look-up finds; an error if it is not accepted. */
  found?: Credential | null | Error
}

/** A request whose later middleware leaves the given state behind, 25.4 ms after its head. */
async function recorded(t: TestContext, given: Given) {
  const { method = 'GET', path = '/emails', headers = {}, status = 200, state = {}, found = null } = given
  const clock = createManualClock()
  const logged: Parameters<RequestLog['record']>[] = []
  const counted: [number, number][] = []
  let lookUps = 0
  const app = new Koa()
  app.use(
    recordRequests({
      requestLog: {
        record: (...entry: Parameters<RequestLog['record']>) => void logged.push(entry),
      } as unknown as RequestLog,
      countRequest: (...count) => void counted.push(count),
      async findCredential() {
        lookUps++
        if (found instanceof Error) throw found
        return found
      },
      clientAddressOf: () => '203.0.113.9',
      clock,
      log: createLog('silent'),
    }),
  )
  app.use(ctx => {
    const begins = clock.monotonic()
    Object.assign(ctx.state, { id: newId(0), ...state })
    if (state.streamedAt !== undefined) ctx.state.streamedAt = begins + state.streamedAt
    clock.advance(25.4)
    ctx.status = status
  })
  const server = createServer(app.callback())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => new Promise(resolve => server.close(resolve)))
  const { port } = server.address() as AddressInfo
  await fetch(`http://127.0.0.1:${port}${path}`, { method, headers: { connection: 'close', ...headers } })
  return { logged, counted, lookUps, row: logged[0]?.[0], isWithinRate: logged[0]?.[2] }
}

const bearer = { authorization: 'Bearer x' }
for (const [what, given, expected] of [
  ['an accepted key', { state: { credential: KEY } }, 'within the rate'],
  ['an access token', { state: { credential: TOKEN } }, 'within the rate'],
  ['a session with a token', { state: { credential: sessionOf('bearer') } }, 'within the rate'],
  ['the dashboard that reads', { state: { credential: sessionOf('cookie') } }, 'not'],
  ['the dashboard that looks', { method: 'HEAD', state: { credential: sessionOf('cookie') } }, 'not'],
  [
    'the dashboard that writes',
    { method: 'POST', state: { credential: sessionOf('cookie') } },
    'within the rate',
  ],
  ['HEAD with a key', { method: 'HEAD', state: { credential: KEY } }, 'within the rate'],
  [
    'a key beyond its rate',
    { status: 429, state: { credential: KEY, errorName: 'rate_limit_exceeded' } },
    'beyond the rate',
  ],
  [
    'a key beyond its quota',
    { status: 429, state: { credential: KEY, errorName: 'daily_quota_exceeded' } },
    'within the rate',
  ],
  ['a public route', { status: 400, headers: bearer, state: { isPublic: true }, found: KEY }, 'not'],
  ['an unknown path with a key', { status: 404, headers: bearer, found: KEY }, 'beyond the rate'],
  ['a request without a route that succeeds', { headers: bearer, found: KEY }, 'not'],
  ['an unknown path without a key', { status: 404, found: KEY }, 'not'],
  ['an unknown path with an unknown key', { status: 404, headers: bearer, found: null }, 'not'],
  ['an unknown path with a refused key', { status: 404, headers: bearer, found: new Error('no') }, 'not'],
] as const)
  test(`${what} is ${expected === 'not' ? 'not recorded' : `recorded as ${expected}`}`, async t => {
    const { logged, isWithinRate, lookUps } = await recorded(t, given)
    const recordedAs = isWithinRate ? 'within the rate' : 'beyond the rate'
    assert.is(logged.length === 0 ? 'not' : recordedAs, expected)
    const isLookedUp = 'found' in given && !('state' in given) && 'headers' in given && 'status' in given
    assert.is(lookUps, isLookedUp ? 1 : 0)
  })

const session = sessionOf('bearer')
for (const [credential, id] of [
  [KEY, KEY.apiKeyId],
  [TOKEN, TOKEN.tokenId],
  [session, session.session.sessionId],
] as const)
  test(`a ${credential.kind} is recorded by its own id`, async t => {
    const { row } = await recorded(t, { state: { credential } })
    assert.equal([row!.accountId, row!.credentialKind, row!.credentialId], [accountId, credential.kind, id])
  })

test('the time of a request is that to its reply; a streamed reply counts from its beginning', async t => {
  const whole = await recorded(t, { status: 201, state: { credential: KEY } })
  assert.equal(
    [whole.row!.durationMs, whole.counted.map(([status, ms]) => [status, Math.round(ms * 10)])],
    [25, [[201, 254]]],
  )
  const streamed = await recorded(t, { state: { credential: KEY, streamedAt: 7 } })
  assert.equal([streamed.row!.durationMs, streamed.counted], [25, [[200, 7]]])
})

test('path, query and user agent are cut at 500 characters, and absent ones are null', async t => {
  const long = 'a'.repeat(600)
  const { row } = await recorded(t, {
    path: `/${long}?${long}`,
    headers: { 'user-agent': long },
    state: { credential: KEY },
  })
  assert.equal(
    [row!.path, row!.query, row!.userAgent],
    [`/${'a'.repeat(499)}`, 'a'.repeat(500), 'a'.repeat(500)],
  )
  const bare = await recorded(t, { headers: { 'user-agent': '' }, state: { credential: KEY } })
  assert.equal([bare.row!.query, bare.row!.userAgent, bare.row!.errorName], [null, null, null])
})

const SHOWN = '{"object":"email","id":"eml_01890a5d-ac96-774b-bcce-b302099a8057","to":[]}'
for (const [what, given, responseBody, expected] of [
  ['a POST request has made', { method: 'POST' }, SHOWN, 'eml_01890a5d-ac96-774b-bcce-b302099a8057'],
  ['a refused POST request shows', { method: 'POST', status: 300 }, SHOWN, null],
  ['a GET request reads', { method: 'GET' }, SHOWN, null],
  ['is not the first of a reply', { method: 'POST' }, `{"data":[${SHOWN}]}`, null],
  ['no reply shows', { method: 'POST' }, undefined, null],
] as const)
  test(`the id that ${what} is ${expected ? '' : 'not '}recorded`, async t => {
    const { row } = await recorded(t, {
      ...given,
      state: { credential: KEY, ...(responseBody && { responseBody }) },
    })
    assert.is(row!.resourceId, expected)
  })

test.run()
