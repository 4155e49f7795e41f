import * as assert from 'uvu/assert'
import { createSessionPool, type PooledSession } from '../../../src/deliver/session-pool.ts'
import { SharedSession } from '../../../src/deliver/shared-session.ts'
import { createAdjustableClock } from '../../../src/lib/adjustable-clock.ts'
import { type FakeMxOptions, startFakeMx } from '../../kit/fake-mx.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { dial, mailTo, short } from './client/dial.ts'

const test = suite('deliver/shared-session')
const HOST = 'mx.there.test'
const TO = 'ok@there.test'

async function open(t: TestContext, mxOptions: FakeMxOptions = {}) {
  const mx = await t.using(startFakeMx(mxOptions))
  const clock = await t.using(createAdjustableClock())
  const pool = createSessionPool(clock, { messagesPerConnection: () => 100 })
  t.after(() => pool.close())
  const pooled: PooledSession = { session: await dial(t, mx), mxHost: HOST, policy: 'none' }
  return { pool, pooled, shared: new SharedSession(pool, HOST, pooled), mx }
}

const unasked = () => {}

test('it is open to others while somebody is on it, and in the pool afterwards', async t => {
  const { pool, pooled, shared } = await open(t)
  assert.is(shared.isOpen, false)
  const sent = [shared.send(mailTo('a'), unasked), shared.send(mailTo('b'), unasked)]
  await sent[0]
  assert.equal([shared.isOpen, pool.take(HOST, TO)], [true, undefined])
  await sent[1]
  assert.is(shared.isOpen, false)
  assert.is(pool.take(HOST, TO)?.session, pooled.session)
  assert.is(pool.take(HOST, TO), undefined)
})

test('one that is good for no other message is closed for all, and not kept', async t => {
  const { pool, pooled, shared } = await open(t)
  const sent = await Promise.all(['a', 'drop-after-dot', 'c'].map(name => shared.send(mailTo(name), unasked)))
  assert.equal(sent.flatMap(short), ['accepted 250', 'failed final-dot closed', 'failed mail closed'])
  assert.equal([pooled.session.alive, pool.take(HOST, TO)], [false, undefined])
})

test('a message that cannot be sent leaves it to the others', async t => {
  const { pool, pooled, shared } = await open(t)
  const broken = mailTo('a', { message: [Buffer.from('Subject: a\n\nbare line ends\n')] })
  await shared.send(broken, unasked).then(
    () => assert.unreachable(),
    error => assert.match(error.message, /CR or LF/),
  )
  assert.is(pool.take(HOST, TO)?.session, pooled.session)
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
  test(`silence on a session ${what} ${hasCarried ? 'keeps the host’s mail apart' : 'says nothing'}`, async t => {
    const { pool, pooled, shared, mx } = await open(t)
    if (hasCarried) await shared.send(mailTo('a'), unasked)
    shared.wasSilent('nothing happened')
    assert.is(pool.bears({ ...pooled, session: await dial(t, mx) }, 1), !hasCarried)
  })

test.run()
