/** Tests how much memory and work port 25 spends on single bytes and on endless commands. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import * as assert from 'uvu/assert'
import { byteArrayCount, charactersSearched, sendByteByByte } from '../../../kit/held-pieces.ts'
import { finish, openInboundListener as open } from '../../../kit/inbound-listener.ts'
import type { SmtpClient } from '../../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('inbound/small-pieces')
/** Ten times what one connection may bring in a turn. */
const PIECES = 5_000
const HELD_MAX = 300
const RCPT = 'RCPT TO:<bob@here.example>\r\n'
/**
 * A client whose socket is at hand, before or after STARTTLS, and has said these lines, one after the other.
 */
async function recordOf(
  t: TestContext,
  port: number,
  lines: readonly string[],
  isTls = false,
): Promise<Socket> {
  let socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
  t.after(() => socket.destroy())
  await once(socket, 'data')
  const say = async (line: string) => {
    socket.write(line)
    await once(socket, 'data')
  }
  await say('EHLO x\r\n')
  if (isTls) {
    await say('STARTTLS\r\n')
    socket = connectTls({ socket, rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    await say('EHLO x\r\n')
  }
  for (const line of lines) await say(line)
  return socket
}

/** @returns the number of byte arrays that the process holds more after these bytes came one by one */
async function heldAfter(socket: Socket, bytes: string): Promise<number> {
  const before = byteArrayCount()
  await sendByteByByte(socket, bytes)
  return byteArrayCount() - before
}

const MAIL = 'MAIL FROM:<ann@there.example>\r\n'
for (const isTls of [false, true])
  for (const [what, step, lines, last] of [
    ['a recipient is looked up', 'admit', [MAIL], RCPT],
    ['a message is stored', 'take', [MAIL, RCPT, 'DATA\r\n'], 'x\r\n.\r\n'],
    ['the disk takes a block', 'write', [MAIL, RCPT, 'DATA\r\n'], `${'x'.repeat(98)}\r\n`.repeat(700)],
  ] as const)
    test(`bytes that come one by one ${isTls ? 'over TLS ' : ''}while ${what} are not held as pieces`, async t => {
      const { promise, resolve } = Promise.withResolvers<undefined>()
      const { port } = await open(t, { [step]: () => promise })
      const socket = await recordOf(t, port, lines, isTls)
      // A connection whose step never ended would delay the close of the listener by three seconds.
      t.after(() => resolve(undefined))
      socket.write(last)
      await new Promise(setImmediate)
      const held = await heldAfter(socket, 'NOOP\r\n'.repeat(PIECES / 6))
      assert.ok(held < HELD_MAX, `${held} byte arrays for ${PIECES} bytes`)
    })

for (const [what, text] of [
  ['without an end', 'x'.repeat(PIECES)],
  ['of blanks', `NOOP${' '.repeat(PIECES)}`],
  ['of an address', `MAIL FROM:<${'a'.repeat(PIECES)}`],
] as const)
  test(`a command line ${what} is searched once, however small its pieces are`, async t => {
    const { port } = await open(t)
    const socket = await recordOf(t, port, [])
    const count = await charactersSearched(() => sendByteByByte(socket, text))
    assert.ok(count < 10 * text.length, `${count} characters searched for ${text.length}`)
    const answer = once(socket, 'data')
    await sendByteByByte(socket, '\r\n')
    assert.match(String(await answer), /^[25]\d\d /)
  })

test('commands and a message that come byte by byte are taken as if typed by hand', async t => {
  const { port } = await open(t)
  const socket = await recordOf(t, port, [])
  const type = async (text: string, code: RegExp) => {
    const answer = once(socket, 'data')
    await sendByteByByte(socket, text)
    assert.match(String(await answer), code)
  }
  await type(MAIL, /^250 /)
  await type(RCPT, /^250 /)
  await type('DATA\r\n', /^354 /)
  await type(`Subject: typed\r\n\r\n${'word word\r\n'.repeat(200)}..\r\n.\r\n`, /^250 /)
  const answer = once(socket, 'data')
  await sendByteByByte(socket, 'QUIT')
  socket.end()
  assert.match(String(await answer), /^221 /)
})

test('a line of more than 16 KiB ends the connection before its end arrives', async t => {
  const { port } = await open(t)
  const socket = await recordOf(t, port, [])
  const answer = once(socket, 'data')
  socket.write('x'.repeat(17_000))
  assert.match(String(await answer), /^421 .*too long/)
})

const talk = async (client: SmtpClient, command: string, max: number) => {
  client.write(`${command}\r\n`.repeat(max))
  for (let count = 0; ; count++) {
    const reply = await client.reply()
    if (!reply || reply.startsWith('421')) return { count, reply }
  }
}
for (const command of ['NOOP', 'RSET', 'RCPT TO:<bob@here.example>', 'VRFY bob', 'HELP'])
  test(`${command} without end ends the connection after 1,000 commands`, async t => {
    const { greeted } = await open(t)
    const { count, reply } = await talk(await greeted(), command, 20_000)
    assert.ok(count <= 1_000, `${count} replies`)
    assert.match(reply, /^421 4\.7\.0 Too many/)
  })

test('a message begins the count of commands anew', async t => {
  const { inData } = await open(t)
  const client = await inData()
  for (let round = 0; round < 3; round++) {
    assert.match(await finish(client), /^250 /)
    client.write('NOOP\r\n'.repeat(900))
    for (let i = 0; i < 900; i++) assert.match(await client.reply(), /^250 /)
    for (const line of ['MAIL FROM:<ann@there.example>', 'RCPT TO:<bob@here.example>'])
      assert.match(await client.say(line), /^250 /)
    assert.match(await client.say('DATA'), /^354 /)
  }
})

test.run()
