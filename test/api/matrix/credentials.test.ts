import * as assert from 'uvu/assert'
import type { Route } from '../../../src/interfaces/api/route/route.ts'
import { createCheckedToken } from '../../../src/resources/accounts/tokens.ts'
import { openSession } from '../../kit/accounts.ts'
import { type ApiAnswer, type CallOptions, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal, type ExpectedRefusal } from '../../kit/refusals.ts'
import { allRoutes, pathOf } from '../../kit/routes.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('credentials')
const routes = await allRoutes()
const COOKIE = 'mailhorn_session'
const IDLE_MS = 14 * 86_400_000
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const NO_KEY = { status: 401, name: 'missing_api_key' }
const BAD_KEY = { status: 401, name: 'invalid_api_key' }
const ONLY_SENDING = { status: 401, name: 'restricted_api_key' }
const ELSEWHERE = { status: 403, name: 'security_error' }
const BOUND = { status: 403, name: 'invalid_access' }
const ACCEPTED = 'accepted'

/** Expected result of each kind of route for one kind of credential. */
interface Row {
  who: string
  /** Whether every route is tested; otherwise one route of each kind. */
  everywhere?: true
  with(): CallOptions | Promise<CallOptions>
  key: ExpectedRefusal | typeof ACCEPTED
  session: ExpectedRefusal | typeof ACCEPTED
  /** Expected result of writes, if it differs from that of reads. */
  write?: ExpectedRefusal
  /** Expected result of writes that concern the whole account. */
  wholeAccount?: ExpectedRefusal
}

const bearer = (token: string): CallOptions => ({ headers: { authorization: `Bearer ${token}` } })
const authorization = (value: string): CallOptions => ({ headers: { authorization: value } })
const cookie = (value: string, headers: Record<string, string> = {}): CallOptions => ({
  headers: { cookie: value, ...headers },
})
const freshCookie = () => `${COOKIE}=${openSession(mailhorn, 'cookie')}`
const unknownKey = `re_${'x'.repeat(40)}`

let bound: Promise<string> | undefined

function boundKey(): Promise<string> {
  const make = async () => {
    const session = openSession(mailhorn, 'bearer')
    const { body: domain } = await mailhorn.call('POST', '/domains', {
      session,
      body: { name: 'bound.example' },
    })
    const body = { name: 'bound', domain_id: domain.id }
    return (await mailhorn.call('POST', '/api-keys', { session, body })).body.token as string
  }
  bound ??= make()
  return bound
}

async function deletedKey(): Promise<string> {
  const session = openSession(mailhorn, 'bearer')
  const { body } = await mailhorn.call('POST', '/api-keys', { session, body: { name: 'gone' } })
  await mailhorn.call('DELETE', `/api-keys/${body.id}`, { session })
  return body.token
}

async function loggedOut(kind: 'bearer' | 'cookie'): Promise<string> {
  const token = openSession(mailhorn, kind)
  const options =
    kind === 'bearer' ? bearer(token) : cookie(`${COOKIE}=${token}`, { origin: mailhorn.baseUrl })
  assert.is((await mailhorn.call('POST', '/auth/logout', options)).status, 200)
  return token
}

const TABLE: Row[] = [
  { who: 'nobody', everywhere: true, with: () => ({}), key: NO_KEY, session: NO_KEY },
  { who: 'an empty header', with: () => authorization(''), key: NO_KEY, session: NO_KEY },
  { who: 'a scheme alone', with: () => authorization('Bearer'), key: NO_KEY, session: NO_KEY },
  { who: 'another scheme', with: () => authorization('Basic YTpi'), key: NO_KEY, session: NO_KEY },
  { who: 'garbage', with: () => bearer('garbage'), key: BAD_KEY, session: BAD_KEY },
  { who: 'an unknown key', everywhere: true, with: () => bearer(unknownKey), key: BAD_KEY, session: BAD_KEY },
  {
    who: 'the beginning of a good key',
    with: () => bearer(mailhorn.apiKey.slice(0, -1)),
    key: BAD_KEY,
    session: BAD_KEY,
  },
  {
    who: 'a good key in other letters',
    with: () => bearer(mailhorn.apiKey.toUpperCase()),
    key: BAD_KEY,
    session: BAD_KEY,
  },
  { who: 'a deleted key', with: async () => bearer(await deletedKey()), key: BAD_KEY, session: BAD_KEY },
  {
    who: 'an API key',
    everywhere: true,
    with: () => bearer(mailhorn.apiKey),
    key: ACCEPTED,
    session: ONLY_SENDING,
  },
  {
    who: 'an API key bound to a domain',
    everywhere: true,
    with: async () => bearer(await boundKey()),
    key: ACCEPTED,
    session: ONLY_SENDING,
    wholeAccount: BOUND,
  },
  {
    who: 'an API key after BEARER and blanks',
    with: () => authorization(`BEARER   ${mailhorn.apiKey} `),
    key: ACCEPTED,
    session: ONLY_SENDING,
  },
  {
    who: 'an API key in place of the cookie',
    with: () => cookie(`${COOKIE}=${mailhorn.apiKey}`),
    key: NO_KEY,
    session: NO_KEY,
  },
  {
    who: 'an unknown access token',
    everywhere: true,
    with: () => bearer(createCheckedToken('mh_')),
    key: BAD_KEY,
    session: BAD_KEY,
  },
  {
    who: 'an access token with a wrong checksum',
    with: () => bearer(`mh_${'x'.repeat(46)}`),
    key: BAD_KEY,
    session: BAD_KEY,
  },
  {
    who: 'a session',
    everywhere: true,
    with: () => bearer(openSession(mailhorn, 'bearer')),
    key: ACCEPTED,
    session: ACCEPTED,
  },
  {
    who: 'an unknown session',
    everywhere: true,
    with: () => bearer(`phs_${'x'.repeat(40)}`),
    key: NO_KEY,
    session: NO_KEY,
  },
  {
    who: 'a session that was logged out',
    with: async () => bearer(await loggedOut('bearer')),
    key: NO_KEY,
    session: NO_KEY,
  },
  {
    who: "a browser's session outside its cookie",
    with: () => bearer(openSession(mailhorn, 'cookie')),
    key: NO_KEY,
    session: NO_KEY,
  },
  {
    who: "a script's session in a cookie",
    with: () => cookie(`${COOKIE}=${openSession(mailhorn, 'bearer')}`, { origin: mailhorn.baseUrl }),
    key: ACCEPTED,
    session: ACCEPTED,
  },
  {
    who: 'a browser at our own page',
    everywhere: true,
    with: () => cookie(freshCookie(), { origin: mailhorn.baseUrl }),
    key: ACCEPTED,
    session: ACCEPTED,
  },
  {
    who: 'a browser that says same-origin',
    with: () => cookie(freshCookie(), { 'sec-fetch-site': 'same-origin' }),
    key: ACCEPTED,
    session: ACCEPTED,
  },
  {
    who: 'a browser with other cookies beside ours',
    with: () => cookie(`a=b; ${freshCookie()}; c="d"; e`, { origin: mailhorn.baseUrl }),
    key: ACCEPTED,
    session: ACCEPTED,
  },
  {
    who: 'a browser at another page',
    everywhere: true,
    with: () => cookie(freshCookie(), { origin: 'https://evil.example' }),
    key: ACCEPTED,
    session: ACCEPTED,
    write: ELSEWHERE,
  },
  {
    who: 'a browser at another port',
    with: () => cookie(freshCookie(), { origin: 'http://127.0.0.1:1' }),
    key: ACCEPTED,
    session: ACCEPTED,
    write: ELSEWHERE,
  },
  {
    who: 'a browser in a sandbox',
    with: () => cookie(freshCookie(), { origin: 'null' }),
    key: ACCEPTED,
    session: ACCEPTED,
    write: ELSEWHERE,
  },
  {
    who: 'a browser at a page of the same site',
    with: () => cookie(freshCookie(), { 'sec-fetch-site': 'same-site', origin: mailhorn.baseUrl }),
    key: ACCEPTED,
    session: ACCEPTED,
    write: ELSEWHERE,
  },
  {
    who: 'a browser that does not say where it is',
    with: () => cookie(freshCookie()),
    key: ACCEPTED,
    session: ACCEPTED,
    write: ELSEWHERE,
  },
  {
    who: 'a browser that was logged out',
    with: async () => cookie(`${COOKIE}=${await loggedOut('cookie')}`, { origin: mailhorn.baseUrl }),
    key: NO_KEY,
    session: NO_KEY,
  },
  {
    who: 'a browser with an empty cookie',
    with: () => cookie(`${COOKIE}=`, { origin: mailhorn.baseUrl }),
    key: NO_KEY,
    session: NO_KEY,
  },
  {
    who: 'a good cookie beside a bad key',
    with: () => ({ headers: { ...bearer(unknownKey).headers, cookie: freshCookie() } }),
    key: BAD_KEY,
    session: BAD_KEY,
  },
]

function isWrite({ method }: Route): boolean {
  return method !== 'GET'
}

function isOfWholeAccount({ path }: Route): boolean {
  return path.startsWith('/suppressions')
}

function isLetIn({ status, body }: ApiAnswer): boolean {
  return ![401, 403, 405].includes(status) && !(status === 404 && /^There is no \//.test(body.message))
}

async function assertAccess(route: Route, row: Row) {
  const expected = expectedOf(route, row)
  const answer = await mailhorn.call(route.method, pathOf(route), await row.with())
  const text = JSON.stringify([row.who, answer.status, answer.body])
  if (expected === ACCEPTED) return assert.ok(isLetIn(answer), text)
  assert.is(answer.status, expected.status, text)
  assertRefusal(answer, expected)
}

function expectedOf(route: Route, row: Row): ExpectedRefusal | typeof ACCEPTED {
  if (route.access === 'public') return ACCEPTED
  const special = isWrite(route) && (row.write ?? (isOfWholeAccount(route) && row.wholeAccount))
  return special || row[route.access]
}

/** Routes that differ in nothing of this say the same to every credential. */
function kindOf(route: Route): string {
  return [route.access, isWrite(route) ? 'write' : 'read', isOfWholeAccount(route)].join(' ')
}

for (const route of routes)
  test(`${route.method} ${route.path}: each kind of credential has its access`, async () => {
    for (const row of TABLE) if (row.everywhere) await assertAccess(route, row)
  })

for (const route of new Map(routes.map(route => [kindOf(route), route])).values())
  for (const row of TABLE) {
    const verb = expectedOf(route, row) === ACCEPTED ? 'lets in' : 'refuses'
    test(`${route.method} ${route.path} ${verb} ${row.who}`, () => assertAccess(route, row))
  }

const guarded = () => routes.filter(({ access }) => access !== 'public')

test('a key is not taken from the query or from another header', async () => {
  for (const route of guarded()) {
    const path = `${pathOf(route)}?api_key=${mailhorn.apiKey}&authorization=Bearer%20${mailhorn.apiKey}`
    const headers = { 'x-api-key': mailhorn.apiKey, 'proxy-authorization': `Bearer ${mailhorn.apiKey}` }
    assertRefusal(await mailhorn.call(route.method, path, { headers }), NO_KEY)
  }
})

/** `/emails/batch` is the path of an email, too. */
function patternOf({ path }: Route): RegExp {
  return new RegExp(`^${path.replace(/:[a-z_]+/g, '[^/]+')}$`)
}

test('an unknown path is 404 and a wrong method 405, whoever asks', async () => {
  for (const options of [{}, bearer('garbage'), bearer(mailhorn.apiKey)]) {
    assertRefusal(await mailhorn.call('POST', '/nowhere', options), { status: 404, name: 'not_found' })
    for (const path of new Set(routes.map(route => pathOf(route)))) {
      const takers = routes.filter(route => patternOf(route).test(path))
      const allowed = [...new Set(takers.map(({ method }) => method))]
      const wrong = (['PATCH', 'PUT', 'DELETE', 'POST'] as const).find(method => !allowed.includes(method))!
      const answer = await mailhorn.call(wrong, path, options)
      assertRefusal(answer, { status: 405, name: 'method_not_allowed' })
      const text = answer.headers.get('allow')!.split(', ')
      assert.equal(text.filter(method => method !== 'HEAD').sort(), allowed.sort(), path)
      assert.is(text.includes('HEAD'), allowed.includes('GET'))
    }
  }
})

test('a bad credential is told before a bad body', async () => {
  for (const { method, path } of guarded().filter((route: Route) => route.method === 'POST')) {
    const at = pathOf({ path } as Route)
    for (const [raw, headers] of [
      ['{', {}],
      ['{}', { 'content-type': 'text/plain' }],
      ['x'.repeat(2 * 1024 * 1024), {}],
    ] as const) {
      assertRefusal(await mailhorn.call(method, at, { raw, headers }), NO_KEY)
      assertRefusal(await mailhorn.call(method, at, { raw, headers, key: unknownKey }), BAD_KEY)
    }
  }
})

test('the use of a key is written down in time', async () => {
  const session = openSession(mailhorn, 'bearer')
  const { body: made } = await mailhorn.call('POST', '/api-keys', { session, body: { name: 'used' } })
  await mailhorn.call('POST', '/emails', { key: made.token, body: {} })
  const usedAt = mailhorn.clock.now()
  mailhorn.clock.advance(61_000)
  for (;;) {
    const { body } = await mailhorn.call('GET', '/api-keys', { session })
    const { last_used_at: at } = body.data.find(({ id }: { id: string }) => id === made.id)
    if (at === null) continue
    assert.ok(Math.abs(Date.parse(at) - usedAt) < 120_000)
    return
  }
})

test('sessions end after 14 days without use, and live on with it', async () => {
  const idle = { bearer: openSession(mailhorn, 'bearer'), cookie: openSession(mailhorn, 'cookie') }
  const used = openSession(mailhorn, 'bearer')
  mailhorn.clock.advance(IDLE_MS - 60_000)
  assert.is((await mailhorn.call('GET', '/auth/session', { session: used })).status, 200)
  mailhorn.clock.advance(120_000)
  for (const route of guarded())
    for (const options of [
      bearer(idle.bearer),
      cookie(`${COOKIE}=${idle.cookie}`, { origin: mailhorn.baseUrl }),
    ])
      assertRefusal(await mailhorn.call(route.method, pathOf(route), options), NO_KEY)
  mailhorn.clock.advance(IDLE_MS - 180_000)
  assert.is((await mailhorn.call('GET', '/auth/session', { session: used })).status, 200)
})

test.run()
