import * as assert from 'uvu/assert'
import { wireId } from '../../../../src/lib/ids.ts'
import { createLog } from '../../../../src/lib/log.ts'
import { createMetrics } from '../../../../src/lib/metrics.ts'
import { createSecretKeys } from '../../../../src/lib/secret-keys.ts'
import { TooManyWaiting } from '../../../../src/lib/semaphore.ts'
import { PLACE_RETENTION_MS, sweepSignInPlaces } from '../../../../src/resources/accounts/known-places.ts'
import type { Passwords } from '../../../../src/resources/accounts/password.ts'
import type { PasswordTurn } from '../../../../src/resources/accounts/password-queue.ts'
import { createSessions, SESSION_IDLE_MS } from '../../../../src/resources/accounts/sessions.ts'
import { createSignInReport } from '../../../../src/resources/accounts/sign-in-report.ts'
import { newId } from '../../../kit/mail.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'

const test = suite('accounts/sessions')
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** Stands in for scrypt, which takes its time: the stored hash is the password itself. */
const plainPasswords: Passwords = {
  hash: async password => password,
  verify: async (password, stored) => password === stored,
}

async function open(t: TestContext, passwords: Passwords = plainPasswords) {
  const store = await t.using(openLocalStore())
  const clock = createManualClock()
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', { write: line => void lines.push(JSON.parse(line)) })
  const metrics = createMetrics()
  const report = createSignInReport({ metrics, log, clock }, 'http')
  const secrets = createSecretKeys(new Uint8Array(32))
  const sessions = createSessions({ ...store, clock, newId, passwords, secrets, report })
  const accountId = newId(clock.now())
  store.change("insert into accounts (id, name, plan, created_at) values (?, 'Main', 'scale', 0)", accountId)
  const addUser = (email: string, operator = 0) => {
    const id = newId(clock.now())
    store.change(
      'insert into users (id, account_id, email, password_hash, operator, created_at) values (?, ?, ?, ?, ?, 0)',
      id,
      accountId,
      email,
      `password of ${email}`,
      operator,
    )
    return id
  }
  const signIn = (email: string, password = `password of ${email}`, clientAddress = '192.0.2.1') =>
    sessions.signIn({ email, password, clientAddress, kind: 'cookie' })
  const tokenOf = async (email: string, kind: 'cookie' | 'bearer' = 'cookie') => {
    const attempt = { email, password: `password of ${email}`, clientAddress: '192.0.2.1', kind }
    const result = await sessions.signIn(attempt)
    if (result.kind !== 'signed-in') throw new Error(`not signed in: ${result.kind}`)
    return result.token
  }
  const change = async (token: string, current: string, next: string) =>
    sessions.changePassword((await sessions.find(token))!, { current, next })
  return { ...store, clock, sessions, accountId, addUser, signIn, tokenOf, change, lines, metrics }
}

test('session: the right password opens a session', async t => {
  const { addUser, signIn, sessions, accountId } = await open(t)
  const userId = addUser('a@here.test', 1)
  const result = await signIn('a@here.test')
  assert.is(result.kind, 'signed-in')
  if (result.kind !== 'signed-in') return
  assert.match(result.token, /^phs_[0-9A-Za-z]{40}$/)
  assert.is(result.user.email, 'a@here.test')
  const session = await sessions.find(result.token)
  assert.equal(
    { ...session, sessionId: 0, userId: 0, accountId: 0 },
    { sessionId: 0, kind: 'cookie', userId: 0, accountId: 0, email: 'a@here.test', operator: true },
  )
  assert.equal(
    [Buffer.from(session!.userId), Buffer.from(session!.accountId)],
    [Buffer.from(userId), Buffer.from(accountId)],
  )
})

test('session: wrong password and unknown user give the same refusal', async t => {
  const { addUser, signIn, rows } = await open(t)
  addUser('a@here.test')
  assert.equal(await signIn('a@here.test', 'wrong'), { kind: 'refused' })
  assert.equal(await signIn('b@here.test'), { kind: 'refused' })
  assert.equal(rows('select * from sessions'), [])
})

test('session: only the hash of the token is stored', async t => {
  const { addUser, tokenOf, rows } = await open(t)
  addUser('a@here.test')
  const token = await tokenOf('a@here.test')
  const [row] = rows<Record<string, Buffer | string | number>>('select * from sessions')
  assert.is((row!.token_hash as Buffer).length, 32)
  for (const value of Object.values(row!)) assert.not(Buffer.from(String(value)).includes(token))
})

test('session: after five failures network and account wait, others do not', async t => {
  const { addUser, signIn, clock } = await open(t)
  addUser('a@here.test')
  addUser('b@here.test')
  for (let i = 0; i < 5; i++) assert.equal(await signIn('a@here.test', 'wrong'), { kind: 'refused' })
  assert.equal(await signIn('a@here.test'), {
    kind: 'too-many',
    waitMs: MINUTE_MS,
    limit: 'network_and_account',
  })
  assert.is((await signIn('a@here.test', undefined, '192.0.2.2')).kind, 'signed-in')
  assert.is((await signIn('b@here.test')).kind, 'signed-in')
  clock.advance(MINUTE_MS)
  assert.is((await signIn('a@here.test')).kind, 'signed-in')
  assert.equal(await signIn('a@here.test', 'wrong'), { kind: 'refused' })
})

test('session: failures for unknown users count', async t => {
  const { signIn } = await open(t)
  for (let i = 0; i < 5; i++) await signIn('nobody@here.test')
  assert.is((await signIn('nobody@here.test')).kind, 'too-many')
})

test('session: concurrent guesses get no more attempts', async t => {
  const { addUser, signIn } = await open(t)
  addUser('a@here.test')
  const results = await Promise.all(Array.from({ length: 30 }, (_, i) => signIn('a@here.test', `guess ${i}`)))
  assert.is(results.filter(({ kind }) => kind === 'refused').length, 5)
  assert.is(results.filter(({ kind }) => kind === 'too-many').length, 25)
})

test('session: it expires after 14 days without use', async t => {
  const { addUser, tokenOf, sessions, clock } = await open(t)
  addUser('a@here.test')
  const [used, unused] = [await tokenOf('a@here.test'), await tokenOf('a@here.test')]
  assert.is(SESSION_IDLE_MS, 14 * DAY_MS)
  clock.advance(10 * DAY_MS)
  assert.ok(await sessions.find(used))
  clock.advance(4 * DAY_MS)
  assert.ok(await sessions.find(unused))
  clock.advance(10 * DAY_MS)
  assert.ok(await sessions.find(used))
  clock.advance(4 * DAY_MS + 1)
  assert.ok(await sessions.find(used))
  assert.is(await sessions.find(unused), undefined)
})

test('session: use is recorded at most every five minutes', async t => {
  const { addUser, tokenOf, sessions, clock, rows } = await open(t)
  addUser('a@here.test')
  const token = await tokenOf('a@here.test')
  const seen = () => rows<{ at: number }>('select last_seen_at as at from sessions')[0]!.at
  const opened = clock.now()
  clock.advance(5 * MINUTE_MS)
  await sessions.find(token)
  assert.is(seen(), opened)
  clock.advance(1)
  await sessions.find(token)
  assert.is(seen(), clock.now())
})

test('session: at most 30 per user, the least recently used ends', async t => {
  const { addUser, tokenOf, sessions, clock, rows } = await open(t)
  addUser('a@here.test')
  addUser('b@here.test')
  const others = await tokenOf('b@here.test')
  const tokens: string[] = []
  for (let i = 0; i < 30; i++) {
    clock.advance(10 * MINUTE_MS)
    tokens.push(await tokenOf('a@here.test'))
  }
  await sessions.find(tokens[0]!)
  await tokenOf('a@here.test')
  assert.ok(await sessions.find(tokens[0]!))
  assert.is(await sessions.find(tokens[1]!), undefined)
  assert.ok(await sessions.find(tokens[2]!))
  assert.ok(await sessions.find(others))
  assert.equal(rows('select count(*) as n from sessions'), [{ n: 31 }])
})

test('session: the limit applies to concurrent sign-ins', async t => {
  const { addUser, tokenOf, rows } = await open(t)
  addUser('a@here.test')
  const tokens = await Promise.all(Array.from({ length: 40 }, () => tokenOf('a@here.test')))
  assert.is(new Set(tokens).size, 40)
  assert.equal(rows('select count(*) as n from sessions'), [{ n: 30 }])
})

test('session: ending one keeps the others', async t => {
  const { addUser, tokenOf, sessions } = await open(t)
  addUser('a@here.test')
  const [one, other] = [await tokenOf('a@here.test'), await tokenOf('a@here.test')]
  await sessions.end((await sessions.find(one))!.sessionId)
  assert.is(await sessions.find(one), undefined)
  assert.ok(await sessions.find(other))
})

test('session: cookies and bearer tokens are separate', async t => {
  const { addUser, tokenOf, sessions } = await open(t)
  addUser('a@here.test')
  const bearer = await tokenOf('a@here.test', 'bearer')
  const cookie = await tokenOf('a@here.test', 'cookie')
  assert.is((await sessions.find(bearer))!.kind, 'bearer')
  assert.is((await sessions.find(cookie))!.kind, 'cookie')
})

test('session: sign-ins of a program that never signs out end no session of a browser', async t => {
  const { addUser, tokenOf, sessions, clock } = await open(t)
  const userId = addUser('a@here.test')
  const browsers = [await tokenOf('a@here.test'), await tokenOf('a@here.test')]
  const programs: string[] = []
  for (let i = 0; i < 40; i++) {
    clock.advance(MINUTE_MS)
    programs.push(await tokenOf('a@here.test', 'bearer'))
  }
  for (const token of browsers) assert.ok(await sessions.find(token))
  assert.is((await sessions.list(userId)).length, 30)
  assert.equal(
    [await sessions.find(programs[11]!), !!(await sessions.find(programs[12]!))],
    [undefined, true],
  )
})

test('session: further browsers end sessions of programs first, then the browser not seen for the longest', async t => {
  const { addUser, tokenOf, sessions, clock } = await open(t)
  addUser('a@here.test')
  const browsers: string[] = []
  const program = await tokenOf('a@here.test', 'bearer')
  for (let i = 0; i < 30; i++) {
    clock.advance(MINUTE_MS)
    browsers.push(await tokenOf('a@here.test'))
  }
  assert.is(await sessions.find(program), undefined)
  assert.ok(await sessions.find(browsers[0]!))
  await tokenOf('a@here.test')
  assert.equal([!!(await sessions.find(browsers[0]!)), await sessions.find(browsers[1]!)], [true, undefined])
})

test('session: a use that is not written yet keeps a session before others', async t => {
  const { addUser, tokenOf, sessions, clock } = await open(t)
  addUser('a@here.test')
  const used = await tokenOf('a@here.test', 'bearer')
  for (let i = 0; i < 29; i++) {
    clock.advance(1_000)
    await tokenOf('a@here.test', 'bearer')
  }
  clock.advance(1_000)
  assert.ok(await sessions.find(used))
  for (let i = 0; i < 29; i++) {
    clock.advance(1_000)
    await tokenOf('a@here.test', 'bearer')
  }
  assert.ok(await sessions.find(used))
})

const RIGHT = 'password of a@here.test'

test('password change: all other sessions of the user end', async t => {
  const { addUser, tokenOf, sessions, change, signIn } = await open(t)
  addUser('a@here.test')
  addUser('b@here.test')
  const [own, other, third] = [
    await tokenOf('a@here.test'),
    await tokenOf('a@here.test'),
    await tokenOf('a@here.test'),
  ]
  const stranger = await tokenOf('b@here.test')
  assert.equal(await change(own, RIGHT, 'another one'), { kind: 'changed', endedCount: 2 })
  assert.ok(await sessions.find(own))
  assert.ok(await sessions.find(stranger))
  assert.equal([await sessions.find(other), await sessions.find(third)], [undefined, undefined])
  assert.is((await signIn('a@here.test')).kind, 'refused')
  assert.is((await signIn('a@here.test', 'another one')).kind, 'signed-in')
  assert.is((await signIn('b@here.test')).kind, 'signed-in')
})

test('password change: a wrong current password is refused', async t => {
  const { addUser, tokenOf, sessions, change, signIn } = await open(t)
  addUser('a@here.test')
  const [own, other] = [await tokenOf('a@here.test'), await tokenOf('a@here.test')]
  assert.equal(await change(own, 'wrong', 'another one'), { kind: 'refused' })
  assert.ok(await sessions.find(other))
  assert.is((await signIn('a@here.test')).kind, 'signed-in')
})

test('password change: guesses are delayed per session only', async t => {
  const { addUser, tokenOf, change, signIn, clock } = await open(t)
  addUser('a@here.test')
  const [stolen, own] = [await tokenOf('a@here.test'), await tokenOf('a@here.test')]
  const guesses = await Promise.all(Array.from({ length: 20 }, (_, i) => change(stolen, `${i}`, 'mine')))
  assert.is(guesses.filter(({ kind }) => kind === 'refused').length, 5)
  assert.equal(await change(stolen, RIGHT, 'mine'), {
    kind: 'too-many',
    waitMs: MINUTE_MS,
    limit: 'session',
  })
  assert.is((await signIn('a@here.test')).kind, 'signed-in')
  assert.is((await change(own, RIGHT, RIGHT)).kind, 'changed')
  clock.advance(MINUTE_MS)
  assert.is((await change(own, RIGHT, 'yours')).kind, 'changed')
})

test('password change: of two concurrent changes one succeeds and ends the other session', async t => {
  const { addUser, tokenOf, sessions, signIn } = await open(t)
  addUser('a@here.test')
  const tokens = [await tokenOf('a@here.test'), await tokenOf('a@here.test')]
  const found = await Promise.all(tokens.map(token => sessions.find(token)))
  const results = await Promise.all(
    found.map((session, i) => sessions.changePassword(session!, { current: RIGHT, next: `next ${i}` })),
  )
  assert.equal(results.map(({ kind }) => kind).sort(), ['changed', 'refused'])
  const winner = results.findIndex(({ kind }) => kind === 'changed')
  assert.ok(await sessions.find(tokens[winner]!))
  assert.is(await sessions.find(tokens[1 - winner]!), undefined)
  assert.is((await signIn('a@here.test', `next ${winner}`)).kind, 'signed-in')
})

/** Passwords whose checks end only when the test says so. */
function slowPasswords() {
  const checks: (() => void)[] = []
  const passwords: Passwords = {
    ...plainPasswords,
    async verify(password, stored) {
      await new Promise<void>(resolve => checks.push(resolve))
      return password === stored
    },
  }
  const begun = (at: number) => until(() => checks[at])
  const finish = async (at: number) => (await begun(at))()
  return { passwords, begun, finish }
}

test('password change: a concurrent sign-in with the old password fails', async t => {
  const { passwords, begun, finish } = slowPasswords()
  const { addUser, tokenOf, signIn, change, rows } = await open(t, passwords)
  addUser('a@here.test')
  const opening = tokenOf('a@here.test', 'bearer')
  await finish(0)
  const own = await opening
  const signingIn = signIn('a@here.test')
  await begun(1)
  const changing = change(own, RIGHT, 'another one')
  await finish(2)
  assert.equal(await changing, { kind: 'changed', endedCount: 0 })
  await finish(1)
  assert.equal(await signingIn, { kind: 'refused' })
  assert.equal(rows('select count(*) as n from sessions'), [{ n: 1 }])
})

test('password change: a session that ends in the meantime changes nothing', async t => {
  const { passwords, begun, finish } = slowPasswords()
  const { addUser, tokenOf, sessions, change, rows } = await open(t, passwords)
  addUser('a@here.test')
  const opening = tokenOf('a@here.test', 'bearer')
  await finish(0)
  const own = await opening
  const { sessionId } = (await sessions.find(own))!
  const changing = change(own, RIGHT, 'another one')
  await begun(1)
  await sessions.end(sessionId)
  await finish(1)
  assert.equal(await changing, { kind: 'refused' })
  assert.equal(rows('select password_hash as hash from users'), [{ hash: RIGHT }])
})

const HOME = '2001:db8:0:100::1'

/** Wrong passwords from so many networks, once each. */
async function strangersGuess({ signIn }: Awaited<ReturnType<typeof open>>, email: string, count: number) {
  for (let i = 0; i < count; i++) await signIn(email, 'wrong', `203.0.113.${i}`)
}

test('known place: strangers do not delay it', async t => {
  const parts = await open(t)
  const { addUser, signIn } = parts
  addUser('a@here.test')
  addUser('b@here.test')
  for (const email of ['a@here.test', 'b@here.test']) await signIn(email, undefined, HOME)
  await strangersGuess(parts, 'a@here.test', 20)
  assert.equal(await signIn('a@here.test', undefined, '203.0.113.99'), {
    kind: 'too-many',
    waitMs: MINUTE_MS,
    limit: 'account',
  })
  assert.is((await signIn('a@here.test', undefined, '2001:db8:0:1ff::2')).kind, 'signed-in')
  assert.is((await signIn('b@here.test', undefined, '203.0.113.99')).kind, 'signed-in')
})

test('known place: only a right password of the same user makes it known', async t => {
  const parts = await open(t)
  const { addUser, signIn, rows } = parts
  addUser('a@here.test')
  addUser('b@here.test')
  await signIn('a@here.test', 'wrong', HOME)
  assert.equal(rows('select * from sign_in_places'), [])
  await signIn('b@here.test', undefined, HOME)
  await strangersGuess(parts, 'a@here.test', 20)
  assert.is((await signIn('a@here.test', undefined, HOME)).kind, 'too-many')
})

test('known place: networks are stored as keyed hashes', async t => {
  const { addUser, signIn, rows, clock } = await open(t)
  addUser('a@here.test')
  for (const address of [HOME, '2001:db8:0:101::2', '192.0.2.1', '::ffff:192.0.2.1']) {
    await signIn('a@here.test', undefined, address)
    clock.advance(1)
  }
  const stored = rows<{ network_hash: Uint8Array; last_at: number }>(
    'select * from sign_in_places order by last_at',
  )
  assert.equal(
    stored.map(({ network_hash: hash, last_at: at }) => [hash.length, clock.now() - at]),
    [
      [32, 3],
      [32, 1],
    ],
  )
})

test('known place: at most 20 per user, the least recently used is deleted', async t => {
  const parts = await open(t)
  const { addUser, signIn, clock, rows } = parts
  addUser('a@here.test')
  addUser('b@here.test')
  await signIn('b@here.test', undefined, '198.51.100.0')
  for (let i = 0; i < 20; i++) {
    clock.advance(1)
    await signIn('a@here.test', undefined, `198.51.100.${i}`)
  }
  clock.advance(1)
  await signIn('a@here.test', undefined, '198.51.100.0')
  await signIn('a@here.test', undefined, HOME)
  assert.equal(rows('select count(*) as n from sign_in_places'), [{ n: 21 }])
  await strangersGuess(parts, 'a@here.test', 20)
  assert.is((await signIn('a@here.test', undefined, '198.51.100.1')).kind, 'too-many')
  for (const address of ['198.51.100.0', '198.51.100.2', HOME])
    assert.is((await signIn('a@here.test', undefined, address)).kind, 'signed-in')
})

test('known place: it is deleted 90 days after the last sign-in', async t => {
  const parts = await open(t)
  const { addUser, signIn, clock, rows } = parts
  assert.is(PLACE_RETENTION_MS, 90 * DAY_MS)
  addUser('a@here.test')
  await signIn('a@here.test', undefined, HOME)
  clock.advance(PLACE_RETENTION_MS)
  for await (const _ of sweepSignInPlaces(parts));
  assert.equal(rows('select count(*) as n from sign_in_places'), [{ n: 1 }])
  await strangersGuess(parts, 'a@here.test', 20)
  assert.is((await signIn('a@here.test', undefined, HOME)).kind, 'signed-in')
  clock.advance(PLACE_RETENTION_MS + 1)
  await strangersGuess(parts, 'a@here.test', 20)
  assert.is((await signIn('a@here.test', undefined, HOME)).kind, 'too-many')
  for await (const _ of sweepSignInPlaces(parts));
  assert.equal(rows('select * from sign_in_places'), [])
})

test('session: password checks queue per network, known account or user', async t => {
  const turns: (PasswordTurn | undefined)[] = []
  const { addUser, signIn, tokenOf, change } = await open(t, {
    hash: async (password, turn) => {
      turns.push(turn)
      return password
    },
    verify: async (password, stored, turn) => {
      turns.push(turn)
      return password === stored
    },
  })
  addUser('a@here.test')
  for (const address of [HOME, HOME, '192.0.2.1']) await signIn('a@here.test', undefined, address)
  assert.equal(
    turns.map(turn => turn?.standing),
    ['stranger', 'known', 'stranger'],
  )
  const [first, second, third] = turns
  assert.not.equal(first!.owner, second!.owner)
  assert.equal([third!.owner, third!.part], ['192.0.2.1', '192.0.2.1'])
  await signIn('b@here.test', undefined, '2001:db8:0:200::1')
  assert.is(turns[3]!.owner, first!.owner, 'of one /48')
  assert.is.not(turns[3]!.part, first!.part)
  await change(await tokenOf('a@here.test'), RIGHT, 'another one')
  assert.equal(
    turns.slice(-2).map(turn => turn?.standing),
    ['known', 'known'],
  )
})

test('sign-in report: attempts are counted, throttling is logged once per minute', async t => {
  const { addUser, signIn, clock, lines, metrics } = await open(t)
  const id = addUser('a@here.test')
  for (let i = 0; i < 8; i++) await signIn('a@here.test', 'wrong', HOME)
  await signIn('a@here.test')
  assert.is(lines.length, 1)
  const { event, limit, address, user, protocol, retry_in_s: retryInS } = lines[0]!
  assert.equal(
    [event, limit, address, user, protocol, retryInS],
    ['sign_in_throttled', 'network_and_account', HOME, wireId('usr', id), 'http', 60],
  )
  clock.advance(MINUTE_MS)
  await signIn('nobody@here.test', 'wrong', HOME)
  assert.is(lines.length, 1)
  const text = metrics.text()
  for (const [result, count] of [
    ['wrong', 6],
    ['throttled', 3],
    ['right', 1],
  ])
    assert.ok(
      text.includes(`mailhorn_sign_in_attempts_total{protocol="http",result="${result}"} ${count}`),
      text,
    )
})

test('sign-in report: a full queue is reported and is not a guess', async t => {
  const { addUser, signIn, lines } = await open(t, {
    ...plainPasswords,
    verify: () => Promise.reject(new TooManyWaiting('full')),
  })
  addUser('a@here.test')
  for (let i = 0; i < 7; i++) {
    const error = await signIn('a@here.test').catch(reason => reason)
    assert.instance(error, TooManyWaiting)
  }
  assert.equal(
    lines.map(({ event, limit }) => [event, limit]),
    [['sign_in_throttled', 'queue']],
  )
})

test('session: only the exact token finds it', async t => {
  const { addUser, tokenOf, sessions } = await open(t)
  addUser('a@here.test')
  const token = await tokenOf('a@here.test')
  for (const text of ['', 'phs_', token.slice(0, -1), `${token}x`, token.toUpperCase(), "' or 1=1 --"])
    assert.is(await sessions.find(text), undefined)
})

test.run()
