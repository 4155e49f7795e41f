import * as assert from 'uvu/assert'
import { openSession } from '../../kit/accounts.ts'
import { type ApiAnswer, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal, refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('changing the password')
const NO_SESSION = { status: 401, name: 'missing_api_key' }
const WRONG = { status: 401, name: 'invalid_access', path: 'current_password' }
const TOO_MANY = { status: 429, name: 'rate_limit_exceeded' }

let mailhorn: Mailhorn
let password = ''
test.before(async () => {
  mailhorn = await startMailhorn()
  password = mailhorn.admin.password
})
test.after(() => mailhorn.close())

function change(session: string, current: string, next: string): Promise<ApiAnswer> {
  const body = { current_password: current, new_password: next }
  return mailhorn.call('POST', '/auth/password', { session, body })
}

async function changeTo(session: string, next: string): Promise<ApiAnswer> {
  const answer = await change(session, password, next)
  assert.is(answer.status, 200, JSON.stringify(answer.body))
  password = next
  return answer
}

async function signInWith(secret: string): Promise<number> {
  const body = { email: mailhorn.admin.email, password: secret }
  return (await mailhorn.call('POST', '/auth/login', { body })).status
}

const whoAmI = (session: string) => mailhorn.call('GET', '/auth/session', { session })

test('the new one is good and the old one is not', async () => {
  const former = password
  const { status, body } = await changeTo(openSession(mailhorn, 'bearer'), 'eight ch')
  assert.is(status, 200)
  assert.equal(Object.keys(body).sort(), ['id', 'object', 'sessions_ended'])
  assert.is(body.object, 'user')
  assert.match(body.id, /^usr_[0-9a-f-]{36}$/)
  assert.equal([await signInWith('eight ch'), await signInWith(former)], [200, 401])
})

test('it ends all other sessions, of browsers and scripts, and keeps this one', async () => {
  const own = openSession(mailhorn, 'bearer')
  const others = [openSession(mailhorn, 'bearer'), openSession(mailhorn, 'bearer')]
  const browser = openSession(mailhorn, 'cookie')
  const { body } = await changeTo(own, 'another passphrase')
  assert.ok(body.sessions_ended >= 3)
  assert.is((await whoAmI(own)).status, 200)
  for (const session of others) assertRefusal(await whoAmI(session), NO_SESSION)
  const headers = { cookie: `mailhorn_session=${browser}` }
  assertRefusal(await mailhorn.call('GET', '/auth/session', { headers }), NO_SESSION)
  assert.is((await changeTo(own, 'yet another passphrase')).body.sessions_ended, 0)
})

test('a browser changes it with its cookie, from its own origin only', async () => {
  const cookie = `mailhorn_session=${openSession(mailhorn, 'cookie')}`
  const body = { current_password: password, new_password: 'from the browser' }
  const from = (site: string) =>
    mailhorn.call('POST', '/auth/password', { body, headers: { cookie, 'sec-fetch-site': site } })
  assertRefusal(await from('cross-site'), { status: 403, name: 'security_error' })
  assert.is((await from('same-origin')).status, 200)
  password = body.new_password
})

test('API keys go on working', async () => {
  await changeTo(openSession(mailhorn, 'bearer'), 'keys are not passwords')
  const { status } = await mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, body: {} })
  assert.is(status, 422)
})

test('an API key cannot change it', async () => {
  const body = { current_password: password, new_password: 'changed by a key' }
  const expected = { status: 401, name: 'restricted_api_key' }
  await refuses(mailhorn, ['POST', '/auth/password', { key: mailhorn.apiKey, body }], expected)
})

test('letters are the same however they are composed', async () => {
  const session = openSession(mailhorn, 'bearer')
  await changeTo(session, 'Straßencafé'.normalize('NFD'))
  password = password.normalize('NFC')
  assert.is(await signInWith(password), 200)
  await changeTo(session, '😀'.repeat(512))
  assert.is(await signInWith(password), 200)
})

const MISSING = { status: 422, name: 'missing_required_field' }
const INVALID = { status: 422, name: 'validation_error' }

for (const [what, fields, expected] of [
  ['no current one', { current_password: undefined }, { ...MISSING, path: 'current_password' }],
  ['no new one', { new_password: undefined }, { ...MISSING, path: 'new_password' }],
  ['null as new one', { new_password: null }, { ...MISSING, path: 'new_password' }],
  ['an empty new one', { new_password: '' }, { ...INVALID, path: 'new_password' }],
  ['seven characters', { new_password: '7 chars' }, { ...INVALID, path: 'new_password' }],
  ['1,025 characters', { new_password: 'x'.repeat(1025) }, { ...INVALID, path: 'new_password' }],
  ['a number', { new_password: 12_345_678 }, { ...INVALID, path: 'new_password' }],
  ['a list', { new_password: ['long enough'] }, { ...INVALID, path: 'new_password' }],
  ['an object as current one', { current_password: { $ne: '' } }, { ...INVALID, path: 'current_password' }],
  [
    'a very long current one',
    { current_password: 'x'.repeat(1025) },
    { ...INVALID, path: 'current_password' },
  ],
  ['a wrong current one', { current_password: 'wrong' }, WRONG],
  ['an empty current one', { current_password: '' }, WRONG],
] as const)
  test(`refuses ${what}, and changes nothing`, async () => {
    const session = openSession(mailhorn, 'bearer')
    const hashes = () => mailhorn.rows('select password_hash from users')
    const before = hashes()
    const body = { current_password: password, new_password: 'a good new one', ...fields }
    await refuses(mailhorn, ['POST', '/auth/password', { session, body }], expected)
    assert.equal(hashes(), before)
  })

test('who holds a session and guesses has to wait; the other sessions need not', async () => {
  const [stolen, own] = [openSession(mailhorn, 'bearer'), openSession(mailhorn, 'bearer')]
  for (let i = 0; i < 5; i++) assertRefusal(await change(stolen, `guess ${i}`, 'mine now'), WRONG)
  for (const guess of ['guess 6', password]) {
    const answer = await change(stolen, guess, 'mine now')
    assertRefusal(answer, TOO_MANY)
    const seconds = Number(answer.headers.get('retry-after'))
    assert.ok(seconds > 0 && seconds <= 60, `${seconds}`)
  }
  assert.is((await whoAmI(own)).status, 200)
  await changeTo(own, 'the thief is out')
  assertRefusal(await whoAmI(stolen), NO_SESSION)
})

test('very many at once are each refused, for the password or for their number', async () => {
  const sessions = Array.from({ length: 28 }, () => openSession(mailhorn, 'bearer'))
  const answers = await Promise.all(
    [...sessions, ...sessions].map(session => change(session, 'wrong', 'long enough')),
  )
  for (const answer of answers) assertRefusal(answer, answer.status === 429 ? TOO_MANY : WRONG)
  assert.is((await mailhorn.call('GET', '/healthz')).status, 200)
})

test('neither the old nor the new one is stored or shown', async () => {
  const answer = await changeTo(openSession(mailhorn, 'bearer'), 'a very secret secret')
  const stored = JSON.stringify(mailhorn.rows('select * from users'))
  assert.not(stored.includes('secret'))
  assert.not(JSON.stringify(answer.body).includes('secret'))
})

test.run()
