/**
 * Tests how much memory ports 465 and 587 hold for a client while a login is checked, and the cost of endless
 * logins.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import * as assert from 'uvu/assert'
import { createIncoming } from '../../../../src/interfaces/submission/incoming.ts'
import { startSubmissionListener } from '../../../../src/interfaces/submission/listener.ts'
import type { SubmissionSignIn } from '../../../../src/interfaces/submission/sign-in.ts'
import { createLog } from '../../../../src/lib/log.ts'
import { createMetrics } from '../../../../src/lib/metrics.ts'
import { createMailReport } from '../../../../src/pipeline/inbound/mail-report.ts'
import { byteArrayCount, sendByteByByte } from '../../../kit/held-pieces.ts'
import { largeInput } from '../../../kit/large-input.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { testCertificate } from '../../../kit/tls.ts'

const test = suite('submission/small-pieces')
/** Ten times what one connection may bring in a turn. */
const PIECES = 5_000
const HELD_MAX = 300
const LOGIN = Buffer.from('\0resend\0re_key').toString('base64')

async function setUp(t: TestContext, isTls: boolean, signIn: SubmissionSignIn) {
  const [clock, log] = [createManualClock(), createLog('silent')]
  const listener = await t.using(
    startSubmissionListener({
      listen: { host: '127.0.0.1', port: 0 },
      isTls,
      mailHost: 'mailhorn.test',
      certificates: { current: () => testCertificate('good'), onChange: () => () => {}, close() {} },
      admission: { signIn },
      admit: () => null,
      submit: async () => '2.0.0 Ok',
      incoming: createIncoming(largeInput({ bytes: 400_000, clock })),
      report: createMailReport({ metrics: createMetrics(), log, clock }, 'submission'),
      clock,
      log,
    }),
  )
  const { port } = listener.address()
  let socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
  t.after(() => socket.destroy())
  const say = async (line: string) => {
    socket.write(line)
    return String((await once(socket, 'data'))[0])
  }
  const secure = async () => {
    socket = connectTls({ socket, rejectUnauthorized: false })
    await once(socket, 'secureConnect')
  }
  if (isTls) await secure()
  await once(socket, 'data')
  await say('EHLO x\r\n')
  if (!isTls) {
    await say('STARTTLS\r\n')
    await secure()
    await say('EHLO x\r\n')
  }
  return { socket, say }
}

for (const isTls of [true, false])
  for (const [what, text] of [
    ['commands', 'NOOP\r\n'.repeat(PIECES / 6)],
    ['a line without an end', 'x'.repeat(PIECES)],
    ['empty lines', '\r\n'.repeat(PIECES / 2)],
  ] as const)
    test(`port ${isTls ? 465 : 587}: ${what}, byte by byte while a login is checked, are not held as pieces`, async t => {
      const requests = Promise.withResolvers<void>()
      const answer = Promise.withResolvers<'too-many'>()
      const { socket } = await setUp(t, isTls, () => {
        requests.resolve()
        return answer.promise
      })
      // A login that is never answered would delay the close of the listener by three seconds.
      t.after(() => answer.resolve('too-many'))
      socket.write(`AUTH PLAIN ${LOGIN}\r\n`)
      await requests.promise
      const before = byteArrayCount()
      await sendByteByByte(socket, text)
      const held = byteArrayCount() - before
      assert.ok(held < HELD_MAX, `${held} byte arrays for ${text.length} bytes`)
    })

for (const [what, line] of [
  ['challenges that are not answered', 'AUTH LOGIN\r\n*\r\n'],
  ['commands before the login', 'NOOP\r\n'],
  ['mail before the login', 'MAIL FROM:<ann@here.example>\r\n'],
] as const)
  test(`${what}, without end, end the connection after a few`, async t => {
    let checkCount = 0
    const { socket } = await setUp(t, true, async () => {
      checkCount++
      return 'wrong'
    })
    let heard = ''
    socket.on('data', text => {
      heard += text
    })
    socket.on('error', () => {})
    socket.write(line.repeat(2_000))
    await once(socket, 'close')
    assert.match(heard, /^421 /m)
    assert.ok(heard.split('\r\n').length < 50, `${heard.split('\r\n').length} replies`)
    assert.is(checkCount, 0)
  })

test.run()
