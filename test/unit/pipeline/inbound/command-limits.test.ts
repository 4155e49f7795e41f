import * as assert from 'uvu/assert'
import { FairTurns } from '../../../../src/lib/fair-turns.ts'
import { endAfterCommands, endAfterErrors } from '../../../../src/pipeline/inbound/command-limits.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/command-limits')
const NOOP = Buffer.from('NOOP')

/** Connection whose commands are carried out at once, as smtp-server does with NOOP. */
function openConnection(turns: FairTurns, network: string, onCommand: () => void) {
  const replies: string[] = []
  const connection = {
    send: (code: number, text: string | string[]) => void replies.push(`${code} ${text}`),
    _onCommand(_: Buffer, done?: () => void) {
      onCommand()
      done?.()
    },
  }
  const onMessage = endAfterCommands(connection, network, turns)
  endAfterErrors(connection)
  /** Pipelines commands; resolves when all have been carried out or the connection was refused. */
  const pipeline = (count: number) =>
    new Promise<void>(resolve => {
      const next = (left: number) => {
        if (left === 0) return resolve()
        const before = replies.length
        connection._onCommand(NOOP, () => next(left - 1))
        if (replies.length > before) resolve()
      }
      next(count)
    })
  return { connection, replies, pipeline, onMessage }
}

test('command limits: a client waits for one turn of another network, however many connections it has', async () => {
  for (const hostileCount of [10, 100, 300]) {
    const turns = new FairTurns()
    let hostile = 0
    const flood = Array.from({ length: hostileCount }, () =>
      openConnection(turns, '192.0.2.0/24', () => hostile++).pipeline(400),
    )
    let carriedOut = 0
    const client = openConnection(turns, '198.51.100.0/24', () => carriedOut++)
    const atStart = hostile
    await client.pipeline(30)
    assert.is(carriedOut, 30)
    assert.ok(hostile - atStart <= 80, `${hostile - atStart} commands of others among ${hostileCount}`)
    await Promise.all(flood)
    assert.is(hostile, 400 * hostileCount)
  }
})

test('command limits: many commands without a message end the connection, and a message begins the count anew', async () => {
  const { replies, pipeline, onMessage } = openConnection(new FairTurns(), '192.0.2.0/24', () => {})
  await pipeline(900)
  onMessage()
  await pipeline(1_000)
  assert.equal(replies, [])
  await pipeline(1)
  assert.equal(replies, ['421 4.7.0 Too many commands without a message'])
})

test('command limits: the twentieth permanent error ends the connection', () => {
  const { connection, replies } = openConnection(new FairTurns(), '192.0.2.0/24', () => {})
  for (let i = 0; i < 19; i++) connection.send(550, '5.1.1 No such user')
  connection.send(450, '4.2.1 Try again later')
  assert.is(replies.length, 20)
  connection.send(500, '5.5.2 Error')
  assert.is(replies.at(-1), '421 4.7.0 Too many errors')
})

test.run()
