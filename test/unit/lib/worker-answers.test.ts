import { MessageChannel } from 'node:worker_threads'
import * as assert from 'uvu/assert'
import { createCaller, serveCalls } from '../../../src/lib/worker-rpc.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/worker-rpc')

/** Outputs that the structured clone algorithm refuses. */
const UNCLONEABLE: [string, unknown][] = [
  ['a function', () => {}],
  ['an object with a method', { method() {} }],
  ['a symbol', Symbol('s')],
  ['a promise', Promise.resolve()],
]

for (const [what, output] of UNCLONEABLE)
  test(`an answer that cannot be copied (${what}) is an error of its call, and the next call is answered`, async t => {
    const { port1, port2 } = new MessageChannel()
    t.after(() => port1.close())
    serveCalls(port2, { odd: async () => ({ output }), good: async (input: number) => input + 1 })
    const caller = createCaller(port1)
    await caller.call('odd', null).then(
      () => assert.unreachable('it was answered'),
      error => assert.is(error.name, 'DataCloneError'),
    )
    assert.is(await caller.call('good', 1), 2)
    assert.is(caller.pendingCount(), 0)
  })

test.run()
