import { closeSync, openSync, writeSync } from 'node:fs'
import { setEnvironmentData, Worker } from 'node:worker_threads'
import * as assert from 'uvu/assert'
import { createLog } from '../../../src/lib/log.ts'
import {
  createLogOutput,
  droppedLogLines,
  newDropCounts,
  type WriteBytes,
} from '../../../src/lib/log-output.ts'
import { createProcessMetrics } from '../../../src/lib/metrics.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('lib/log-output')

/** An output that takes bytes until it is told to fail. */
function scriptedOutput() {
  let taken = ''
  let fault: string | undefined
  let maxBytes = Number.POSITIVE_INFINITY
  const pauses: number[] = []
  const writeBytes: WriteBytes = (bytes, offset) => {
    if (fault !== undefined && maxBytes <= 0) throw Object.assign(new Error(fault), { code: fault })
    const piece = bytes.subarray(offset, offset + (fault === undefined ? bytes.length : maxBytes))
    if (fault !== undefined) maxBytes -= piece.length
    taken += Buffer.from(piece).toString()
    return piece.length
  }
  return {
    writeBytes,
    pauses,
    pause: (ms: number) => void pauses.push(ms),
    get taken() {
      return taken
    },
    get lines() {
      return taken.split('\n').slice(0, -1)
    },
    /** After so many more bytes every write fails. */
    failWith(code: string, afterBytes = 0) {
      fault = code
      maxBytes = afterBytes
    },
    recover() {
      fault = undefined
    },
  }
}

for (const code of ['ENOSPC', 'EIO', 'EPIPE', 'EAGAIN', 'EBADF', 'EFBIG'])
  test(`${code}: lines are dropped and counted, and the first that is written again follows a line with their number`, () => {
    const output = scriptedOutput()
    const counts = newDropCounts()
    const log = createLog('info', createLogOutput({ ...output, counts }))
    log.info('before')
    output.failWith(code)
    for (let i = 0; i < 3; i++) log.info('lost')
    assert.is(droppedLogLines(counts), 3)
    output.recover()
    log.info('after')
    log.info('and on')
    const lines = output.lines.map(line => JSON.parse(line))
    assert.equal(
      lines.map(({ msg }) => msg),
      ['before', '3 log lines could not be written and are missing here', 'after', 'and on'],
    )
    assert.equal([lines[1].level, lines[1].event, lines[1].count], ['warn', 'log_lines_dropped', 3])
    assert.is(droppedLogLines(counts), 3)
  })

test('a line of which only the beginning was written is ended before the next one', () => {
  const output = scriptedOutput()
  const { write } = createLogOutput({ ...output, counts: newDropCounts() })
  output.failWith('ENOSPC', 3)
  assert.is(write('first line\n'), false)
  output.recover()
  assert.is(write('second line\n'), true)
  assert.is(output.lines[0], 'fir')
  assert.is(JSON.parse(output.lines[1]!).count, 1)
  assert.is(output.lines[2], 'second line')
})

test('short writes are continued', () => {
  const taken: string[] = []
  const { write } = createLogOutput({
    counts: newDropCounts(),
    writeBytes(bytes, offset) {
      taken.push(String.fromCharCode(bytes[offset]!))
      return 1
    },
  })
  assert.ok(write('a line\n'))
  assert.is(taken.join(''), 'a line\n')
})

test('log output: an output that writes nothing without an error blocks no caller', () => {
  const counts = newDropCounts()
  const { write } = createLogOutput({ counts, writeBytes: () => 0 })
  assert.is(write('a line\n'), false)
  assert.is(droppedLogLines(counts), 1)
})

test('a full pipe is waited for, but not once lines are being dropped', () => {
  const output = scriptedOutput()
  const { write } = createLogOutput({ ...output, counts: newDropCounts() })
  output.failWith('EAGAIN')
  write('one\n')
  const pausesOfFirst = output.pauses.length
  assert.ok(pausesOfFirst > 0)
  write('two\n')
  write('three\n')
  assert.is(output.pauses.length, pausesOfFirst)
})

test('a full pipe that is read in time loses nothing', () => {
  const output = scriptedOutput()
  const counts = newDropCounts()
  output.failWith('EAGAIN', 5)
  const { write } = createLogOutput({ ...output, counts, pause: output.recover })
  assert.ok(write('a whole line\n'))
  assert.equal([output.taken, droppedLogLines(counts)], ['a whole line\n', 0])
})

test('log output: the line with the number of missing lines is not repeated when the next line fails', () => {
  const output = scriptedOutput()
  const { write } = createLogOutput({ ...output, counts: newDropCounts() })
  output.failWith('ENOSPC')
  write('lost\n')
  output.failWith('ENOSPC', 150)
  write(`${'x'.repeat(200)}\n`)
  output.recover()
  write('after\n')
  const reports = output.lines.filter(line => line.startsWith('{')).map(line => JSON.parse(line).count)
  assert.equal(reports, [1, 1])
})

test('a full device does not throw', t => {
  const full = openSync('/dev/full', 'w')
  t.after(() => closeSync(full))
  const counts = newDropCounts()
  const log = createLog(
    'info',
    createLogOutput({ counts, writeBytes: (bytes, offset) => writeSync(full, bytes, offset) }),
  )
  log.fatal('lost')
  assert.is(droppedLogLines(counts), 1)
})

/** Drops a line in a thread of its own, over the counts of the process. */
async function dropInThread(t: TestContext) {
  const module = new URL('../../../src/lib/log-output.ts', import.meta.url).href
  const fail = '() => { throw Object.assign(new Error("no"), { code: "ENOSPC" }) }'
  const worker = new Worker(
    `import(${JSON.stringify(module)}).then(({ createLogOutput }) => createLogOutput({ writeBytes: ${fail} }).write('x\\n'))`,
    { eval: true },
  )
  t.after(() => worker.terminate())
  await new Promise((resolve, reject) => worker.once('exit', resolve).once('error', reject))
}

test('log output: lines dropped by any thread are counted for the process', async t => {
  t.after(() => setEnvironmentData('mailhorn.log-output', undefined))
  setEnvironmentData('mailhorn.log-output', newDropCounts())
  const metrics = createProcessMetrics()
  assert.match(metrics.text(), /^mailhorn_log_lines_dropped_total 0$/m)
  await dropInThread(t)
  assert.match(metrics.text(), /^# TYPE mailhorn_log_lines_dropped_total counter$/m)
  assert.match(metrics.text(), /^mailhorn_log_lines_dropped_total 1$/m)
})

test.run()
