import * as assert from 'uvu/assert'
import { openSession } from '../../../../src/deliver/client/open.ts'
import { type FakeMx, startFakeMx } from '../../../kit/fake-mx.ts'
import { suite } from '../../../kit/suite.ts'
import { bigMessage, dial, mailTo, optionsFor, short, startPeer, turns } from './dial.ts'

const test = suite('deliver/client: BDAT')
const CHUNKING = ['CHUNKING', '8BITMIME', 'SIZE 1000000']

const commands = (mx: FakeMx) =>
  mx.transcript.filter(line => / C: /.test(line)).map(line => line.replace(/^\d+ C: /, ''))

test('the message goes as one chunk, unstuffed and without a final dot', async t => {
  const mx = await t.using(startFakeMx({ extensions: CHUNKING }))
  const session = await dial(t, mx)
  const message = [Buffer.from('Subject: dots\r\n\r\n.\r\n..two\r\n.end')]
  const result = await session.send(mailTo(['ok', 'ok2'], { message }))
  assert.equal(short(result), ['accepted 250', 'accepted 250'])
  assert.equal(Object.keys(result.timings), ['mail', 'rcpt', 'body', 'final-dot'])
  assert.is(`${mx.messages[0]!.data}`, 'Subject: dots\r\n\r\n.\r\n..two\r\n.end\r\n')
  assert.ok(commands(mx).includes('BDAT 33 LAST'))
  assert.not.ok(commands(mx).includes('DATA'))
  assert.is(result.reusable, true)
  assert.equal(mx.violations, [])
})

test('a short message leaves in one piece with its envelope', async t => {
  let received = ''
  const peer = await t.using(
    startPeer(socket => {
      socket.write('220 mx.test\r\n')
      socket.on('data', chunk => {
        received += chunk
        if (`${chunk}`.startsWith('EHLO')) socket.write('250-mx.test\r\n250-PIPELINING\r\n250 CHUNKING\r\n')
        else socket.write('250 ok\r\n250 ok\r\n250 taken\r\n')
      })
    }),
  )
  const session = await openSession(optionsFor(peer))
  if ('failure' in session) throw new Error(session.failure.message)
  t.after(() => session.destroy())
  const result = await session.send(mailTo('ok', { message: [Buffer.from('a: b\r\n\r\nc\r\n')] }))
  assert.equal(short(result), ['accepted 250'])
  assert.match(received, /MAIL FROM:.*\r\nRCPT TO:.*\r\nBDAT 11 LAST\r\na: b\r\n\r\nc\r\n$/)
})

for (const pipelining of [true, false]) {
  const how = pipelining ? 'pipelined' : 'one at a time'

  test(`each recipient keeps the reply to its own RCPT (${how})`, async t => {
    const mx = await t.using(startFakeMx({ extensions: CHUNKING, pipelining }))
    const session = await dial(t, mx)
    const result = await session.send(mailTo(['perm-550-511', 'ok', 'defer-451-471']))
    assert.equal(short(result), ['refused rcpt 550 5.1.1', 'accepted 250', 'refused rcpt 451 4.7.1'])
    assert.equal(mx.messages[0]!.rcptTo, ['ok@there.test'])
    assert.equal(mx.violations, [])
  })

  test(`all recipients refused: the session goes on (${how})`, async t => {
    const mx = await t.using(startFakeMx({ extensions: CHUNKING, pipelining }))
    const session = await dial(t, mx)
    assert.equal(short(await session.send(mailTo(['perm-550-511']))), ['refused rcpt 550 5.1.1'])
    assert.equal(short(await session.send(mailTo(['ok']))), ['accepted 250'])
    assert.is(mx.sessionCount, 1)
    assert.equal(mx.violations, [])
  })

  test(`a refused sender is no verdict of the chunk's (${how})`, async t => {
    const at = { mail: (times: number) => (times === 0 ? '451 4.7.1 later' : undefined) }
    const mx = await t.using(startFakeMx({ extensions: CHUNKING, pipelining, at }))
    const session = await dial(t, mx)
    assert.equal(short(await session.send(mailTo(['ok']))), ['refused mail 451 4.7.1'])
    assert.equal(short(await session.send(mailTo(['ok']))), ['accepted 250'])
    assert.equal(mx.violations, [])
  })

  test(`a refused message is refused at its end, and the transaction is reset (${how})`, async t => {
    const mx = await t.using(startFakeMx({ extensions: CHUNKING, pipelining }))
    const session = await dial(t, mx)
    const [first, second] = await Promise.all([
      session.send(mailTo(['dot-554-571'])),
      session.send(mailTo(['ok'])),
    ])
    assert.equal(short(first), ['refused final-dot 554 5.7.1'])
    assert.equal(short(second), ['accepted 250'])
    assert.is(commands(mx).filter(command => command === 'RSET').length, 1)
    assert.equal(mx.violations, [])
  })
}

test('a long message waits until a recipient is taken', async t => {
  const mx = await t.using(startFakeMx({ extensions: CHUNKING }))
  const session = await dial(t, mx)
  const message = bigMessage(300_000)
  assert.equal(short(await session.send(mailTo('perm-550-511', { message }))), ['refused rcpt 550 5.1.1'])
  assert.not.ok(commands(mx).some(command => command.startsWith('BDAT')))
  assert.equal(short(await session.send(mailTo('ok', { message }))), ['accepted 250'])
  assert.equal(mx.messages[0]!.data, Buffer.concat(message))
  assert.equal(mx.violations, [])
})

test('a peer that offers BDAT and does not know it gets DATA, once and for the session', async t => {
  const mx = await t.using(
    startFakeMx({
      extensions: CHUNKING,
      at: { dot: n => (n === 0 ? '502 5.5.1 not implemented' : undefined) },
    }),
  )
  const session = await dial(t, mx)
  const results = await Promise.all([session.send(mailTo('ok')), session.send(mailTo('ok2'))])
  assert.equal(results.flatMap(short), ['accepted 250', 'accepted 250'])
  assert.is(commands(mx).filter(command => command.startsWith('BDAT')).length, 1)
  assert.is(commands(mx).filter(command => command === 'DATA').length, 2)
  assert.equal(mx.violations, [])
})

test('a connection that breaks after a part of the answers may have delivered', async t => {
  const mx = await t.using(startFakeMx({ extensions: CHUNKING, at: { rcpt: 'drop' } }))
  const session = await dial(t, mx)
  assert.equal(short(await session.send(mailTo('ok'))), ['failed final-dot closed'])
})

test('a connection that breaks without any answer has not', async t => {
  const mx = await t.using(startFakeMx({ extensions: CHUNKING, at: { mail: 'drop' } }))
  const session = await dial(t, mx)
  assert.equal(short(await session.send(mailTo('ok'))), ['failed mail closed'])
})

test('421 is a refusal of the session, wherever it comes', async t => {
  const mx = await t.using(startFakeMx({ extensions: CHUNKING, at: { rcpt: '421 4.3.2 closing' } }))
  const session = await dial(t, mx)
  assert.equal(short(await session.send(mailTo('ok'))), ['failed rcpt reply 421'])
  await turns()
  assert.is(session.alive, false)
})

test('a bare line end is refused before anything is sent', async t => {
  const mx = await t.using(startFakeMx({ extensions: CHUNKING }))
  const session = await dial(t, mx)
  const sending = session.send(mailTo('ok', { message: [Buffer.from('a: b\r\n\r\nc\nd\r\n')] }))
  assert.match(String(await sending.catch(error => error)), /not part of a CRLF/)
  assert.not.ok(commands(mx).some(command => command.startsWith('MAIL')))
})

test.run()
