import * as assert from 'uvu/assert'
import type { PooledSession } from '../../../../../src/pipeline/delivery/sessions/session-pool.ts'
import { SharedSession } from '../../../../../src/pipeline/delivery/sessions/shared-session.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { openPool, SITE, TO } from '../open-pool.ts'
import { mailTo, short } from '../smtp-client/dial.ts'

const test = suite('shared session')

async function open(t: TestContext) {
  const { pool, dial } = await openPool(t)
  const pooled: PooledSession = { session: await dial(), mxHost: SITE, policy: 'none' }
  return { pool, pooled, shared: new SharedSession(pool, SITE, pooled), dial }
}

const unasked = () => {}

test('a session is open to others while in use, and returns to the pool afterwards', async t => {
  const { pool, pooled, shared } = await open(t)
  assert.is(shared.isOpen, false)
  const sent = [shared.send(mailTo('a'), unasked), shared.send(mailTo('b'), unasked)]
  await sent[0]
  assert.equal([shared.isOpen, pool.take(SITE, TO)], [true, undefined])
  await sent[1]
  assert.is(shared.isOpen, false)
  assert.is(pool.take(SITE, TO)?.session, pooled.session)
  assert.is(pool.take(SITE, TO), undefined)
})

test('a session that cannot be reused is closed for all deliveries', async t => {
  const { pool, pooled, shared } = await open(t)
  const sent = await Promise.all(['a', 'drop-after-dot', 'c'].map(name => shared.send(mailTo(name), unasked)))
  assert.equal(sent.flatMap(short), ['accepted 250', 'failed final-dot closed', 'failed mail closed'])
  assert.equal([pooled.session.alive, pool.take(SITE, TO)], [false, undefined])
})

test('a malformed message leaves the session to the others', async t => {
  const { pool, pooled, shared } = await open(t)
  const broken = mailTo('a', { message: [Buffer.from('Subject: a\n\nbare line ends\n')] })
  await shared.send(broken, unasked).then(
    () => assert.unreachable(),
    error => assert.match(error.message, /CR or LF/),
  )
  assert.is(pool.take(SITE, TO)?.session, pooled.session)
})

for (const [size, count] of [
  [256 * 1024, 1],
  [256 * 1024 + 1, 0],
] as const)
  test(`a message of ${size} bytes is ${count === 1 ? '' : 'not '}to be followed`, async t => {
    const { shared } = await open(t)
    let followable = 0
    await shared.send(mailTo('first'), unasked)
    await shared.send(mailTo('a', { size }), () => followable++)
    assert.is(followable, count)
  })

for (const [what, hasCarried] of [
  ['that has carried a message', true],
  ['that never has', false],
] as const)
  test(`an unanswered envelope on a session ${what} ${hasCarried ? 'disables pipelining to the host' : 'has no effect'}`, async t => {
    const { pool, pooled, shared, dial } = await open(t)
    if (hasCarried) await shared.send(mailTo('a'), unasked)
    shared.envelopeUnanswered()
    assert.is(pool.canPipeline({ ...pooled, session: await dial() }, 1), !hasCarried)
  })

test.run()
