import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import * as assert from 'uvu/assert'
import { createWriterClient } from '../../../src/store/writer/client.ts'
import type { WriteRequest } from '../../../src/store/writer/protocol.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import type { ScriptedCommands } from './scripted-writer.ts'

const test = suite('store/writer-client')

/** A client, and the inputs of each post that has left it. */
function open(t: TestContext, lazyMs: Record<string, number> = {}) {
  const { port1, port2 } = new MessageChannel()
  const clock = createManualClock()
  const client = createWriterClient<ScriptedCommands>(port1, { clock, lazyMs })
  t.after(() => port2.close())
  const run = (name: 'append' | 'fail', input: string) => void client.run(name, input).catch(() => undefined)
  const posts = () => {
    const all: unknown[][] = []
    for (let next = receiveMessageOnPort(port2); next; next = receiveMessageOnPort(port2))
      all.push((next.message as WriteRequest[]).map(({ input }) => input))
    return all
  }
  return { client, clock, run, posts }
}

const turn = () => new Promise(setImmediate)

test('writer client: requests of one turn of the event loop are sent together', async t => {
  const { run, posts } = open(t)
  for (const input of ['a', 'b', 'c']) run('append', input)
  assert.equal(posts(), [])
  await turn()
  run('append', 'd')
  await turn()
  assert.equal(posts(), [['a', 'b', 'c'], ['d']])
})

test('writer client: many requests are sent in batches of eight', async t => {
  const { run, posts } = open(t)
  for (let i = 0; i < 18; i++) run('append', `${i}`)
  await turn()
  assert.equal(
    posts().map(({ length }) => length),
    [8, 8, 2],
  )
})

test('writer client: a delayable command is sent at once when few arrive', async t => {
  const { run, posts, clock } = open(t, { append: 20 })
  for (let i = 0; i < 40; i++) {
    run('append', `${i}`)
    await turn()
    assert.equal(posts(), [[`${i}`]])
    clock.advance(5)
  }
})

/** So many came at once that those that follow wait for company. */
async function makeBusy({ run, posts }: Pick<ReturnType<typeof open>, 'run' | 'posts'>) {
  for (let i = 0; i < 16; i++) run('append', 'busy')
  await turn()
  assert.is(posts().flat().length, 16)
}

test('writer client: under load, a delayable command waits and is sent with the next urgent one', async t => {
  const { run, posts, clock } = open(t, { append: 5 })
  await makeBusy({ run, posts })
  run('append', 'a')
  await turn()
  assert.equal(posts(), [])
  clock.advance(5)
  assert.equal(posts(), [['a']])
  run('append', 'b')
  run('fail', 'c')
  await turn()
  assert.equal(posts(), [['b', 'c']])
  clock.advance(5)
  assert.equal(posts(), [])
})

test('writer client: delayable commands are sent in batches of 32 without waiting', async t => {
  const { run, posts } = open(t, { append: 20 })
  await makeBusy({ run, posts })
  const inputs = Array.from({ length: 40 }, (_, i) => `${i}`)
  for (const input of inputs) run('append', input)
  assert.equal(posts(), [inputs.slice(0, 32)])
  run('fail', 'now')
  assert.equal(posts(), [[...inputs.slice(32), 'now']])
})

test('writer client: a request that cannot be cloned does not block the others', async t => {
  const { client, run, posts } = open(t)
  run('append', 'a')
  const unsendable = client.run('append', (() => 1) as unknown as string)
  run('append', 'b')
  await unsendable.then(
    () => assert.unreachable(),
    error => assert.match(error.message, /could not be cloned/),
  )
  assert.equal(posts().flat(), ['a', 'b'])
})

test('writer client: close sends waiting requests', async t => {
  const { client, run, posts } = open(t, { append: 5 })
  await makeBusy({ run, posts })
  run('append', 'a')
  client.close()
  assert.equal(posts(), [['a']])
})

test.run()
