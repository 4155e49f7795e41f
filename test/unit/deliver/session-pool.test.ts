import * as assert from 'uvu/assert'
import { openSession } from '../../../src/deliver/client/open.ts'
import { DEFAULT_TIMEOUTS, type Session } from '../../../src/deliver/client/types.ts'
import { createSessionPool } from '../../../src/deliver/session-pool.ts'
import { type AdjustableClock, createAdjustableClock } from '../../../src/lib/adjustable-clock.ts'
import { type FakeMx, type FakeMxOptions, startFakeMx } from '../../kit/fake-mx.ts'
import { settled } from '../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('deliver/session-pool')
const SITE = 'mx.there.test'

async function open(t: TestContext, options: FakeMxOptions = {}) {
  const mx = await t.using(startFakeMx(options))
  const clock = await t.using(createAdjustableClock())
  const pool = createSessionPool(clock)
  t.after(() => pool.close())
  return { mx, clock, pool, dial: () => dial(t, mx, clock) }
}

async function dial(t: TestContext, mx: FakeMx, clock: AdjustableClock): Promise<Session> {
  const session = await openSession({
    address: mx.host,
    port: mx.port,
    mxHost: SITE,
    localName: 'out.posthorn.test',
    tls: 'none',
    timeouts: DEFAULT_TIMEOUTS,
    clock,
  })
  if ('failure' in session) throw new Error(session.failure.message)
  t.after(() => session.destroy())
  return session
}

const message = [Buffer.from('Subject: a\r\n\r\nb\r\n')]

async function send(session: Session) {
  const result = await session.send({
    mailFrom: 'x@here.test',
    recipients: ['ok@there.test'],
    message,
    size: message[0]!.length,
    smtpUtf8: false,
  })
  assert.is(result.recipients[0]!.kind, 'accepted')
}

test('a session that was given back is taken again, with its host', async t => {
  const { pool, dial } = await open(t)
  assert.is(pool.take(SITE), undefined)
  const session = await dial()
  pool.give(SITE, { session, mxHost: 'mx2.there.test' })
  const taken = pool.take(SITE)
  assert.is(taken?.session, session)
  assert.is(taken?.mxHost, 'mx2.there.test')
  assert.is(pool.take(SITE), undefined)
})

test('each site has sessions of its own', async t => {
  const { pool, dial } = await open(t)
  const session = await dial()
  pool.give(SITE, { session, mxHost: SITE })
  assert.is(pool.take('mx.far.test'), undefined)
  assert.is(pool.take(SITE)?.session, session)
})

test('the session given back last is taken first', async t => {
  const { pool, dial } = await open(t)
  const sessions = [await dial(), await dial(), await dial()]
  for (const session of sessions) pool.give(SITE, { session, mxHost: SITE })
  const taken = [1, 2, 3].map(() => pool.take(SITE)?.session)
  assert.equal(
    taken.map(session => sessions.indexOf(session!)),
    [2, 1, 0],
  )
})

test('a session that idles for fifteen seconds takes its leave', async t => {
  const { pool, dial, clock, mx } = await open(t)
  const session = await dial()
  pool.give(SITE, { session, mxHost: SITE })
  clock.advance(14_000)
  assert.is(pool.take(SITE)?.session, session)
  pool.give(SITE, { session, mxHost: SITE })
  clock.advance(14_000)
  await settled()
  assert.is(session.alive, true)
  clock.advance(1_000)
  assert.is(pool.take(SITE), undefined)
  await mx.until(/C: QUIT/)
})

test('a session that has carried a hundred messages takes its leave', async t => {
  const { pool, dial, mx } = await open(t)
  const session = await dial()
  for (let i = 1; i < 100; i++) await send(session)
  pool.give(SITE, { session, mxHost: SITE })
  assert.is(pool.take(SITE)?.session, session)
  await send(session)
  pool.give(SITE, { session, mxHost: SITE })
  assert.is(pool.take(SITE), undefined)
  await mx.until(/C: QUIT/)
})

test('a session older than five minutes takes its leave', async t => {
  const { pool, dial, clock, mx } = await open(t)
  const session = await dial()
  clock.advance(299_000)
  pool.give(SITE, { session, mxHost: SITE })
  assert.is(pool.take(SITE)?.session, session)
  clock.advance(1_000)
  pool.give(SITE, { session, mxHost: SITE })
  assert.is(pool.take(SITE), undefined)
  await mx.until(/C: QUIT/)
})

test('a session whose peer has left is dropped, and one behind it taken', async t => {
  const { pool, dial, mx } = await open(t)
  const [good, dead] = [await dial(), await dial()]
  pool.give(SITE, { session: good, mxHost: SITE })
  pool.give(SITE, { session: dead, mxHost: SITE })
  dead.destroy()
  assert.is(pool.take(SITE)?.session, good)
  pool.give(SITE, { session: good, mxHost: SITE })
  await mx.close()
  await until(() => !good.alive)
  assert.is(pool.take(SITE), undefined)
})

test('a session that is no longer alive is not taken back', async t => {
  const { pool, dial } = await open(t)
  const session = await dial()
  session.destroy()
  pool.give(SITE, { session, mxHost: SITE })
  assert.is(pool.take(SITE), undefined)
})

test('closing takes leave of all, and waits for it', async t => {
  const { pool, dial, mx } = await open(t)
  const sessions = [await dial(), await dial(), await dial()]
  pool.give(SITE, { session: sessions[0]!, mxHost: SITE })
  pool.give(SITE, { session: sessions[1]!, mxHost: SITE })
  pool.give('mx.far.test', { session: sessions[2]!, mxHost: 'mx.far.test' })
  await pool.close()
  assert.ok(sessions.every(({ alive }) => !alive))
  assert.is(mx.transcript.filter(line => /C: QUIT/.test(line)).length, 3)
  assert.is(pool.take(SITE), undefined)
})

test('a session that comes back after the close takes its leave at once', async t => {
  const { pool, dial, mx } = await open(t)
  const session = await dial()
  await pool.close()
  pool.give(SITE, { session, mxHost: SITE })
  assert.is(pool.take(SITE), undefined)
  await mx.until(/C: QUIT/)
})

test.run()
