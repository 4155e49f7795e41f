import * as assert from 'uvu/assert'
import type { SmtpSession } from '../../../../../src/pipeline/delivery/smtp-client/types.ts'
import { settled } from '../../../../kit/manual-clock.ts'
import { suite } from '../../../../kit/suite.ts'
import { until } from '../../../../kit/until.ts'
import { openPool, SITE, TO } from '../open-pool.ts'
import { mailTo, short } from '../smtp-client/dial.ts'

const test = suite('session pool')

async function send(session: SmtpSession) {
  assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
}

test('a returned session is taken again, with its host', async t => {
  const { pool, dial } = await openPool(t)
  assert.is(pool.take(SITE, TO), undefined)
  const session = await dial()
  pool.give(SITE, { session, mxHost: 'mx2.there.test', policy: 'none' }, TO)
  const taken = pool.take(SITE, TO)
  assert.is(taken?.session, session)
  assert.is(taken?.mxHost, 'mx2.there.test')
  assert.is(pool.take(SITE, TO), undefined)
})

test('each set of hosts has its own sessions', async t => {
  const { pool, dial } = await openPool(t)
  const session = await dial()
  pool.give(SITE, { session, mxHost: SITE, policy: 'none' }, TO)
  assert.is(pool.take('mx.far.test', TO), undefined)
  assert.is(pool.take(SITE, TO)?.session, session)
})

test('pipelined messages count towards the messages per connection', async t => {
  const { clock, pool, dial } = await openPool(t, {}, 4)
  const pooled = { session: await dial(), mxHost: SITE, policy: 'none' } as const
  await send(pooled.session)
  assert.equal(
    [1, 2, 3, 4].map(userCount => pool.canPipeline(pooled, userCount)),
    [true, true, true, false],
  )
  await send(pooled.session)
  assert.equal(
    [1, 2, 3].map(userCount => pool.canPipeline(pooled, userCount)),
    [true, true, false],
  )
  clock.advance(300_000)
  assert.is(pool.canPipeline(pooled, 1), false, 'it has served for long enough')
})

test('nothing is pipelined on a closed session, or after the pool is closed', async t => {
  const { pool, dial } = await openPool(t)
  const sessions = [await dial(), await dial()]
  const bears = () => sessions.map(session => pool.canPipeline({ session, mxHost: SITE, policy: 'none' }, 1))
  sessions[0]!.destroy()
  assert.equal(bears(), [false, true])
  await pool.close()
  assert.equal(bears(), [false, false])
})

test('after a pipelining failure, nothing is pipelined to the host for an hour', async t => {
  const { pool, clock, dial } = await openPool(t)
  const bears = async (host: string) => {
    const session = await dial()
    return pool.canPipeline({ session, mxHost: host, policy: 'none' }, 1)
  }
  pool.disablePipelining({ session: await dial(), mxHost: SITE, policy: 'none' })
  assert.equal([await bears(SITE), await bears('mx.far.test')], [false, true])
  clock.advance(3_599_000)
  assert.is(await bears(SITE), false)
  clock.advance(1_000)
  assert.is(await bears(SITE), true)
})

test('the session returned last is taken first', async t => {
  const { pool, dial } = await openPool(t)
  const sessions = [await dial(), await dial(), await dial()]
  for (const session of sessions) pool.give(SITE, { session, mxHost: SITE, policy: 'none' }, TO)
  const taken = [1, 2, 3].map(() => pool.take(SITE, TO)?.session)
  assert.equal(
    taken.map(session => sessions.indexOf(session!)),
    [2, 1, 0],
  )
})

test('a session that is idle for 15 s is closed with QUIT', async t => {
  const { pool, dial, clock, mx } = await openPool(t)
  const session = await dial()
  pool.give(SITE, { session, mxHost: SITE, policy: 'none' }, TO)
  clock.advance(14_000)
  assert.is(pool.take(SITE, TO)?.session, session)
  pool.give(SITE, { session, mxHost: SITE, policy: 'none' }, TO)
  clock.advance(14_000)
  await settled()
  assert.is(session.alive, true)
  clock.advance(1_000)
  assert.is(pool.take(SITE, TO), undefined)
  await mx.until(/C: QUIT/)
})

test('a session that has carried 100 messages is closed with QUIT', async t => {
  const { pool, dial, mx } = await openPool(t)
  const session = await dial()
  for (let i = 1; i < 100; i++) await send(session)
  pool.give(SITE, { session, mxHost: SITE, policy: 'none' }, TO)
  assert.is(pool.take(SITE, TO)?.session, session)
  await send(session)
  pool.give(SITE, { session, mxHost: SITE, policy: 'none' }, TO)
  assert.is(pool.take(SITE, TO), undefined)
  await mx.until(/C: QUIT/)
})

test('a session older than 5 minutes is closed with QUIT', async t => {
  const { pool, dial, clock, mx } = await openPool(t)
  const session = await dial()
  clock.advance(299_000)
  pool.give(SITE, { session, mxHost: SITE, policy: 'none' }, TO)
  assert.is(pool.take(SITE, TO)?.session, session)
  clock.advance(1_000)
  pool.give(SITE, { session, mxHost: SITE, policy: 'none' }, TO)
  assert.is(pool.take(SITE, TO), undefined)
  await mx.until(/C: QUIT/)
})

test('a session that the peer has closed is dropped, and the next one is taken', async t => {
  const { pool, dial, mx } = await openPool(t)
  const [good, dead] = [await dial(), await dial()]
  pool.give(SITE, { session: good, mxHost: SITE, policy: 'none' }, TO)
  pool.give(SITE, { session: dead, mxHost: SITE, policy: 'none' }, TO)
  dead.destroy()
  assert.is(pool.take(SITE, TO)?.session, good)
  pool.give(SITE, { session: good, mxHost: SITE, policy: 'none' }, TO)
  await mx.close()
  await until(() => !good.alive)
  assert.is(pool.take(SITE, TO), undefined)
})

test('a session that is no longer alive is not kept', async t => {
  const { pool, dial } = await openPool(t)
  const session = await dial()
  session.destroy()
  pool.give(SITE, { session, mxHost: SITE, policy: 'none' }, TO)
  assert.is(pool.take(SITE, TO), undefined)
})

test('close() sends QUIT on all sessions and waits for the replies', async t => {
  const { pool, dial, mx } = await openPool(t)
  const sessions = [await dial(), await dial(), await dial()]
  pool.give(SITE, { session: sessions[0]!, mxHost: SITE, policy: 'none' }, TO)
  pool.give(SITE, { session: sessions[1]!, mxHost: SITE, policy: 'none' }, TO)
  pool.give('mx.far.test', { session: sessions[2]!, mxHost: 'mx.far.test', policy: 'none' }, TO)
  await pool.close()
  assert.ok(sessions.every(({ alive }) => !alive))
  assert.is(mx.transcript.filter(line => /C: QUIT/.test(line)).length, 3)
  assert.is(pool.take(SITE, TO), undefined)
})

test('a session returned after close() is closed at once', async t => {
  const { pool, dial, mx } = await openPool(t)
  const session = await dial()
  await pool.close()
  pool.give(SITE, { session, mxHost: SITE, policy: 'none' }, TO)
  assert.is(pool.take(SITE, TO), undefined)
  await mx.until(/C: QUIT/)
})

test('a session is not reused beyond the MAILMAX of its peer', async t => {
  const { pool, dial } = await openPool(t, { extensions: ['LIMITS MAILMAX=2 RCPTMAX=1'] })
  const session = await dial()
  await send(session)
  pool.give(SITE, { session, mxHost: SITE, policy: 'none' }, TO)
  const taken = pool.take(SITE, TO)!
  assert.is(taken.session, session)
  assert.equal([pool.canPipeline(taken, 1), pool.canPipeline(taken, 2)], [true, false])
  await send(session)
  pool.give(SITE, { session, mxHost: SITE, policy: 'none' }, TO)
  assert.is(pool.take(SITE, TO), undefined)
})

test('a session at its RCPTDOMAINMAX is reused only for domains it has served', async t => {
  const { pool, dial } = await openPool(t, { extensions: ['LIMITS RCPTDOMAINMAX=2'] })
  const session = await dial()
  const use = (address: string) => {
    const taken = pool.take(SITE, address)
    if (taken) pool.give(SITE, taken, address)
    return taken !== undefined
  }
  pool.give(SITE, { session, mxHost: SITE, policy: 'none' }, 'a@one.test')
  assert.equal(['b@ONE.test', 'a@two.test', 'a@three.test', 'c@one.test'].map(use), [true, true, false, true])
  assert.is(pool.canPipeline({ session, mxHost: SITE, policy: 'none' }, 1), false, 'nor any behind another')
})

test.run()
