import { Worker } from 'node:worker_threads'
import * as assert from 'uvu/assert'
import { LogTail, newLogTail } from '../../../src/lib/log-tail.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/log-tail')

test('log tail: the newest lines are kept, whole and in their order, within the memory', () => {
  const tail = newLogTail(100)
  assert.equal(tail.lines(), [])
  for (let i = 0; i < 1_000; i++) {
    tail.append(`{"line":${i},"text":"ä"}\n`)
    const lines = tail.lines().map(line => JSON.parse(line).line)
    assert.ok(lines.length >= Math.min(i + 1, 3), `${i}: ${lines}`)
    assert.equal(
      lines,
      Array.from(lines, (_, at) => i - lines.length + 1 + at),
    )
  }
  assert.is(tail.memory.byteLength, 108)
})

test('log tail: a line that would take more than half of the memory is not kept, and the others stay', () => {
  const tail = newLogTail(100)
  tail.append('short\n')
  tail.append(`${'x'.repeat(60)}\n`)
  assert.equal(tail.lines(), ['short'])
})

test('log tail: threads write to the same memory', async () => {
  const tail = newLogTail()
  const file = new URL('../../../src/lib/log-tail.ts', import.meta.url).href
  const worker = new Worker(
    `const { workerData } = require('node:worker_threads')
     import(${JSON.stringify(file)}).then(({ LogTail }) => {
       const tail = new LogTail(workerData)
       for (let i = 0; i < 500; i++) tail.append('{"thread":true}\\n')
     })`,
    { eval: true, workerData: tail.memory },
  )
  for (let i = 0; i < 500; i++) tail.append('{"thread":false}\n')
  await new Promise(resolve => worker.once('exit', resolve))
  const lines = new LogTail(tail.memory).lines().map(line => JSON.parse(line).thread)
  assert.equal([lines.length, lines.filter(Boolean).length], [1_000, 500])
})

test.run()
