/** Counts the round trips to a distant server: replies that the client must wait for before it continues. */
import type { Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../../../src/lib/clock.ts'
import { openSession } from '../../../../../src/pipeline/delivery/smtp-client/open.ts'
import type { SmtpSession } from '../../../../../src/pipeline/delivery/smtp-client/types.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { mailTo, optionsFor, short, startPeer } from './dial.ts'

const test = suite('SMTP client round trips')

interface Scene {
  session: SmtpSession
  /** Times at which the peer has spoken since it was asked last. */
  turns(): number
}

async function open(
  t: TestContext,
  extensions: readonly string[],
  { clock = systemClock, onMessage = () => {} } = {},
): Promise<Scene> {
  let count = 0
  const peer = await t.using(startPeer(socket => answer(socket, extensions, () => count++, onMessage)))
  const session = await openSession(optionsFor(peer, { clock }))
  if ('failure' in session) throw new Error(session.failure.message)
  t.after(() => session.destroy())
  return {
    session,
    turns() {
      const turns = count
      count = 0
      return turns
    },
  }
}

/** Answers all that has come at once. */
function answer(socket: Socket, extensions: readonly string[], onTurn: () => void, onMessage: () => void) {
  let input = ''
  let inData = false
  const next = (): string | undefined => {
    if (inData) {
      const end = input.indexOf('\r\n.\r\n')
      if (end < 0) return undefined
      inData = false
      input = input.slice(end + 5)
      onMessage()
      return '250 taken'
    }
    const line = /^.*(?=\r\n)/.exec(input)?.[0]
    if (line === undefined) return undefined
    const [verb] = line.split(' ')
    input = input.slice(line.length + 2)
    inData = verb === 'DATA'
    if (verb === 'EHLO')
      return ['250-mx.test', ...extensions.map(word => `250-${word}`), '250 HELP'].join('\r\n')
    return inData ? '354 go ahead' : '250 ok'
  }
  socket.setEncoding('latin1').on('data', (text: string) => {
    input += text
    let replies = ''
    for (let reply = next(); reply !== undefined; reply = next()) replies += `${reply}\r\n`
    if (replies === '') return
    onTurn()
    socket.write(replies)
  })
  socket.write('220 mx.test\r\n')
}

for (const [extensions, first, each] of [
  [[], 4, 4],
  [['PIPELINING'], 2, 2],
  [['CHUNKING'], 4, 4],
  [['PIPELINING', 'CHUNKING'], 2, 2],
] as const)
  test(`a session with ${extensions.join(' and ') || 'neither'} waits ${first} times for its first message, ${each} for each other`, async t => {
    const { session, turns } = await open(t, extensions)
    assert.is(turns(), 1, 'EHLO')
    for (let i = 0; i < 3; i++) {
      assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
      assert.is(turns(), i === 0 ? first : each)
    }
  })

test('pipelined messages share round trips', async t => {
  const { session, turns } = await open(t, ['PIPELINING'])
  turns()
  const sent = await Promise.all([1, 2, 3].map(() => session.send(mailTo('ok'))))
  assert.equal(sent.flatMap(short), ['accepted 250', 'accepted 250', 'accepted 250'])
  assert.is(turns(), 4)
})

/** Sends so many, each as soon as the one before may be followed, or has ended. @returns how many followed */
async function inLine(session: SmtpSession, count: number): Promise<number> {
  let followed = 0
  const results = []
  for (let i = 0; i < count; i++) {
    const followable = Promise.withResolvers<boolean>()
    const result = session.send(mailTo('ok'), () => followable.resolve(true))
    results.push(result)
    if (await Promise.race([followable.promise, result.then(() => false)])) followed++
  }
  assert.equal((await Promise.all(results)).flatMap(short), new Array(count).fill('accepted 250'))
  return followed
}

test('with pipelining, each message after the first costs one round trip', async t => {
  const { session, turns } = await open(t, ['PIPELINING'])
  assert.is(turns(), 1, 'EHLO')
  assert.is(await inLine(session, 11), 10)
  assert.is(turns(), 2 + 11)
})

test('without PIPELINING no message is followed by another', async t => {
  const { session } = await open(t, [])
  assert.is(await inLine(session, 5), 0)
})

test('a peer that needs more than 500 ms to accept a message is not followed until it is faster', async t => {
  const clock = { ...systemClock, monotonic: () => now }
  let now = 0
  const thinkingMs = [0, 500, 501, 500, 0]
  const onMessage = () => {
    now += thinkingMs.shift() ?? 0
  }
  const { session } = await open(t, ['PIPELINING'], { clock, onMessage })
  const followable: boolean[] = []
  for (let i = 0; i < 5; i++) {
    let isFollowable = false
    await session.send(mailTo('ok'), () => {
      isFollowable = true
    })
    followable.push(isFollowable)
  }
  assert.equal(followable, [false, true, true, false, true])
})

test.run()
