import * as assert from 'uvu/assert'
import { openSession } from '../../../../../src/pipeline/delivery/smtp-client/open.ts'
import { startFakeMx } from '../../../../kit/fake-mx.ts'
import { suite } from '../../../../kit/suite.ts'
import { createLog, dial, dialInVain, mailTo, optionsFor, short, shortFailure } from './dial.ts'

const test = suite('opening SMTP sessions')

test('a session knows its peer, its banner and its extensions', async t => {
  const extensions = ['size 1000', 'AUTH PLAIN LOGIN', 'X-ODD  two  words', '8BITMIME']
  const mx = await t.using(startFakeMx({ host: '127.0.0.3', name: 'mx1.there.test', extensions }))
  const before = Date.now()
  const { facts, alive } = await dial(t, mx)
  assert.ok(alive)
  assert.is(facts.banner, 'mx1.there.test ESMTP')
  assert.equal(
    [...facts.extensions],
    [
      ['PIPELINING', ''],
      ['SIZE', '1000'],
      ['AUTH', 'PLAIN LOGIN'],
      ['X-ODD', 'two words'],
      ['8BITMIME', ''],
    ],
  )
  assert.equal([facts.peerAddress, facts.peerPort], ['127.0.0.3', mx.port])
  assert.equal([facts.tls, facts.tlsFallback, facts.transactionCount], [null, null, 0])
  assert.ok(facts.openedAt >= before && facts.openedAt <= Date.now())
  assert.equal(Object.keys(facts.timings), ['connect', 'banner', 'ehlo'])
})

test('EHLO carries the local name, and nothing is sent before the greeting', async t => {
  const mx = await t.using(startFakeMx({ at: { banner: '220-mx.test\r\n220-is\r\n220 here' }, delayMs: 1 }))
  const { facts } = await dial(t, mx, { localName: 'mail.here.test' })
  assert.is(facts.banner, 'mx.test is here')
  assert.ok(mx.transcript.includes('1 C: EHLO mail.here.test'))
  assert.equal(mx.violations, [])
})

test('connects from the source address it is given, and knows which that was', async t => {
  const mx = await t.using(startFakeMx())
  const session = await dial(t, mx, { sourceAddress: '127.0.0.9' })
  await session.send(mailTo('ok'))
  assert.is(mx.messages[0]!.clientAddress, '127.0.0.9')
  assert.is(session.facts.localAddress, '127.0.0.9')
  const refused = await dialInVain(mx, { sourceAddress: '127.0.0.8', tls: 'required' })
  assert.is(refused.localAddress, '127.0.0.8')
  await mx.close()
  assert.is((await dialInVain(mx)).localAddress, null)
})

test('greets a peer that refuses EHLO with HELO, and sends it mail one command at a time', async t => {
  const mx = await t.using(startFakeMx({ at: { ehlo: '502 5.5.1 not implemented' }, pipelining: false }))
  const session = await dial(t, mx)
  assert.is(session.facts.extensions.size, 0)
  assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
  assert.is(mx.messages[0]!.params.size, 0)
  assert.equal(mx.violations, [])
})

test('a peer that refuses both EHLO and HELO fails', async t => {
  const mx = await t.using(startFakeMx({ at: { ehlo: '502 no', helo: '550 5.7.1 not you' } }))
  const { failure } = await dialInVain(mx)
  assert.is(shortFailure(failure), 'ehlo reply 550')
  assert.is(failure.message, '550 5.7.1 not you')
  await mx.until(/C: QUIT/)
})

test('a greeting of 554 is a refusal of the connection, answered with QUIT', async t => {
  const mx = await t.using(startFakeMx({ at: { banner: '554-5.7.1 your address\r\n554 5.7.1 is listed' } }))
  const { failure, tlsFallback } = await dialInVain(mx, { tls: 'opportunistic' })
  assert.equal(failure, {
    phase: 'banner',
    kind: 'reply',
    reply: { code: 554, enhanced: '5.7.1', text: 'your address is listed' },
    message: '554 5.7.1 your address is listed',
  })
  assert.is(tlsFallback, null)
  await mx.until(/C: QUIT/)
})

test('a port without a listener fails', async () => {
  const mx = await startFakeMx()
  await mx.close()
  const { failure } = await dialInVain(mx)
  assert.is(shortFailure(failure), 'connect network')
  assert.is(failure.code, 'ECONNREFUSED')
})

test('a source address that is not local fails', async t => {
  const mx = await t.using(startFakeMx())
  const { failure } = await dialInVain(mx, { sourceAddress: '192.0.2.1' })
  assert.is(shortFailure(failure), 'connect network')
  assert.is(failure.code, 'EADDRNOTAVAIL')
})

test('options that no connection can be made with throw', async () => {
  await openSession(optionsFor({ host: '127.0.0.1', port: 70_000 })).then(
    () => assert.unreachable(),
    error => assert.match(error.message, /port/i),
  )
})

test('the transcript hook sees the dialogue, and of messages their size only', async t => {
  const mx = await t.using(startFakeMx({ extensions: [] }))
  const { log, lines } = createLog()
  const session = await dial(t, mx, { log })
  await session.send(mailTo('ok'))
  await session.quit()
  assert.equal(lines, [
    '-: connected',
    'S: 220 mx.test ESMTP',
    'C: EHLO out.mailhorn.test',
    'S: 250 mx.test PIPELINING',
    'C: MAIL FROM:<b+token@send.here.test>',
    'C: RCPT TO:<ok@there.test>',
    'C: DATA',
    'S: 250 2.1.0 sender ok',
    'S: 250 2.1.5 recipient ok',
    'S: 354 go ahead',
    'C: (35 bytes of message)',
    'S: 250 2.0.0 taken',
    'C: QUIT',
    'S: 221 2.0.0 bye',
    '-: QUIT was sent',
  ])
})

test.run()
