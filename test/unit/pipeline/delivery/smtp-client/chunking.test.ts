import type { Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { openSession } from '../../../../../src/pipeline/delivery/smtp-client/open.ts'
import { type FakeMx, startFakeMx } from '../../../../kit/fake-mx.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { bigMessage, dial, mailTo, optionsFor, short, startPeer, turns } from './dial.ts'

const test = suite('deliver/client: BDAT')
const CHUNKING = ['CHUNKING', '8BITMIME', 'SIZE 1000000']

const commands = (mx: FakeMx) =>
  mx.transcript.filter(line => / C: /.test(line)).map(line => line.replace(/^\d+ C: /, ''))

/** A session whose peer has shown that it knows BDAT. */
async function dialKnown(t: TestContext, mx: FakeMx) {
  const session = await dial(t, mx)
  assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
  return session
}

test('the first message of a session goes in two chunks, the first of which is a part of its first line', async t => {
  const mx = await t.using(startFakeMx({ extensions: CHUNKING }))
  const session = await dial(t, mx)
  const message = [Buffer.from('Subject: first\r\n\r\nHello.\r\n')]
  const result = await session.send(mailTo('ok', { message }))
  assert.equal(short(result), ['accepted 250'])
  assert.is(result.replies.body?.code, 250)
  assert.equal(
    commands(mx).filter(command => command.startsWith('BDAT')),
    ['BDAT 14', 'BDAT 12 LAST'],
  )
  assert.is(`${mx.messages[0]!.data}`, 'Subject: first\r\n\r\nHello.\r\n')
  assert.equal(mx.violations, [])
})

for (const [beginning, size] of [
  ['\r\nno header', 1],
  ['x'.repeat(2_000), 512],
] as const)
  test(`the first chunk of a message that begins with ${JSON.stringify(beginning.slice(0, 4))} has ${size} octets`, async t => {
    const mx = await t.using(startFakeMx({ extensions: CHUNKING }))
    const session = await dial(t, mx)
    const message = [Buffer.from(`${beginning}\r\n`)]
    assert.equal(short(await session.send(mailTo('ok', { message }))), ['accepted 250'])
    assert.ok(commands(mx).includes(`BDAT ${size}`))
    assert.is(`${mx.messages[0]!.data}`, `${beginning}\r\n`)
  })

test('a message goes as one chunk, unstuffed and without a final dot', async t => {
  const mx = await t.using(startFakeMx({ extensions: CHUNKING }))
  const session = await dialKnown(t, mx)
  const message = [Buffer.from('Subject: dots\r\n\r\n.\r\n..two\r\n.end')]
  const result = await session.send(mailTo(['ok', 'ok2'], { message }))
  assert.equal(short(result), ['accepted 250', 'accepted 250'])
  assert.equal(Object.keys(result.timings), ['mail', 'rcpt', 'body', 'final-dot'])
  assert.is(`${mx.messages[1]!.data}`, 'Subject: dots\r\n\r\n.\r\n..two\r\n.end\r\n')
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
        else if (`${chunk}`.startsWith('BDAT')) socket.write('250 taken\r\n')
        else socket.write('250 ok\r\n250 ok\r\n250 taken\r\n')
      })
    }),
  )
  const session = await openSession(optionsFor(peer))
  if ('failure' in session) throw new Error(session.failure.message)
  t.after(() => session.destroy())
  await session.send(mailTo('ok'))
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
  const session = await dialKnown(t, mx)
  const message = bigMessage(300_000)
  const chunkCount = () => commands(mx).filter(command => command.startsWith('BDAT')).length
  const before = chunkCount()
  assert.equal(short(await session.send(mailTo('perm-550-511', { message }))), ['refused rcpt 550 5.1.1'])
  assert.is(chunkCount(), before)
  assert.equal(short(await session.send(mailTo('ok', { message }))), ['accepted 250'])
  assert.equal(mx.messages[1]!.data, Buffer.concat(message))
  assert.equal(mx.violations, [])
})

for (const pipelining of [true, false])
  for (const code of [500, 502])
    test(`to a peer that offers BDAT and says ${code} to it, nothing of the message is a command (${pipelining ? 'pipelined' : 'one at a time'})`, async t => {
      const lines: string[] = []
      const peer = await t.using(startPeer(socket => answerWithoutBdat(socket, { pipelining, code }, lines)))
      const session = await openSession(optionsFor(peer))
      if ('failure' in session) throw new Error(session.failure.message)
      const forged = 'X: y\r\nRSET\r\nMAIL FROM:<ceo@bank.test>\r\nRCPT TO:<victim@there.test>\r\nDATA\r\n'
      const message = [Buffer.from(`${forged}Subject: forged\r\n\r\n.\r\n`)]
      const [first, second] = await Promise.all([
        session.send(mailTo('ok', { message })),
        session.send(mailTo('ok2')),
      ])
      assert.equal([short(first), short(second)], [['failed body protocol'], ['failed mail closed']])
      assert.equal([first.bdatUnknown, first.reusable, second.bdatUnknown], [true, false, undefined])
      await turns()
      assert.equal(
        lines.map(line => line.split(/[ :]/)[0]),
        ['EHLO', 'MAIL', 'RCPT', 'BDAT'],
      )
      assert.is(session.alive, false)
    })

test('where recipients were refused, a refused chunk says nothing of BDAT', async t => {
  const mx = await t.using(startFakeMx({ extensions: CHUNKING }))
  const session = await dial(t, mx)
  const result = await session.send(mailTo('perm-550-511'))
  assert.equal([short(result), result.bdatUnknown], [['refused rcpt 550 5.1.1'], undefined])
  assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
})

test('it is not used where the options say so', async t => {
  const mx = await t.using(startFakeMx({ extensions: CHUNKING }))
  const session = await dial(t, mx, { chunking: false })
  assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
  assert.not.ok(commands(mx).some(command => command.startsWith('BDAT')))
  assert.ok(commands(mx).includes('DATA'))
})

test('a connection that breaks before a chunk was answered has not delivered', async t => {
  const mx = await t.using(startFakeMx({ extensions: CHUNKING, at: { rcpt: 'drop' } }))
  const session = await dial(t, mx)
  assert.equal(short(await session.send(mailTo('ok'))), ['failed rcpt closed'])
})

test('a connection that breaks after a part of the answers may have delivered', async t => {
  const at = { rcpt: (times: number) => (times === 0 ? undefined : ('drop' as const)) }
  const mx = await t.using(startFakeMx({ extensions: CHUNKING, at }))
  const session = await dialKnown(t, mx)
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

/** Reads line by line, as who does not know BDAT does. */
function answerWithoutBdat(
  socket: Socket,
  { pipelining, code }: { pipelining: boolean; code: number },
  lines: string[],
) {
  let input = ''
  socket.write('220 mx.test\r\n')
  socket.on('data', chunk => {
    const read = (input + chunk).split('\r\n')
    input = read.pop()!
    for (const line of read) {
      lines.push(line)
      if (line.startsWith('EHLO'))
        socket.write(`250-mx.test\r\n${pipelining ? '250-PIPELINING\r\n' : ''}250 CHUNKING\r\n`)
      else socket.write(/^(?:MAIL|RCPT|RSET)/.test(line) ? '250 ok\r\n' : `${code} 5.5.1 unknown\r\n`)
    }
  })
}

test.run()
