import { createHash } from 'node:crypto'
import * as assert from 'uvu/assert'
import { createAdjustableClock } from '../../../../../src/lib/adjustable-clock.ts'
import { openSession } from '../../../../../src/pipeline/delivery/smtp-client/open.ts'
import { startFakeMx } from '../../../../kit/fake-mx.ts'
import { suite } from '../../../../kit/suite.ts'
import { bigMessage, createLog, dial, mailTo, optionsFor, short, startPeer, turns } from './dial.ts'

const test = suite('large messages')
const BLOCK_BYTES = 65_536
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

for (const tls of ['off', 'good'] as const)
  test(`20 MB with a dot at the start of many lines arrive as they were (TLS: ${tls})`, async t => {
    const mx = await t.using(startFakeMx({ tls }))
    const session = await dial(t, mx, { tls: 'opportunistic' })
    const lines = Buffer.from(`.leading dot\r\n${'x'.repeat(70)}\r\nlast é\r\n`)
    const message = [
      Buffer.from('Subject: big\r\n\r\n'),
      Buffer.alloc(20_000_000 - (20_000_000 % lines.length), lines),
    ]
    const result = await session.send(mailTo('ok', { message }))
    assert.equal(short(result), ['accepted 250'])
    assert.is(sha256(mx.messages[0]!.data), sha256(Buffer.concat(message)))
    assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
    assert.equal(mx.violations, [])
  })

test('back-pressure: a peer that stops reading stops the writing', async t => {
  const mx = await t.using(startFakeMx())
  const clock = await t.using(createAdjustableClock())
  const { log, lines } = createLog()
  const session = await dial(t, mx, { clock, log })
  const message = bigMessage(40_000_000)
  const sending = session.send(mailTo('stall-body', { message }))
  await mx.until(/-: stall/)
  await turns()
  const written = lines.filter(line => line.includes('bytes of message')).length
  assert.ok(written * BLOCK_BYTES < 20_000_000, `${written} blocks were written`)
  clock.advance(180_000)
  assert.equal(short(await sending), ['failed body timeout'])
})

test('the time limit applies to each block: a slow reader may take longer for the whole message', async t => {
  const clock = await t.using(createAdjustableClock())
  const { log, until } = createLog()
  let readBytes = 0
  const script = ['220 slow\r\n', '250-slow\r\n250 PIPELINING\r\n', '250 ok\r\n250 ok\r\n354 go\r\n']
  const peer = await t.using(
    startPeer(socket => {
      socket.write(script.shift()!)
      socket.on('data', chunk => {
        const reply = script.shift()
        if (reply !== undefined) return socket.write(reply)
        readBytes += chunk.length
        return chunk.includes('\r\n.\r\n') && socket.write('250 taken\r\n')
      })
    }),
  )
  const session = await openSession(optionsFor(peer, { clock, log }))
  assert.ok(!('failure' in session))
  t.after(() => session.destroy())
  const socket = await peer.connection
  const sending = session.send(mailTo('ok', { message: bigMessage(40_000_000) }))
  await until(/bytes of message/)
  let settled = false
  void sending.finally(() => {
    settled = true
  })
  for (let round = 0; !settled; round++) {
    socket.pause()
    await turns()
    if (round < 5) clock.advance(100_000)
    const goal = readBytes + 8_000_000
    socket.resume()
    while (!settled && readBytes < goal) await new Promise(setImmediate)
  }
  assert.equal(short(await sending), ['accepted 250'])
})

test('a negative reply in the middle of the message is the verdict, and nothing more is sent', async t => {
  const mx = await t.using(startFakeMx())
  const { log, lines } = createLog()
  const session = await dial(t, mx, { log })
  const result = await session.send(
    mailTo(['body-552-534', 'perm-550-511'], { message: bigMessage(40_000_000) }),
  )
  assert.equal(short(result), ['refused body 552 5.3.4', 'refused rcpt 550 5.1.1'])
  assert.equal([result.reusable, session.alive], [false, false])
  assert.ok(lines.filter(line => line.includes('bytes of message')).length * BLOCK_BYTES < 40_000_000)
})

test('a positive reply in the middle of the message is a protocol failure', async t => {
  const mx = await t.using(startFakeMx())
  const session = await dial(t, mx)
  const result = await session.send(mailTo('body-250-200', { message: bigMessage(40_000_000) }))
  assert.equal(short(result), ['failed body protocol'])
})

test('a connection lost in the middle of the message fails', async t => {
  const mx = await t.using(startFakeMx())
  const session = await dial(t, mx)
  const result = await session.send(
    mailTo(['drop-mid-body', 'perm-550-511'], { message: bigMessage(40_000_000) }),
  )
  assert.equal(short(result), ['failed body closed', 'refused rcpt 550 5.1.1'])
})

test('the envelope of the next message follows a large one too', async t => {
  const mx = await t.using(startFakeMx())
  const session = await dial(t, mx)
  const big = mailTo('ok1', { message: bigMessage(1_000_000) })
  const results = await Promise.all([session.send(big), session.send(mailTo('ok2')), session.send(big)])
  assert.equal(results.flatMap(short), ['accepted 250', 'accepted 250', 'accepted 250'])
  assert.equal(
    mx.messages.map(({ data }) => data.length > 1000),
    [true, false, true],
  )
  assert.equal(mx.violations, [])
})

for (const segmentBytes of [1, 2, 3, 7])
  for (const tls of ['off', 'good'] as const)
    test(`replies in segments of ${segmentBytes} bytes are the same replies (TLS: ${tls})`, async t => {
      const mx = await t.using(startFakeMx({ segmentBytes, tls }))
      const session = await dial(t, mx, { tls: 'opportunistic' })
      assert.is(session.facts.tls === null, tls === 'off')
      assert.is(session.facts.extensions.size, 5)
      const locals = ['ok', 'perm-550-511', 'data-451', 'dot-554-571', 'ok']
      const results = await Promise.all(locals.map(local => session.send(mailTo(local))))
      assert.equal(results.flatMap(short), [
        'accepted 250',
        'refused rcpt 550 5.1.1',
        'refused data 451 4.0.0',
        'refused final-dot 554 5.7.1',
        'accepted 250',
      ])
      await session.quit()
      assert.equal(mx.violations, [])
    })

test.run()
