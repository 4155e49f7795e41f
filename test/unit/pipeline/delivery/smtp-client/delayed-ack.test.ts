import * as assert from 'uvu/assert'
import { watchDelayedAck } from '../../../../../src/pipeline/delivery/smtp-client/delayed-ack.ts'
import { openSession } from '../../../../../src/pipeline/delivery/smtp-client/open.ts'
import { createManualClock } from '../../../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { mailTo, optionsFor, short, startPeer, turns } from './dial.ts'

const test = suite('deliver/client: what is held back')

const noted = (roundTripMs: number, gaps: readonly number[]) => {
  const watch = watchDelayedAck(roundTripMs)
  return gaps.map(watch.note)
}

test('three answers in a row that come as late as an acknowledgement was put off', () => {
  assert.equal(noted(0, [40, 44, 41]), [false, false, true])
  assert.equal(noted(30, [70, 85, 71]), [false, false, true])
})

test('an answer that comes sooner, or later, is no such', () => {
  assert.equal(noted(0, [40, 44, 5, 40, 41]), [false, false, false, false, false])
  assert.equal(noted(0, [40, 44, 180, 40, 41, 42]), [false, false, false, false, false, true])
})

test('from far away it is not told from thinking', () => {
  assert.equal(noted(41, [81, 81, 81, 81]), [false, false, false, false])
})

/** A peer that answers to the message so much later than to its envelope, by the clock of the client. */
async function openPeer(t: TestContext, gapMs: number) {
  const clock = createManualClock()
  const commands: string[] = []
  let inMessage = false
  const peer = await t.using(
    startPeer(socket => {
      socket.write('220 mx.test\r\n')
      socket.on('data', async chunk => {
        const text = `${chunk}`
        const verbs: string[] = inMessage ? [] : (text.match(/^(?:EHLO|MAIL|BDAT|DATA)\b/gm) ?? [])
        commands.push(...verbs.filter(verb => verb === 'BDAT' || verb === 'DATA'))
        if (verbs.includes('EHLO')) return socket.write('250-mx.test\r\n250-PIPELINING\r\n250 CHUNKING\r\n')
        if (verbs.includes('DATA')) {
          inMessage = true
          return socket.write('250 ok\r\n250 ok\r\n354 go on\r\n')
        }
        const isProbe = /^BDAT \d+\r$/m.test(text)
        if (verbs.includes('MAIL')) socket.write(`250 ok\r\n250 ok\r\n${isProbe ? '250 ok\r\n' : ''}`)
        if (isProbe) return undefined
        await turns()
        clock.advance(gapMs)
        inMessage = false
        return socket.write('250 taken\r\n')
      })
    }),
  )
  const session = await openSession(optionsFor(peer, { clock }))
  if ('failure' in session) throw new Error(session.failure.message)
  t.after(() => session.destroy())
  const send = async () => {
    const { bdatIsSlow, ...result } = await session.send(mailTo('ok'))
    assert.equal(short(result), ['accepted 250'])
    return bdatIsSlow
  }
  return { send, commands }
}

test('where BDAT is answered so, messages go by DATA from the fifth on', async t => {
  const { send, commands } = await openPeer(t, 42)
  for (const bdatIsSlow of [undefined, undefined, undefined, true, undefined, undefined])
    assert.is(await send(), bdatIsSlow)
  assert.equal(commands, ['BDAT', 'BDAT', 'BDAT', 'BDAT', 'BDAT', 'DATA', 'DATA'])
})

test('where it is answered at once, they go on by BDAT', async t => {
  const { send, commands } = await openPeer(t, 3)
  for (let i = 0; i < 6; i++) assert.is(await send(), undefined)
  assert.not.ok(commands.includes('DATA'))
})

test.run()
