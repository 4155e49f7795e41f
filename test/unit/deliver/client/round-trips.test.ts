/** What a distant peer makes us wait for: how often it speaks, and we cannot go on before. */
import type { Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { openSession } from '../../../../src/deliver/client/open.ts'
import type { Session } from '../../../../src/deliver/client/types.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { mailTo, optionsFor, short, startPeer } from './dial.ts'

const test = suite('deliver/client/round-trips')

interface Scene {
  session: Session
  /** Times at which the peer has spoken since it was asked last. */
  turns(): number
}

async function open(t: TestContext, extensions: readonly string[]): Promise<Scene> {
  let count = 0
  const peer = await t.using(startPeer(socket => answer(socket, extensions, () => count++)))
  const session = await openSession(optionsFor(peer))
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
function answer(socket: Socket, extensions: readonly string[], onTurn: () => void) {
  let input = ''
  let inData = false
  const next = (): string | undefined => {
    if (inData) {
      const end = input.indexOf('\r\n.\r\n')
      if (end < 0) return undefined
      inData = false
      input = input.slice(end + 5)
      return '250 taken'
    }
    const line = /^.*(?=\r\n)/.exec(input)?.[0]
    if (line === undefined) return undefined
    const [verb, bytes] = line.split(' ')
    const end = line.length + 2 + (verb === 'BDAT' ? Number(bytes) : 0)
    if (input.length < end) return undefined
    input = input.slice(end)
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

for (const [extensions, each] of [
  [[], 4],
  [['PIPELINING'], 2],
  [['PIPELINING', 'CHUNKING'], 1],
] as const)
  test(`a session with ${extensions.join(' and ') || 'neither'} waits ${each} times for each message`, async t => {
    const { session, turns } = await open(t, extensions)
    assert.is(turns(), 1, 'EHLO')
    for (let i = 0; i < 3; i++) {
      assert.equal(short(await session.send(mailTo('ok'))), ['accepted 250'])
      assert.is(turns(), each)
    }
  })

test('messages that wait for each other share the turns between them', async t => {
  const { session, turns } = await open(t, ['PIPELINING'])
  turns()
  const sent = await Promise.all([1, 2, 3].map(() => session.send(mailTo('ok'))))
  assert.equal(sent.flatMap(short), ['accepted 250', 'accepted 250', 'accepted 250'])
  assert.is(turns(), 4)
})

test.run()
