import * as assert from 'uvu/assert'
import { createAdjustableClock } from '../../../../../src/lib/adjustable-clock.ts'
import { openSession } from '../../../../../src/pipeline/delivery/smtp-client/open.ts'
import {
  DEFAULT_TIMEOUTS,
  FINAL_DOT_TIMEOUT_MS,
} from '../../../../../src/pipeline/delivery/smtp-client/types.ts'
import { openBlackHole } from '../../../../kit/black-hole.ts'
import { startFakeMx } from '../../../../kit/fake-mx.ts'
import { freePort } from '../../../../kit/free-port.ts'
import { suite } from '../../../../kit/suite.ts'
import { createLog, dial, mailTo, optionsFor, short, shortFailure, startPeer, turns } from './dial.ts'

const test = suite('SMTP client timeouts')
const allShort = Object.fromEntries(Object.keys(DEFAULT_TIMEOUTS).map(phase => [phase, 1_000])) as never

test('default timeouts in seconds', () => {
  const seconds = Object.entries(DEFAULT_TIMEOUTS).map(([phase, ms]) => `${phase} ${ms / 1000}`)
  assert.is(
    seconds.join(', '),
    'connect 20, banner 300, ehlo 300, starttls 30, tls 30, auth 60, mail 300, rcpt 300, data 120, body 180, rset 10, quit 5',
  )
})

for (const [phase, at, limitMs, seen, pipelining = true] of [
  ['banner', 'banner', 300_000, /connected/],
  ['ehlo', 'ehlo', 300_000, /C: EHLO/],
  ['starttls', 'starttls', 30_000, /C: STARTTLS/],
  ['tls', 'tls', 30_000, /S: 220 2.0.0/],
  ['mail', 'mail', 300_000, /C: DATA/],
  ['rcpt', 'rcpt', 30_000, /S: 250 2.1.0/],
  ['data', 'data', 30_000, /S: 250 2.1.5/],
  ['rcpt', 'rcpt', 300_000, /S: 250 2.1.0/, false],
  ['data', 'data', 120_000, /S: 250 2.1.5/, false],
  ['final-dot', 'dot', 600_000, /bytes of message/],
] as const)
  test(`waits ${limitMs / 1000} s in phase ${phase} ${pipelining ? '' : 'without pipelining'}, and no longer`, async t => {
    const tls = ['starttls', 'tls'].includes(phase) ? 'required' : 'none'
    const mx = await t.using(startFakeMx({ tls: 'good', at: { [at]: 'hang' } }))
    const clock = await t.using(createAdjustableClock())
    const { log, until } = createLog()
    let settled = false
    const using = async () => {
      const opened = await openSession(optionsFor(mx, { tls, clock, log, pipelining }))
      const story =
        'failure' in opened ? shortFailure(opened.failure) : short(await opened.send(mailTo('ok')))[0]!
      settled = true
      return story
    }
    const story = using()
    await Promise.all([until(seen), mx.until(/-: hang/)])
    await turns()
    clock.advance(limitMs - 2_000)
    await turns()
    assert.is(settled, false)
    clock.advance(2_000)
    assert.match(await story, new RegExp(`^(failed )?${phase} timeout$`))
  })

for (const [what, mayWaitOn] of [
  ['nobody is asked', undefined],
  ['it may wait on', () => true],
] as const)
  test(`a peer that greets after 200 s gets its mail if ${what}`, async t => {
    let greet = () => {}
    const peer = await t.using(
      startPeer(socket => {
        greet = () => socket.write('220 at last\r\n')
        socket.on('data', () => socket.write('250 hello\r\n'))
      }),
    )
    const clock = await t.using(createAdjustableClock())
    const opening = openSession({ ...optionsFor(peer, { clock }), ...(mayWaitOn && { mayWaitOn }) })
    await peer.connection
    await turns()
    clock.advance(200_000)
    await turns()
    greet()
    assert.not('failure' in (await opening))
  })

test('a peer that is slow is given up after 60 s if the session may not wait on, and asked for once', async t => {
  const peer = await t.using(startPeer(() => {}))
  const clock = await t.using(createAdjustableClock())
  let askedCount = 0
  const mayWaitOn = () => {
    askedCount += 1
    return false
  }
  const opening = openSession({ ...optionsFor(peer, { clock }), mayWaitOn })
  await peer.connection
  await turns()
  clock.advance(59_000)
  await turns()
  assert.is(askedCount, 0)
  clock.advance(1_000)
  const opened = await opening
  assert.ok('failure' in opened)
  assert.is(opened.failure.message, 'timed out after 60 s')
  assert.is(askedCount, 1)
})

test('a peer that does not answer the connection attempt times out', async t => {
  const host = '127.0.0.3'
  const port = await freePort(host)
  await t.using(openBlackHole(host, port))
  const clock = await t.using(createAdjustableClock())
  const opening = openSession(optionsFor({ host, port }, { clock }))
  clock.advance(20_000)
  const opened = await opening
  assert.ok('failure' in opened)
  assert.is(shortFailure(opened.failure), 'connect timeout')
  assert.is(opened.failure.message, 'timed out after 20 s')
})

test('timeouts are configurable, except that of the final dot', async t => {
  const mx = await t.using(startFakeMx())
  const clock = await t.using(createAdjustableClock())
  const { log, until } = createLog()
  const session = await dial(t, mx, { clock, log, timeouts: allShort })
  const sending = session.send(mailTo('hang-after-dot'))
  await Promise.all([until(/bytes of message/), mx.until(/-: hang/)])
  await turns()
  clock.advance(FINAL_DOT_TIMEOUT_MS - 2_000)
  await turns()
  assert.is(session.alive, true)
  clock.advance(2_000)
  assert.equal(short(await sending), ['failed final-dot timeout'])
})

test('an idle session does not time out', async t => {
  const mx = await t.using(startFakeMx())
  const clock = await t.using(createAdjustableClock())
  const session = await dial(t, mx, { clock })
  assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
  clock.advance(3_600_000)
  assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
})

test('a reply that arrives in small pieces does not extend the timeout', async t => {
  const clock = await t.using(createAdjustableClock())
  const peer = await t.using(startPeer(socket => socket.write('220-still')))
  const opening = openSession(optionsFor(peer, { clock }))
  const socket = await peer.connection
  await turns()
  clock.advance(280_000)
  socket.write(' here\r\n220-and')
  await turns()
  clock.advance(20_000)
  const opened = await opening
  assert.ok('failure' in opened)
  assert.is(shortFailure(opened.failure), 'banner timeout')
})

test('after a timeout the connection is closed on both sides, not left half open', async t => {
  const clock = await t.using(createAdjustableClock())
  const peer = await t.using(startPeer(() => {}, { allowHalfOpen: true }))
  const opening = openSession(optionsFor(peer, { clock }))
  const socket = await peer.connection
  const closed = new Promise(resolve => socket.once('close', resolve))
  await turns()
  clock.advance(300_000)
  await opening
  const talking = setInterval(() => socket.write('220 too late\r\n'), 1)
  t.after(() => clearInterval(talking))
  await closed
})

test.run()
