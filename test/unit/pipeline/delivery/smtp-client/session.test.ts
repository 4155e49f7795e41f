import * as assert from 'uvu/assert'
import { startFakeMx } from '../../../../kit/fake-mx.ts'
import { suite } from '../../../../kit/suite.ts'
import { createLog, dial, mailTo, short, turns } from './dial.ts'

const test = suite('SMTP client session')

test('SIZE is declared if offered, whatever the limit', async t => {
  for (const [extensions, declared] of [
    [['SIZE 1000'], '35'],
    [['SIZE'], '35'],
    [['SIZE 0'], '35'],
    [[], undefined],
  ] as const) {
    const mx = await t.using(startFakeMx({ extensions: [...extensions] }))
    const session = await dial(t, mx)
    await session.send(mailTo('ok', { size: 35 }))
    assert.is(mx.messages[0]!.params.get('SIZE'), declared)
  }
})

test('a message over the announced limit is refused locally with 5.3.4, and nothing is sent', async t => {
  const mx = await t.using(startFakeMx({ extensions: ['SIZE 1000'] }))
  const session = await dial(t, mx)
  const result = await session.send(mailTo(['ok', 'ok2'], { size: 1001 }))
  assert.equal(short(result), ['refused locally mail 552 5.3.4', 'refused locally mail 552 5.3.4'])
  assert.is(result.reusable, true)
  assert.equal(short(await session.send(mailTo('ok', { size: 1000 }))), ['accepted 250'])
  assert.is(mx.messages.length, 1)
  assert.is(session.facts.transactionCount, 1)
})

for (const [what, text, extensions, body] of [
  ['BODY=8BITMIME is said for 8-bit bytes', 'é', ['8BITMIME'], '8BITMIME'],
  ['it is not said for a 7-bit message', 'e', ['8BITMIME'], undefined],
] as const)
  test(what, async t => {
    const mx = await t.using(startFakeMx({ extensions: [...extensions] }))
    const session = await dial(t, mx)
    await session.send(mailTo('ok', { message: [Buffer.from(`Subject: x\r\n\r\n${text}\r\n`)] }))
    assert.is(mx.messages[0]!.params.get('BODY'), body)
    assert.equal(mx.violations, [])
  })

test('a message of 8 bits is refused locally with 5.6.3 if 8BITMIME is not offered', async t => {
  const mx = await t.using(startFakeMx({ extensions: [] }))
  const session = await dial(t, mx)
  const result = await session.send(mailTo('ok', { message: [Buffer.from('Subject: x\r\n\r\né\r\n')] }))
  assert.equal(short(result), ['refused locally mail 554 5.6.3'])
  assert.equal([mx.messages.length, result.reusable], [0, true])
})

test('SMTPUTF8 is declared when needed, and addresses are written in UTF-8', async t => {
  const mx = await t.using(startFakeMx())
  const session = await dial(t, mx)
  await session.send(mailTo('jürgen', { smtpUtf8: true }))
  await session.send(mailTo('ok'))
  assert.equal(
    mx.messages.map(({ params }) => params.has('SMTPUTF8')),
    [true, false],
  )
  assert.equal(mx.messages[0]!.rcptTo, ['jürgen@there.test'])
})

test('a message that needs SMTPUTF8 is refused locally with 5.6.7 if it is not offered', async t => {
  const mx = await t.using(startFakeMx({ extensions: ['8BITMIME'] }))
  const session = await dial(t, mx)
  const result = await session.send(mailTo('jürgen', { smtpUtf8: true }))
  assert.equal(short(result), ['refused locally mail 553 5.6.7'])
  assert.is(result.reusable, true)
  assert.not.ok(mx.transcript.some(line => line.includes('MAIL FROM')))
})

for (const [what, transaction] of [
  ['no recipients', mailTo([])],
  ['an empty recipient', mailTo('ok', { recipients: [''] })],
  ['a line end in an address', mailTo('a@there.test>\r\nRCPT TO:<b')],
  ['a bracket in an address', mailTo('a>')],
  ['a bracket behind quotes', mailTo('"a"b>')],
  ['a line end in quotes', mailTo('"a\r\nb"')],
  ['a blank in the return path', mailTo('ok', { mailFrom: 'a b@here.test' })],
  ['UTF-8 without SMTPUTF8', mailTo('jürgen')],
  ['a bare LF in the message', mailTo('ok', { message: [Buffer.from('a\nb\r\n')] })],
] as const)
  test(`${what} is a bug of the caller, and leaves the session as it was`, async t => {
    const mx = await t.using(startFakeMx())
    const session = await dial(t, mx)
    await session.send(transaction).then(
      () => assert.unreachable(),
      error => assert.instance(error, Error),
    )
    assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
    assert.equal(mx.violations, [])
  })

test('a quoted local part goes into RCPT TO as it is', async t => {
  const mx = await t.using(startFakeMx())
  const session = await dial(t, mx)
  const locals = ['"a b"', '"john..doe"', '"a\\"> <b"', '"x@y"']
  for (const local of locals) assert.equal(short(await session.send(mailTo(local))), ['accepted 250'])
  assert.equal(
    mx.messages.flatMap(({ rcptTo }) => rcptTo),
    locals.map(local => `${local}@there.test`),
  )
  assert.equal(mx.violations, [])
})

test('a thousand messages use one session without leaking listeners', async t => {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  t.after(() => process.off('warning', onWarning))
  const mx = await t.using(startFakeMx())
  const session = await dial(t, mx)
  for (let i = 0; i < 1000; i++) {
    const local = ['ok', 'perm-550-511', 'dot-451', 'data-554'][i % 4]!
    const [result] = (await session.send(mailTo(`${local}+${i}`))).recipients
    assert.is(result!.kind, i % 4 === 0 ? 'accepted' : 'refused')
  }
  assert.is(mx.messages.length, 250)
  assert.is(mx.sessionCount, 1)
  assert.is(session.facts.transactionCount, 1000)
  assert.equal(warnings, [])
  assert.equal(mx.violations, [])
})

test('a message sent before the previous result: its envelope follows the previous final dot', async t => {
  const mx = await t.using(startFakeMx())
  const { log, lines } = createLog()
  const session = await dial(t, mx, { log })
  lines.length = 0
  const locals = ['ok1', 'perm-550-511', 'ok2', 'dot-554-571', 'ok3']
  const results = await Promise.all(locals.map(local => session.send(mailTo(local))))
  assert.equal(results.flatMap(short), [
    'accepted 250',
    'refused rcpt 550 5.1.1',
    'accepted 250',
    'refused final-dot 554 5.7.1',
    'accepted 250',
  ])
  assert.equal(lines.slice(6, 11), [
    'C: (35 bytes of message)',
    'C: MAIL FROM:<b+token@send.here.test> SIZE=32',
    'C: RCPT TO:<perm-550-511@there.test>',
    'C: DATA',
    'S: 250 2.0.0 taken',
  ])
  assert.equal(
    mx.messages.map(({ rcptTo }) => rcptTo[0]),
    ['ok1@there.test', 'ok2@there.test', 'ok3@there.test'],
  )
  assert.equal(mx.violations, [])
})

test('without PIPELINING, concurrent messages are sent one after another', async t => {
  const mx = await t.using(startFakeMx({ pipelining: false, delayMs: 1 }))
  const session = await dial(t, mx)
  const results = await Promise.all(['ok', 'perm-550-511', 'ok2'].map(local => session.send(mailTo(local))))
  assert.equal(results.flatMap(short), ['accepted 250', 'refused rcpt 550 5.1.1', 'accepted 250'])
  assert.equal(mx.violations, [])
})

test('when a message ends the session, those behind it fail without being sent', async t => {
  const mx = await t.using(startFakeMx())
  const session = await dial(t, mx)
  const results = await Promise.all(
    ['ok', 'drop-after-dot', 'ok2', 'ok3'].map(local => session.send(mailTo(local))),
  )
  assert.equal(results.flatMap(short), [
    'accepted 250',
    'failed final-dot closed',
    'failed mail closed',
    'failed mail closed',
  ])
  assert.equal(
    results.map(({ reusable }) => reusable),
    [true, false, false, false],
  )
  assert.is(mx.messages.length, 1)
})

for (const [what, script] of [
  ['closes', 'drop'],
  ['resets the connection', 'reset'],
] as const)
  test(`a session knows that its peer ${what} while idle`, async t => {
    const at = { rset: script }
    const mx = await t.using(startFakeMx({ at }))
    const session = await dial(t, mx)
    const result = await session.send(mailTo('perm-550-511'))
    assert.is(result.reusable, true)
    await mx.until(new RegExp(`-: ${script}`))
    while (session.alive) await new Promise(setImmediate)
    assert.equal(short(await session.send(mailTo('ok'))), ['failed mail closed'])
  })

test('421 while idle ends the session, and the next transaction reports the reply', async t => {
  const mx = await t.using(startFakeMx({ at: { dot: '250 2.0.0 taken\r\n421 4.4.2 idle too long' } }))
  const session = await dial(t, mx)
  assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
  assert.is(session.alive, false)
  assert.equal(short(await session.send(mailTo('ok'))), ['failed mail closed 421'])
})

test('any other reply while idle is a protocol failure', async t => {
  const mx = await t.using(startFakeMx({ at: { dot: '250 2.0.0 taken\r\n220 hello again' } }))
  const session = await dial(t, mx)
  await session.send(mailTo('ok'))
  assert.equal(short(await session.send(mailTo('ok'))), ['failed mail protocol 220'])
})

test('quit() sends QUIT after transactions in progress and closes the connection', async t => {
  const mx = await t.using(startFakeMx())
  const session = await dial(t, mx)
  const sending = [session.send(mailTo('ok')), session.send(mailTo('ok2'))]
  const leaving = session.quit()
  assert.is(session.alive, false)
  assert.equal(short(await session.send(mailTo('late'))), ['failed mail closed'])
  assert.equal((await Promise.all(sending)).flatMap(short), ['accepted 250', 'accepted 250'])
  await leaving
  assert.equal(mx.transcript.slice(-3), ['1 C: QUIT', '1 S: 221 2.0.0 bye', '1 -: drop'])
  assert.equal(mx.violations, [])
})

test('quit() and destroy() may be called repeatedly and after the end', async t => {
  const mx = await t.using(startFakeMx())
  const session = await dial(t, mx)
  await Promise.all([session.quit(), session.quit()])
  session.destroy()
  session.destroy()
  await session.quit()
  assert.is(mx.transcript.filter(line => line.endsWith('C: QUIT')).length, 1)
})

test('destroy() fails transactions in progress', async t => {
  const mx = await t.using(startFakeMx())
  const { log, until } = createLog()
  const session = await dial(t, mx, { log })
  const sending = session.send(mailTo('hang-after-rcpt'))
  await until(/S: 250 2.1.0/)
  await turns(1)
  session.destroy()
  assert.equal(short(await sending), ['failed rcpt closed'])
  assert.is(session.alive, false)
})

test('sessions are independent: a failure leaves others usable', async t => {
  const mx = await t.using(startFakeMx())
  const [one, other] = await Promise.all([dial(t, mx), dial(t, mx)])
  assert.equal(short(await one.send(mailTo('drop-after-data'))), ['failed data closed'])
  assert.equal(short(await other.send(mailTo('ok'))), ['accepted 250'])
})

test('an error of ours ends the transaction with it, and closes the connection', async t => {
  const mx = await t.using(startFakeMx())
  const session = await dial(t, mx)
  await session.send(mailTo('ok'))
  const broken = () => {
    throw new Error('a mistake of ours')
  }
  const error = await session.send(mailTo('ok'), broken).catch(reason => reason)
  assert.instance(error, Error)
  assert.is(error.message, 'a mistake of ours')
  assert.is(session.alive, false)
})

test.run()
