import { once } from 'node:events'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import * as assert from 'uvu/assert'
import type { GroupReport, WriteRequest } from '../../../src/store/writer/protocol.ts'
import { type ServedStore, serveWriter } from '../../../src/store/writer/serve.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('store/serve')

/** A store that answers each request with its input, and holds its first group until it is let go. */
function slowStore() {
  const groups: unknown[][] = []
  const gate = Promise.withResolvers<void>()
  const began = Promise.withResolvers<void>()
  const store: ServedStore = {
    async run(requests) {
      groups.push(requests.map(({ input }) => input))
      began.resolve()
      await gate.promise
      const replies = requests.map(({ seq, input }) => ({ seq, ok: true as const, output: input }))
      const loud = requests.some(({ name }) => name === 'announce')
      return { replies, announcements: loud ? [{ topic: 'news', payloads: ['something'] }] : [] }
    },
    weigh: ({ input }) => (typeof input === 'object' ? (input as { weight: number }).weight : 1),
    groupsAtOnce: 1,
    checkpoint() {},
    tidy: () => false,
  }
  return { store, groups, began: began.promise, go: gate.resolve }
}

function connected(t: TestContext, loop: ReturnType<typeof serveWriter>): MessagePort {
  const { port1, port2 } = new MessageChannel()
  loop.connect(port1)
  t.after(() => port2.close())
  return port2
}

function ask(port: MessagePort, ...inputs: unknown[]) {
  for (const input of inputs)
    port.postMessage([
      { seq: 1, name: input === 'loud' ? 'announce' : 'echo', input },
    ] satisfies WriteRequest[])
}

async function nextReport(port: MessagePort): Promise<GroupReport> {
  const [report] = await once(port, 'message')
  return report
}

function outputs({ replies }: GroupReport): unknown[] {
  return replies.map(reply => (reply.ok ? reply.output : 'failed'))
}

test('writer loop: requests that arrive during a commit form the next group', async t => {
  const { store, groups, began, go } = slowStore()
  const loop = serveWriter(store)
  const [a, b] = [connected(t, loop), connected(t, loop)]
  ask(a, 'first')
  await began
  ask(a, 'a1', 'a2')
  ask(b, 'b1')
  const reportsOfA = once(a, 'message').then(() => nextReport(a))
  go()
  assert.equal(outputs(await nextReport(b)), ['b1'])
  assert.equal(outputs(await reportsOfA), ['a1', 'a2'])
  assert.equal(groups, [['first'], ['a1', 'b1', 'a2']])
  await loop.end()
})

test('writer loop: a group has at most 1,000 requests', async t => {
  const { store, groups, began, go } = slowStore()
  const loop = serveWriter(store)
  const [a, b] = [connected(t, loop), connected(t, loop)]
  ask(a, 'first')
  await began
  ask(a, ...Array.from({ length: 1_500 }, (_, i) => i))
  ask(b, ...Array.from({ length: 700 }, (_, i) => i))
  go()
  await loop.end()
  assert.equal(
    groups.map(group => group.length),
    [1, 1_000, 1_000, 200],
  )
})

test('writer loop: heavy requests form smaller groups, and one beyond the limit runs alone', async t => {
  const { store, groups, began, go } = slowStore()
  const loop = serveWriter(store)
  const port = connected(t, loop)
  ask(port, 'first')
  await began
  const heavy = (weight: number) => ({ weight })
  ask(port, heavy(600), 'light', heavy(399), heavy(400), heavy(5_000), heavy(700), 'last')
  go()
  await loop.end()
  assert.equal(groups.slice(1), [
    [heavy(600), 'light', heavy(399)],
    [heavy(400)],
    [heavy(5_000)],
    [heavy(700), 'last'],
  ])
})

test('writer loop: a client with many requests does not block the others', async t => {
  const { store, groups, began, go } = slowStore()
  const loop = serveWriter(store)
  const [greedy, modest] = [connected(t, loop), connected(t, loop)]
  ask(greedy, 'first')
  await began
  ask(greedy, ...Array.from({ length: 50 }, (_, i) => ({ weight: 400, i })))
  ask(modest, 'a', 'b', 'c')
  go()
  await loop.end()
  const places = ['a', 'b', 'c'].map(name => groups.findIndex(group => group.includes(name)))
  assert.ok(Math.max(...places) <= 4, `they were heard in groups ${places} of ${groups.length}`)
})

test('writer loop: announcements reach all clients, replies only their clients', async t => {
  const { store, go } = slowStore()
  const loop = serveWriter(store)
  const [a, b] = [connected(t, loop), connected(t, loop)]
  const reports = Promise.all([nextReport(a), nextReport(b)])
  ask(a, 'loud')
  go()
  const [ofA, ofB] = await reports
  assert.equal([outputs(ofA), outputs(ofB)], [['loud'], []])
  assert.equal([ofA.announcements, ofB.announcements].flat(), [
    { topic: 'news', payloads: ['something'] },
    { topic: 'news', payloads: ['something'] },
  ])
  await loop.end()
})

test('writer loop: a disconnected client does not affect the others', async t => {
  const { store, began, go } = slowStore()
  const loop = serveWriter(store)
  const [a, b] = [connected(t, loop), connected(t, loop)]
  ask(a, 'from a')
  await began
  a.close()
  ask(b, 'from b')
  go()
  assert.equal(outputs(await nextReport(b)), ['from b'])
  await loop.end()
})

test('writer loop: end answers waiting requests, then disconnects all clients', async t => {
  const { store, go } = slowStore()
  const loop = serveWriter(store)
  const port = connected(t, loop)
  ask(port, 'a', 'b', 'c')
  const report = nextReport(port)
  const closed = once(port, 'close')
  go()
  await loop.end()
  assert.equal(outputs(await report), ['a', 'b', 'c'])
  await closed
})

test('writer loop: a checkpoint runs when no request waits', async t => {
  const { store, go } = slowStore()
  const moved = Promise.withResolvers<void>()
  const loop = serveWriter({ ...store, checkpoint: moved.resolve })
  const port = connected(t, loop)
  ask(port, 'a')
  go()
  await moved.promise
  await loop.end()
})

test('writer loop: maintenance runs in small steps while idle until nothing is left', async t => {
  const { store, go } = slowStore()
  const done: string[] = []
  const finished = Promise.withResolvers<void>()
  let left = 3
  const loop = serveWriter({
    ...store,
    checkpoint: () => void done.push('checkpoint'),
    tidy() {
      done.push(`${left} left`)
      if (left === 0) finished.resolve()
      return left-- > 0
    },
  })
  const port = connected(t, loop)
  ask(port, 'a')
  go()
  await finished.promise
  const round = (count: number) => ['checkpoint', `${count} left`]
  assert.equal(done, [3, 2, 1, 0].flatMap(round))
  await loop.end()
})

test('writer loop: without idle time, a checkpoint runs after a weight of 8,000', async t => {
  const { store, groups, began, go } = slowStore()
  const movedAfter: number[] = []
  const loop = serveWriter({ ...store, checkpoint: () => movedAfter.push(groups.flat().length) })
  const port = connected(t, loop)
  ask(port, 'first')
  await began
  ask(port, ...Array.from({ length: 20_000 }, (_, i) => i))
  go()
  await loop.end()
  assert.equal(movedAfter, [8_001, 16_001])
})

test.run()
