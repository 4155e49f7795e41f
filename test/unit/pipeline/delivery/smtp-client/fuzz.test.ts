/**
 * Peers that say anything at all: the client always comes back with values, and in time. A failure prints its
 * seed.
 */
import type { Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { openSession } from '../../../../../src/pipeline/delivery/smtp-client/open.ts'
import type { SessionOptions, TlsOptions } from '../../../../../src/pipeline/delivery/smtp-client/types.ts'
import { fc } from '../../../../kit/property.ts'
import { suite } from '../../../../kit/suite.ts'
import { mailTo, optionsFor, startPeer } from './dial.ts'

const test = suite('deliver/client/fuzz')

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
const noise = fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes).toString('latin1'))

/**
 * Replies of a correct server, turn by turn, to a client that sends the three messages of `use` and quits.
 */
const DIALOGUE = [
  ['220 mx'],
  ['250-mx\r\n250 PIPELINING'],
  ['250 sender', '250 a', '250 b', '354 go'],
  ['250 taken', '250 sender', '250 c', '354 go'],
  ['250 taken', '250 sender', '250 d', '250 e', '250 f', '354 go'],
  ['250 taken'],
  ['221 bye'],
].map(turn => turn.map(reply => `${reply}\r\n`))

/** Puts other words in place of, or before, one reply of the dialogue. */
const distortion = fc.record({
  turn: fc.nat(DIALOGUE.length - 1),
  reply: fc.nat(5),
  words: fc.oneof({ weight: 5, arbitrary: line }, { weight: 1, arbitrary: noise }, fc.constant('')),
  inPlace: fc.boolean(),
})
const script = fc.record({
  distortions: fc.array(distortion, { maxLength: 4 }),
  turnCount: fc.oneof(fc.constant(DIALOGUE.length), fc.nat(DIALOGUE.length)),
  result: fc.constantFrom('end', 'destroy', 'reset'),
  patient: fc.oneof(
    { weight: 9, arbitrary: fc.constant(true) },
    { weight: 1, arbitrary: fc.constant(false) },
  ),
})
type Script = typeof script extends fc.Arbitrary<infer T> ? T : never

/**
 * Says one turn after the other, each when the client has said something or, if not patient, at once; then
 * closes.
 */
async function play(socket: Socket, { distortions, turnCount, result, patient }: Script) {
  let heard = 0
  socket.on('data', () => heard++)
  const turns = DIALOGUE.map(turn => [...turn])
  for (const { turn, reply, words, inPlace } of distortions)
    turns[turn]!.splice(reply, inPlace ? 1 : 0, words)
  for (const [i, turn] of turns.slice(0, turnCount).entries()) {
    for (let idle = 0; idle < (patient ? 200 : 1) && heard < i; idle++) await new Promise(setImmediate)
    if (!socket.writable) return
    socket.write(turn.join(''), 'latin1')
  }
  for (let idle = 0; idle < 4; idle++) await new Promise(setImmediate)
  if (result === 'end') socket.end()
  else if (result === 'destroy') socket.destroy()
  else socket.resetAndDestroy()
}

/** Sends three messages, one behind the other, and returns what became of each recipient. */
async function use(options: SessionOptions): Promise<string[]> {
  const opened = await openSession(options)
  if ('failure' in opened) {
    assert.type(opened.failure.message, 'string')
    return [`no session: ${opened.failure.phase}`]
  }
  const transactions = [mailTo(['a', 'b']), mailTo('c'), mailTo(['d', 'e', 'f'])]
  const results = await Promise.all(transactions.map(transaction => opened.send(transaction)))
  for (const [i, { recipients }] of results.entries())
    assert.is(recipients.length, transactions[i]!.recipients.length)
  await opened.quit()
  assert.is(opened.alive, false)
  return results.flatMap(({ recipients }) => recipients.map(({ kind, phase }) => `${kind} ${phase}`))
}

async function run(answerText: Script, tls: TlsOptions['mode']): Promise<string[]> {
  const peer = await startPeer(socket => void play(socket, answerText))
  try {
    return await use(optionsFor(peer, { tls }))
  } finally {
    await peer.close()
  }
}

test('the dialogue without distortion delivers', async () => {
  const answerText = { distortions: [], turnCount: DIALOGUE.length, result: 'end', patient: true } as const
  assert.equal(
    await run({ ...answerText, distortions: [] }, 'opportunistic'),
    Array(6).fill('accepted final-dot'),
  )
})

test('whatever a peer says, all answers are values, and every phase was reached', async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(script, fc.constantFrom('none', 'opportunistic'), async (answerText, tls) => {
      for (const outcome of await run(answerText, tls)) seen.add(outcome)
    }),
    { numRuns: 1500 },
  )
  for (const outcome of [
    'accepted final-dot',
    'refused final-dot',
    'failed final-dot',
    'refused rcpt',
    'failed data',
  ])
    assert.ok(seen.has(outcome), [...seen].join(', '))
})

test.run()
