import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../../../kit/fake-mx.ts'
import { suite } from '../../../../kit/suite.ts'
import { dial, mailTo, short } from './dial.ts'

const test = suite('SMTP transaction')

const commandCount = (mx: FakeMx, verb: string) =>
  mx.transcript.filter(line => line.includes(`C: ${verb}`)).length

test('the message arrives as it was given, with its envelope', async t => {
  const mx = await t.using(startFakeMx())
  const session = await dial(t, mx)
  const message = [Buffer.from('Subject: dots\r\n\r\n'), Buffer.from('.\r\n..two\r\n.end')]
  const result = await session.send(mailTo(['ok', 'ok2'], { message }))
  assert.equal(short(result), ['accepted 250', 'accepted 250'])
  assert.equal(result.recipients[0], {
    kind: 'accepted',
    phase: 'final-dot',
    reply: { code: 250, enhanced: '2.0.0', text: 'taken' },
  })
  assert.is(result.reusable, true)
  assert.equal(Object.keys(result.timings), ['mail', 'rcpt', 'data', 'body', 'final-dot'])
  const [taken] = mx.messages
  assert.is(taken!.mailFrom, 'b+token@send.here.test')
  assert.equal(taken!.rcptTo, ['ok@there.test', 'ok2@there.test'])
  assert.is(`${taken!.data}`, `${Buffer.concat(message)}\r\n`)
  assert.equal(mx.violations, [])
})

test('the null sender is written as empty brackets', async t => {
  const mx = await t.using(startFakeMx())
  const session = await dial(t, mx)
  await session.send(mailTo('ok', { mailFrom: '' }))
  assert.is(mx.messages[0]!.mailFrom, '')
})

for (const pipelining of [true, false]) {
  const how = pipelining ? 'pipelined' : 'one at a time'

  test(`each recipient keeps the reply to its own RCPT (${how})`, async t => {
    const mx = await t.using(startFakeMx({ pipelining }))
    const session = await dial(t, mx)
    const result = await session.send(mailTo(['ok', 'perm-550-511', 'defer-451-471', 'full-452-422', 'ok2']))
    assert.equal(short(result), [
      'accepted 250',
      'refused rcpt 550 5.1.1',
      'refused rcpt 451 4.7.1',
      'refused rcpt 452 4.2.2',
      'accepted 250',
    ])
    assert.equal(mx.messages[0]!.rcptTo, ['ok@there.test', 'ok2@there.test'])
    assert.is(result.reusable, true)
    assert.equal(mx.violations, [])
  })

  test(`452 from the third recipient on is theirs alone (${how})`, async t => {
    const mx = await t.using(startFakeMx({ pipelining }))
    const session = await dial(t, mx)
    const result = await session.send(mailTo(['ok', 'ok2', 'too-many-2+a', 'too-many-2+b']))
    const tooMany = 'refused rcpt 452 4.5.3'
    assert.equal(short(result), ['accepted 250', 'accepted 250', tooMany, tooMany])
  })

  for (const after of ['354', '503', '554'] as const)
    test(`all recipients refused and DATA answered ${after}: refusals, and the session goes on (${how})`, async t => {
      const mx = await t.using(startFakeMx({ pipelining, dataAfterRefusedRcpt: after }))
      const session = await dial(t, mx)
      const result = await session.send(mailTo(['perm-550-511', 'defer-450']))
      assert.equal(short(result), ['refused rcpt 550 5.1.1', 'refused rcpt 450 4.0.0'])
      assert.is(result.reusable, true)
      assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
      assert.is(mx.messages.length, 1)
      assert.is(mx.sessionCount, 1)
      assert.is(commandCount(mx, 'DATA'), pipelining ? 2 : 1)
      const emptyCount = mx.transcript.filter(line => line.includes('(0 bytes of message)')).length
      assert.is(emptyCount, pipelining && after === '354' ? 1 : 0)
      assert.equal(mx.violations, [])
    })

  test(`MAIL refused is the verdict for every recipient (${how})`, async t => {
    const at = { mail: (times: number) => (times === 0 ? '550 5.7.1 sender refused' : undefined) }
    const mx = await t.using(startFakeMx({ pipelining, at }))
    const session = await dial(t, mx)
    const result = await session.send(mailTo(['ok', 'perm-550-511']))
    assert.equal(short(result), ['refused mail 550 5.7.1', 'refused mail 550 5.7.1'])
    assert.is(commandCount(mx, 'RCPT'), pipelining ? 2 : 0)
    assert.is(result.reusable, true)
    assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
    assert.equal(mx.violations, [])
  })

  test(`DATA refused is the verdict for those whose RCPT was taken (${how})`, async t => {
    const mx = await t.using(startFakeMx({ pipelining }))
    const session = await dial(t, mx)
    const result = await session.send(mailTo(['data-451-430', 'perm-550-511']))
    assert.equal(short(result), ['refused data 451 4.3.0', 'refused rcpt 550 5.1.1'])
    assert.is(result.reusable, true)
    assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
    assert.ok(mx.transcript.includes('1 C: RSET'))
    assert.equal(mx.violations, [])
  })

  test(`the reply to the final dot is the verdict for those whose RCPT was taken (${how})`, async t => {
    const mx = await t.using(startFakeMx({ pipelining }))
    const session = await dial(t, mx)
    const result = await session.send(mailTo(['dot-554-571', 'perm-550-511', 'ok']))
    assert.equal(short(result), [
      'refused final-dot 554 5.7.1',
      'refused rcpt 550 5.1.1',
      'refused final-dot 554 5.7.1',
    ])
    assert.is(result.reusable, true)
    assert.is(mx.messages.length, 0)
  })

  test(`421 ends the session; verdicts given before it stand (${how})`, async t => {
    const mx = await t.using(startFakeMx({ pipelining }))
    const session = await dial(t, mx)
    const result = await session.send(mailTo(['ok', 'perm-550-511', 'rcpt-421-470', 'ok2']))
    const away = 'failed rcpt reply 421'
    assert.equal(short(result), [away, 'refused rcpt 550 5.1.1', away, away])
    assert.equal([result.reusable, session.alive], [false, false])
    const [first] = result.recipients
    assert.equal(first?.kind === 'failed' && first.failure.reply, {
      code: 421,
      enhanced: '4.7.0',
      text: 'rcpt',
    })
  })

  test(`the connection lost among the recipients: verdicts given before stand (${how})`, async t => {
    const mx = await t.using(startFakeMx({ pipelining }))
    const session = await dial(t, mx)
    const result = await session.send(mailTo(['perm-550-511', 'drop-after-rcpt', 'ok']))
    assert.equal(short(result), ['refused rcpt 550 5.1.1', 'failed rcpt closed', 'failed rcpt closed'])
    assert.equal([result.reusable, session.alive], [false, false])
  })
}

test('with PIPELINING the envelope is one write; without, a command waits for the reply to the former', async t => {
  for (const pipelining of [true, false]) {
    const mx = await t.using(startFakeMx({ pipelining, delayMs: 2 }))
    const session = await dial(t, mx)
    assert.equal(short(await session.send(mailTo(['ok', 'perm-550-511']))), [
      'accepted 250',
      'refused rcpt 550 5.1.1',
    ])
    assert.equal(mx.violations, [])
  }
})

test('a fourth message is sent away with 421 when the peer takes three in a session', async t => {
  const mx = await t.using(startFakeMx())
  const session = await dial(t, mx)
  for (let i = 0; i < 3; i++) assert.equal(short(await session.send(mailTo('421-after-3'))), ['accepted 250'])
  const result = await session.send(mailTo('421-after-3'))
  assert.equal(short(result), ['failed rcpt reply 421'])
  assert.is(result.reusable, false)
})

test('421 to DATA after every recipient was refused costs the session, not the refusals', async t => {
  const mx = await t.using(startFakeMx({ dataAfterRefusedRcpt: '354', at: { data: '421 4.3.2 closing' } }))
  const session = await dial(t, mx)
  const result = await session.send(mailTo('perm-550-511'))
  assert.equal(short(result), ['refused rcpt 550 5.1.1'])
  assert.is(result.reusable, false)
})

test('251 and 252 take a recipient as 250 does', async t => {
  const at = { rcpt: (times: number) => ['251 2.1.5 will forward', '252 2.1.5 cannot verify'][times] }
  const mx = await t.using(startFakeMx({ at, dataAfterRefusedRcpt: '354' }))
  const session = await dial(t, mx)
  const result = await session.send(mailTo(['ok', 'ok2']))
  assert.equal(short(result), ['refused final-dot 554 5.5.1', 'refused final-dot 554 5.5.1'])
})

for (const [point, reply] of [
  ['mail', '354 what'],
  ['rcpt', '334 what'],
  ['data', '250 what'],
  ['dot', '354 what'],
] as const)
  test(`${reply} in answer to ${point} is no verdict`, async t => {
    const mx = await t.using(startFakeMx({ at: { [point]: reply } }))
    const session = await dial(t, mx)
    const result = await session.send(mailTo('ok'))
    assert.equal(short(result), [`failed ${point === 'dot' ? 'final-dot' : point} protocol`])
    assert.equal([result.reusable, session.alive], [false, false])
  })

test('accepted is accepted, also when the peer closes right after', async t => {
  const mx = await t.using(startFakeMx({ acceptThenClose: true }))
  const session = await dial(t, mx)
  assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
  await mx.until(/-: drop/)
  const next = await session.send(mailTo('ok'))
  assert.equal(short(next), ['failed mail closed'])
  assert.equal([next.reusable, session.alive], [false, false])
})

test('no reply to the final dot: the outcome is unknown, and the phase says so', async t => {
  const mx = await t.using(startFakeMx())
  const session = await dial(t, mx)
  const result = await session.send(mailTo(['drop-after-dot', 'perm-550-511']))
  assert.equal(short(result), ['failed final-dot closed', 'refused rcpt 550 5.1.1'])
  assert.is(result.reusable, false)
})

test('a reply that is not owed, in one segment with one that is, spoils the session but not the verdict', async t => {
  const mx = await t.using(startFakeMx({ at: { dot: '250 2.0.0 taken\r\n250 2.0.0 and again' } }))
  const session = await dial(t, mx)
  const result = await session.send(mailTo('ok'))
  assert.equal(short(result), ['accepted 250'])
  assert.equal([result.reusable, session.alive], [false, false])
})

test('acceptance that comes before the message was sent is not believed', async t => {
  const mx = await t.using(startFakeMx({ at: { data: '354 go ahead\r\n250 2.0.0 taken' } }))
  const session = await dial(t, mx)
  const result = await session.send(mailTo('ok'))
  assert.equal(short(result), ['failed body protocol 250'])
  assert.is(result.reusable, false)
})

test('the texts of a hostile peer are cleaned and bounded', async t => {
  const hostile = `550-5.1.1 \u001b[31m<script>\u0000${'x'.repeat(3000)}\r\n550 5.1.1 end`
  const mx = await t.using(startFakeMx({ at: { rcpt: hostile } }))
  const session = await dial(t, mx)
  const [recipient] = (await session.send(mailTo('ok'))).recipients
  const reply = recipient?.kind === 'refused' ? recipient.reply : null
  assert.is(reply?.enhanced, '5.1.1')
  assert.match(reply?.text ?? '', /^\[31m<script> x{1000}/)
  assert.ok(reply && reply.text.length <= 2048)
})

test.run()
