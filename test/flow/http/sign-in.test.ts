import * as assert from 'uvu/assert'
import { openSession } from '../../kit/accounts.ts'
import { freePort } from '../../kit/free-port.ts'
import { type ApiAnswer, type CallOptions, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal, refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('signing in')
const SECONDS = 1_000
const MINUTES = 60 * SECONDS
const FIRST_WAIT_SECONDS = 60

/** Reached over http, behind a proxy on this host that says for whom it asks. */
let mailhorn: Mailhorn
/** Reached over https, by nobody's leave. */
let secure: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn({ env: { MAILHORN_HTTP_TRUSTED_PROXIES: '127.0.0.1' } })
  const port = await freePort()
  secure = await startMailhorn({
    env: {
      MAILHORN_HTTP_BASE_URL: 'https://mail.here.example',
      MAILHORN_HTTP_LISTEN: `127.0.0.1:${port}`,
    },
  })
  secure.baseUrl = `http://127.0.0.1:${port}`
})
test.after(async () => {
  await mailhorn.close()
  await secure.close()
})

const BROWSER = { 'sec-fetch-site': 'same-origin' }
const WRONG = { status: 401, name: 'invalid_access' }
const TOO_MANY = { status: 429, name: 'rate_limit_exceeded' }

let clients = 0
/** An address of a client that nobody has heard of. */
const newClient = () => ({ 'x-forwarded-for': `192.0.2.${++clients}` })

function logIn(to: Mailhorn, body: object, headers: Record<string, string> = {}): Promise<ApiAnswer> {
  return to.call('POST', '/auth/login', { body, headers: { ...newClient(), ...headers } })
}

function cookieOf(answer: ApiAnswer): { name: string; value: string; attributes: string[] } {
  const cookies = answer.headers.getSetCookie()
  assert.is(cookies.length, 1)
  const [pair = '', ...attributes] = cookies[0]!.split('; ')
  const at = pair.indexOf('=')
  return { name: pair.slice(0, at), value: pair.slice(at + 1), attributes: attributes.sort() }
}

function fromBrowser(cookie: { name: string; value: string }): CallOptions {
  return { headers: { cookie: `${cookie.name}=${cookie.value}`, ...BROWSER } }
}

test('answers who it is and which account', async () => {
  const { status, body } = await logIn(mailhorn, mailhorn.admin, BROWSER)
  assert.is(status, 200)
  assert.equal(Object.keys(body).sort(), ['account', 'user'])
  assert.match(body.user.id, /^usr_[0-9a-f-]{36}$/)
  assert.equal([body.user.email, body.user.operator], [mailhorn.admin.email, true])
  assert.match(body.account.id, /^acc_[0-9a-f-]{36}$/)
  assert.equal([body.account.plan, typeof body.account.name], ['scale', 'string'])
  assert.match(body.account.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test('over http sets a cookie that scripts and other sites do not get', async () => {
  const cookie = cookieOf(await logIn(mailhorn, mailhorn.admin))
  assert.is(cookie.name, 'mailhorn_session')
  assert.match(cookie.value, /^phs_[0-9A-Za-z]{40}$/)
  assert.equal(cookie.attributes, ['HttpOnly', 'Max-Age=1209600', 'Path=/', 'SameSite=Lax'])
})

test('over https binds the cookie to its host and to TLS', async () => {
  const cookie = cookieOf(await logIn(secure, secure.admin))
  assert.is(cookie.name, '__Host-mailhorn_session')
  assert.equal(cookie.attributes, ['HttpOnly', 'Max-Age=1209600', 'Path=/', 'SameSite=Lax', 'Secure'])
  assert.is((await secure.call('GET', '/auth/session', fromBrowser(cookie))).status, 200)
  const unbound = { ...cookie, name: 'mailhorn_session' }
  const refusal = { status: 401, name: 'missing_api_key' }
  assertRefusal(await secure.call('GET', '/auth/session', fromBrowser(unbound)), refusal)
})

test('gives a script a token, of the session that its cookie has, and a browser none', async () => {
  const script = await logIn(mailhorn, mailhorn.admin)
  assert.is(script.body.token, cookieOf(script).value)
  const session = await mailhorn.call('GET', '/auth/session', { session: script.body.token })
  assert.equal(session.body, { user: script.body.user, account: script.body.account })
  assert.is((await mailhorn.call('GET', '/auth/session', fromBrowser(cookieOf(script)))).status, 200)

  for (const headers of [BROWSER, { 'sec-fetch-site': 'cross-site' }, { origin: 'http://here.example' }])
    assert.is(
      (await logIn(mailhorn, mailhorn.admin, headers as Record<string, string>)).body.token,
      undefined,
    )
})

test('a script that signs in and out leaves the sessions of others open', async () => {
  const { token: first } = (await logIn(mailhorn, mailhorn.admin)).body
  const listed = async () =>
    (await mailhorn.call('GET', '/auth/sessions', { session: first })).body.data.length
  const before = await listed()
  for (let i = 0; i < 3; i++) {
    const { token } = (await logIn(mailhorn, mailhorn.admin)).body
    assert.is((await mailhorn.call('POST', '/auth/logout', { session: token })).status, 200)
  }
  assert.is(await listed(), before)
})

test('a session is listed with the address and the program that signed in', async () => {
  const { token } = (await logIn(mailhorn, mailhorn.admin, { 'user-agent': 'deploy/1.0' })).body
  const { data } = (await mailhorn.call('GET', '/auth/sessions', { session: token })).body
  const own = data.find(({ current }: { current: boolean }) => current)
  assert.match(own.client_address, /^192\.0\.2\.\d+$/)
  assert.is(own.user_agent, 'deploy/1.0')
})

test('says of an ended session that it has ended', async () => {
  const script = await logIn(mailhorn, mailhorn.admin)
  const browser = cookieOf(await logIn(mailhorn, mailhorn.admin, BROWSER))
  await mailhorn.call('POST', '/auth/logout', { session: script.body.token })
  await mailhorn.call('POST', '/auth/logout', fromBrowser(browser))
  for (const options of [
    { session: script.body.token },
    fromBrowser(browser),
    fromBrowser(cookieOf(script)),
  ]) {
    const refused = await mailhorn.call('GET', '/domains', options)
    assertRefusal(refused, { status: 401, name: 'missing_api_key' })
    assert.match(refused.body.message, /^The session has ended or expired\./)
  }
  const none = await mailhorn.call('GET', '/domains')
  assert.match(none.body.message, /^Missing access token or dashboard session\./)
})

test('opens a new session each time, whatever cookie was there before', async () => {
  const planted = `phs_${'x'.repeat(40)}`
  const first = cookieOf(await logIn(mailhorn, mailhorn.admin, { cookie: `mailhorn_session=${planted}` }))
  assert.is.not(first.value, planted)
  const second = cookieOf(await logIn(mailhorn, mailhorn.admin, fromBrowser(first).headers))
  assert.is.not(second.value, first.value)
  assert.is((await mailhorn.call('GET', '/auth/session', fromBrowser(first))).status, 200)
})

test('reads addresses without regard to case and blanks around them', async () => {
  const email = ` ${mailhorn.admin.email.toUpperCase()} `
  assert.is((await logIn(mailhorn, { ...mailhorn.admin, email })).status, 200)
})

test('does not tell an unknown address from a wrong password', async () => {
  const wrong = await logIn(mailhorn, { ...mailhorn.admin, password: 'wrong' })
  const unknown = await logIn(mailhorn, { email: 'nobody@here.example', password: 'wrong' })
  assertRefusal(wrong, WRONG)
  assert.equal(unknown.body, wrong.body)
  assert.equal(wrong.headers.getSetCookie(), [])
})

for (const password of [
  '',
  ' ',
  'correct horse battery stapl',
  'Correct horse battery staple',
  'x'.repeat(1024),
])
  test(`refuses the password ${JSON.stringify(password.slice(0, 30))}`, async () => {
    assertRefusal(await logIn(mailhorn, { ...mailhorn.admin, password }), WRONG)
  })

for (const [what, fields, expected] of [
  ['no email', { email: undefined }, { status: 422, name: 'missing_required_field', path: 'email' }],
  ['null as email', { email: null }, { status: 422, name: 'missing_required_field', path: 'email' }],
  ['no password', { password: undefined }, { status: 422, name: 'missing_required_field', path: 'password' }],
  ['a number as email', { email: 5 }, { status: 422, name: 'validation_error', path: 'email' }],
  ['a list as password', { password: ['x'] }, { status: 422, name: 'validation_error', path: 'password' }],
  [
    'an object as password',
    { password: { $ne: '' } },
    { status: 422, name: 'validation_error', path: 'password' },
  ],
  [
    'an email of 255 characters',
    { email: 'x'.repeat(255) },
    { status: 422, name: 'validation_error', path: 'email' },
  ],
  [
    'a password of 1025 characters',
    { password: 'x'.repeat(1025) },
    { status: 422, name: 'validation_error', path: 'password' },
  ],
] as const)
  test(`refuses ${what}`, async () => {
    const body = { ...mailhorn.admin, ...fields }
    await refuses(mailhorn, ['POST', '/auth/login', { body, headers: newClient() }], expected)
  })

for (const email of ['a\0b@here.example', "' or 1=1 --", 'a\r\nb', '😀'])
  test(`knows nobody called ${JSON.stringify(email)}`, async () => {
    assertRefusal(await logIn(mailhorn, { email, password: 'x' }), WRONG)
  })

/**
 * Lets the time pass after which an account's former wrong passwords, all from strange addresses, are
 * forgiven.
 */
function forgive() {
  mailhorn.clock.advance(12 * 60 * MINUTES)
}

async function fail(client: Record<string, string>, email: string, times: number) {
  for (let i = 0; i < times; i++)
    assertRefusal(await logIn(mailhorn, { email, password: 'wrong' }, client), WRONG)
}

function waitOf(answer: ApiAnswer): number {
  assertRefusal(answer, TOO_MANY)
  const seconds = answer.headers.get('retry-after')!
  assert.match(seconds, /^\d+$/)
  return Number(seconds)
}

test('lets a client wait after five wrong passwords, longer each time, and no longer than a quarter of an hour', async () => {
  forgive()
  const client = newClient()
  const { email } = mailhorn.admin
  const again = (password: string) => logIn(mailhorn, { email, password }, client)
  await fail(client, email, 5)
  let expected = FIRST_WAIT_SECONDS
  for (let round = 0; round < 5; round++) {
    const seconds = waitOf(await again('wrong'))
    assert.ok(seconds <= expected && seconds > expected - 30, `${seconds} s, not ${expected} s`)
    assert.ok(waitOf(await again(mailhorn.admin.password)) > 0, 'the right password has to wait, too')
    mailhorn.clock.advance(expected * SECONDS)
    assertRefusal(await again('wrong'), WRONG)
    expected = Math.min(2 * expected, 15 * 60)
  }
})

test('forgets wrong passwords after a right one', async () => {
  forgive()
  const client = newClient()
  await fail(client, mailhorn.admin.email, 4)
  assert.is((await logIn(mailhorn, mailhorn.admin, client)).status, 200)
  await fail(client, mailhorn.admin.email, 4)
  assert.is((await logIn(mailhorn, mailhorn.admin, client)).status, 200)
})

test('slows one client at one account, and nobody else', async () => {
  forgive()
  const client = newClient()
  await fail(client, mailhorn.admin.email, 5)
  waitOf(await logIn(mailhorn, mailhorn.admin, client))
  assert.is((await logIn(mailhorn, mailhorn.admin)).status, 200, 'the same account from elsewhere')
  assertRefusal(await logIn(mailhorn, { email: 'other@here.example', password: 'x' }, client), WRONG)
})

test('slows guesses at accounts that do not exist in the same way', async () => {
  const client = newClient()
  await fail(client, 'nobody@here.example', 5)
  const seconds = waitOf(await logIn(mailhorn, { email: 'nobody@here.example', password: 'x' }, client))
  assert.ok(seconds <= FIRST_WAIT_SECONDS)
})

test('counts one account however its address is spelled', async () => {
  forgive()
  const client = newClient()
  const { email } = mailhorn.admin
  for (const spelling of [email, email.toUpperCase(), ` ${email}`, `${email} `, email.replace('a', 'A')])
    await fail(client, spelling, 1)
  waitOf(await logIn(mailhorn, mailhorn.admin, client))
})

test('believes no client about where it comes from', async () => {
  const { email } = secure.admin
  for (let i = 0; i < 5; i++)
    assertRefusal(await logIn(secure, { email, password: 'wrong' }, newClient()), WRONG)
  waitOf(await logIn(secure, secure.admin, newClient()))
  secure.clock.advance(MINUTES)
})

test('believes its proxy about the last hop, and nothing that a client put before it', async () => {
  forgive()
  const { email } = mailhorn.admin
  const hop = Object.values(newClient())[0]!
  for (let i = 0; i < 5; i++) await fail({ 'x-forwarded-for': `198.51.100.${i}, ${hop}` }, email, 1)
  waitOf(await logIn(mailhorn, mailhorn.admin, { 'x-forwarded-for': `198.51.100.99, ${hop}` }))
})

test('keeps thirty sessions: those of browsers, and of programs the ones used last', async () => {
  forgive()
  const countOf = (rest: string) =>
    mailhorn.rows<{ count: number }>(`select count(*) as count from sessions ${rest}`)[0]!.count
  const programs = Array.from({ length: 40 }, () => {
    mailhorn.clock.advance(1 * SECONDS)
    return openSession(mailhorn, 'bearer')
  })
  const { body } = await logIn(mailhorn, mailhorn.admin, BROWSER)
  assert.ok(body.user)
  assert.is(countOf(''), 30)
  const firstKept = 40 - (30 - countOf("where kind = 'cookie'"))
  const [ended, remaining] = [programs[firstKept - 1]!, programs[firstKept]!]
  const refusal = { status: 401, name: 'missing_api_key' }
  assertRefusal(await mailhorn.call('GET', '/auth/session', { session: ended }), refusal)
  assert.is((await mailhorn.call('GET', '/auth/session', { session: remaining })).status, 200)
})

test('signing out ends that session, clears its cookie, and leaves the others', async () => {
  const other = cookieOf(await logIn(mailhorn, mailhorn.admin, BROWSER))
  const cookie = cookieOf(await logIn(mailhorn, mailhorn.admin, BROWSER))
  const out = await mailhorn.call('POST', '/auth/logout', fromBrowser(cookie))
  assert.equal([out.status, out.body], [200, { object: 'session', deleted: true }])
  assert.equal(cookieOf(out), {
    name: 'mailhorn_session',
    value: '',
    attributes: ['HttpOnly', 'Max-Age=0', 'Path=/', 'SameSite=Lax'],
  })
  const refusal = { status: 401, name: 'missing_api_key' }
  assertRefusal(await mailhorn.call('GET', '/auth/session', fromBrowser(cookie)), refusal)
  assert.is((await mailhorn.call('GET', '/auth/session', fromBrowser(other))).status, 200)
})

test('keeps passwords and tokens as hashes alone', async () => {
  const { body } = await logIn(mailhorn, mailhorn.admin)
  const shown = JSON.stringify([
    mailhorn.rows('select * from users'),
    textOf(mailhorn.rows('select * from sessions')),
    textOf(mailhorn.rows('select * from api_keys')),
  ])
  for (const secret of [mailhorn.admin.password, body.token, mailhorn.apiKey])
    assert.not(shown.includes(secret))
  assert.match(shown, /scrypt\$\d+\$8\$1\$/)
})

/** Bytes as what they would say. */
function textOf(rows: readonly object[]) {
  return rows.map(row =>
    Object.values(row).map(value =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
    ),
  )
}

test.run()
