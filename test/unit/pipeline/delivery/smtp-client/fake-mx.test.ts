/**
 * The scripted MX itself: that it takes, refuses and complains as its table says, seen by a client that
 * breaks the rules.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type FakeMx, type FakeMxOptions, startFakeMx } from '../../../../kit/fake-mx.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { dial, mailTo, short } from './dial.ts'

const test = suite('kit/fake-mx')
const HELLO = 'EHLO me.test\r\n'
const ENVELOPE = 'MAIL FROM:<a@here.test>\r\nRCPT TO:<ok@there.test>\r\n'

/** Sends each text when the former was answered, and returns everything that was said in the end. */
async function talk(t: TestContext, mx: FakeMx, ...texts: string[]): Promise<string> {
  const socket = connect({ host: mx.host, port: mx.port, noDelay: true })
  t.after(() => socket.destroy())
  let heard = ''
  for await (const chunk of socket) {
    heard += chunk
    if (!/^\d{3} .*\r\n$/m.test(heard)) continue
    const next = texts.shift()
    if (next === undefined) break
    socket.write(next, 'latin1')
  }
  return heard
}

for (const [violation, options, texts] of [
  ['pipelining without permission', { pipelining: false }, [HELLO, ENVELOPE]],
  ['something after DATA in one group', {}, [HELLO, `${ENVELOPE}DATA\r\nSubject: x\r\n\r\n.\r\n`]],
  ['something after EHLO in one group', {}, [`${HELLO}NOOP\r\n`]],
  ['a command with bare CR or LF', {}, ['EHLO me.test\n']],
  ['bare CR or LF in the message', {}, [HELLO, `${ENVELOPE}DATA\r\n`, 'a\nb\r\n.\r\n']],
  ['bare CR or LF in the message', {}, [HELLO, `${ENVELOPE}DATA\r\n`, 'a\rb\r\n.\r\n']],
  ['a line of more than 998 bytes', {}, [HELLO, `${ENVELOPE}DATA\r\n`, `${'x'.repeat(999)}\r\n.\r\n`]],
  ['a line that begins with an unstuffed dot', {}, [HELLO, `${ENVELOPE}DATA\r\n`, 'a\r\n.b\r\n.\r\n']],
  ['8-bit bytes without BODY=8BITMIME', {}, [HELLO, `${ENVELOPE}DATA\r\n`, 'caf\xe9\r\n.\r\n']],
  ['a bad or nested MAIL: MAIL FROM:a@b', {}, [HELLO, 'MAIL FROM:a@b\r\n']],
  ['an unknown command "HELP"', {}, [HELLO, 'HELP\r\n']],
] as [string, FakeMxOptions, string[]][])
  test(`notes ${violation}`, async t => {
    const mx = await t.using(startFakeMx(options))
    await talk(t, mx, ...texts)
    assert.ok(mx.violations.includes(violation), mx.transcript.join('\n'))
  })

test('notes a client that talks before the greeting', async t => {
  const mx = await t.using(startFakeMx({ at: { banner: 'hang' }, delayMs: 20 }))
  const socket = connect({ host: mx.host, port: mx.port })
  t.after(() => socket.destroy())
  socket.write(HELLO)
  await mx.until(/talks before the greeting/)
})

test('greylisting ends after as many tries as its recipient says', async t => {
  const mx = await t.using(startFakeMx())
  const session = await dial(t, mx)
  for (const expected of ['refused rcpt 451 4.7.1', 'refused rcpt 451 4.7.1', 'accepted 250', 'accepted 250'])
    assert.equal(short(await session.send(mailTo('grey-2+x'))), [expected])
  assert.equal(short(await session.send(mailTo('grey-2+y'))), ['refused rcpt 451 4.7.1'])
  assert.is(mx.triesOf('grey-2+x@there.test'), 4)
})

test('a recipient with a taste for 7 bits', async t => {
  const mx = await t.using(startFakeMx())
  const session = await dial(t, mx)
  const message = [Buffer.from('Subject: x\r\n\r\né\r\n')]
  assert.equal(short(await session.send(mailTo('eight-bit', { message }))), ['refused final-dot 554 5.6.1'])
  assert.equal(short(await session.send(mailTo('eight-bit'))), ['accepted 250'])
})

for (const [local, outcome] of [
  ['slow-rcpt-5', 'accepted 250'],
  ['slow-data-5', 'accepted 250'],
  ['slow-dot-5', 'accepted 250'],
  ['mail-451', 'refused mail 451 4.0.0'],
  ['drop-after-mail', 'failed mail closed'],
  ['drop-after-rcpt', 'failed rcpt closed'],
  ['drop-after-data', 'failed data closed'],
  ['drop-after-dot', 'failed final-dot closed'],
  ['garbage-dot', 'failed final-dot protocol'],
] as const)
  test(`the recipient ${local} gets what it asks for`, async t => {
    const mx = await t.using(startFakeMx())
    const session = await dial(t, mx)
    assert.equal(short(await session.send(mailTo(local))), [outcome])
  })

test('hosts on one port and several addresses are distinct', async t => {
  const first = await t.using(startFakeMx({ host: '127.0.0.2' }))
  const second = await t.using(startFakeMx({ host: '127.0.0.3', port: first.port }))
  await (await dial(t, second)).send(mailTo('ok'))
  await second.waitFor(1)
  assert.equal([first.sessionCount, second.sessionCount], [0, 1])
})

test('the ledger has a line for each recipient before the message is acknowledged', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const ledger = join(folder, 'ledger')
  const mx = await t.using(startFakeMx({ ledger }))
  const session = await dial(t, mx)
  const headers = 'Message-ID: <1@here.test>\r\nX-Mailhorn-Ref: abc\r\n\r\n'
  const message = [Buffer.from(headers), Buffer.from('X-Mailhorn-Ref: in the body\r\n')]
  await session.send(mailTo(['ok', 'perm-550-511', 'ok2'], { message }))
  await session.send(mailTo('dot-451', { message }))
  await session.send(mailTo('ok'))
  assert.is(
    readFileSync(ledger, 'utf8'),
    '<1@here.test>\tok@there.test\tabc\n<1@here.test>\tok2@there.test\tabc\n\tok@there.test\t\n',
  )
})

test.run()
