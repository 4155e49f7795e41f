/** Peers that say anything at all: the client always comes back with values, and in time. A failure prints its seed. */
import type { Socket } from 'node:net'
import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { openSession } from '../../../../src/deliver/client/open.ts'
import type { SessionOptions } from '../../../../src/deliver/client/types.ts'
import { suite } from '../../../kit/suite.ts'
import { mailTo, optionsFor, startPeer } from './dial.ts'

const test = suite('deliver/client/fuzz', { limitMs: 60_000 })

const code = fc.constantFrom(
  '220',
  '250',
  '251',
  '354',
  '421',
  '450',
  '451',
  '452',
  '500',
  '503',
  '550',
  '554',
  '221',
  '999',
  '25',
)
const text = fc.oneof(
  fc.constantFrom('', 'ok', '2.0.0 ok', '5.1.1 no', 'PIPELINING', 'SIZE 100', 'STARTTLS', '8BITMIME'),
  fc.string(),
)
const line = fc
  .tuple(code, fc.constantFrom(' ', '-', '', '  '), text, fc.constantFrom('\r\n', '\n', '\r', ''))
  .map(parts => parts.join(''))
const likely = fc.constantFrom(
  '250 ok\r\n',
  '250 ok\r\n250 ok\r\n354 go\r\n',
  '250 ok\r\n550 no\r\n354 go\r\n',
  '250-mx\r\n250 PIPELINING\r\n',
  '250-mx\r\n250-PIPELINING\r\n250 STARTTLS\r\n',
  '354 go\r\n',
  '250 taken\r\n',
)
const noise = fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes).toString('latin1'))
const turn = fc.oneof(
  { weight: 6, arbitrary: likely },
  { weight: 3, arbitrary: line },
  { weight: 1, arbitrary: noise },
)
const script = fc.record({
  greeting: fc.oneof({ weight: 8, arbitrary: fc.constant('220 mx\r\n') }, { weight: 1, arbitrary: line }),
  turns: fc.array(turn, { maxLength: 12 }),
  ending: fc.constantFrom('end', 'destroy', 'reset'),
  patient: fc.boolean(),
})
type Script = typeof script extends fc.Arbitrary<infer T> ? T : never

/** Says one turn after the other, each when the client has said something or, if not patient, at once; then closes. */
async function play(socket: Socket, { greeting, turns, ending, patient }: Script) {
  let heard = 0
  socket.on('data', () => heard++)
  const said = [greeting, ...turns]
  for (const [i, words] of said.entries()) {
    for (let idle = 0; idle < (patient ? 12 : 1) && heard < i; idle++) await new Promise(setImmediate)
    if (!socket.writable) return
    socket.write(words, 'latin1')
  }
  for (let idle = 0; idle < 4; idle++) await new Promise(setImmediate)
  if (ending === 'end') socket.end()
  else if (ending === 'destroy') socket.destroy()
  else socket.resetAndDestroy()
}

const KINDS = new Set(['accepted', 'refused', 'failed'])

async function use(options: SessionOptions) {
  const opened = await openSession(options)
  if ('failure' in opened) {
    assert.type(opened.failure.message, 'string')
    return
  }
  const transactions = [mailTo(['a', 'b']), mailTo('c'), mailTo(['d', 'e', 'f'])]
  const results = await Promise.all(transactions.map(transaction => opened.send(transaction)))
  for (const [i, { recipients }] of results.entries()) {
    assert.is(recipients.length, transactions[i]!.recipients.length)
    for (const { kind } of recipients) assert.ok(KINDS.has(kind))
  }
  await opened.quit()
  assert.is(opened.alive, false)
}

for (const tls of ['none', 'opportunistic', 'required'] as const)
  test(`whatever a peer says, all answers are values (TLS: ${tls})`, () =>
    fc.assert(
      fc.asyncProperty(script, async said => {
        const peer = await startPeer(socket => void play(socket, said))
        try {
          await use(optionsFor(peer, { tls }))
        } finally {
          await peer.close()
        }
      }),
      { numRuns: 400 },
    ))

test.run()
