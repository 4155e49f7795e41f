import * as assert from 'uvu/assert'
import { createMetrics } from '../../../src/lib/metrics.ts'
import { JobTooLong, type ReaderPool } from '../../../src/lib/reader-pool.ts'
import { ProcessDied, ProcessKilled, ProcessNotStarted } from '../../../src/lib/worker-process.ts'
import { WorkerEnded } from '../../../src/lib/worker-rpc.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { openReaders } from '../../kit/readers.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('lib/reader-pool')
const entry = new URL('./scripted-reader.ts', import.meta.url)
const MIB = 1024 * 1024

const job = (name: string, input: unknown = null, { owner = 'ann', sizeBytes = 1 } = {}) => ({
  name,
  owner,
  sizeBytes,
  load: async () => input,
})

const failure = (run: Promise<unknown>) =>
  run.then(
    () => assert.unreachable(),
    (error: unknown) => error,
  )

test('reader pool: a job that fills the heap ends its process and no other job', async t => {
  const metrics = createMetrics()
  const readers = await t.using(openReaders({ entry, heapMib: 64, metrics }))
  const ends = await Promise.all([1, 2, 3].map(() => failure(readers.run(job('fillHeapInBuiltin')))))
  for (const end of ends) {
    assert.instance(end, ProcessDied)
    assert.not.instance(end, ProcessKilled)
  }
  assert.is(await readers.run(job('echo', 'hello')), 'hello')
  assert.match(metrics.text(), /^mailhorn_reader_processes_lost_total\{process="reader"\} 3$/m)
})

test('reader pool: a process that ends fails its job alone', async t => {
  const readers = await t.using(openReaders({ entry }))
  assert.instance(await failure(readers.run(job('exit'))), ProcessDied)
  assert.is(await readers.run(job('echo', 1)), 1)
})

test('reader pool: a job whose process is killed from outside is told so, because it may succeed later', async t => {
  const readers = await t.using(openReaders({ entry }))
  assert.instance(await failure(readers.run(job('kill'))), ProcessKilled)
  assert.is(await readers.run(job('echo', 1)), 1)
})

test('reader pool: an error of the function is passed with its message', async t => {
  const readers = await t.using(openReaders({ entry }))
  assert.is(((await failure(readers.run(job('fail', 'no such thing')))) as Error).message, 'no such thing')
})

test('reader pool: a function takes the pieces of its own job, in their order', async t => {
  const readers = await t.using(openReaders({ entry }))
  const letters = [...'abcdefgh'].map(letter => letter.repeat(MIB / 2))
  const pieces = letters.map(text => Buffer.from(text))
  // pieces that no function takes do not reach the next job of the process
  assert.is(await readers.run({ ...job('echo', 1), pieces }), 1)
  const found = await readers.run({ ...job('joined', 'facts'), pieces })
  assert.equal(found, { input: 'facts', text: letters.join('') })
  assert.equal(await readers.run({ ...job('joined'), pieces: [Buffer.from('x')] }), {
    input: null,
    text: 'x',
  })
})

test('reader pool: a job is not started when no process can be', async t => {
  const missing = new URL('./no-such-file.ts', import.meta.url)
  const readers = await t.using(openReaders({ entry: missing }))
  assert.instance(await failure(readers.run(job('echo'))), ProcessNotStarted)
})

test('reader pool: a job that takes too long ends with its process, and another process takes the next', async t => {
  const clock = createManualClock()
  const readers = await t.using(openReaders({ entry, clock }))
  const stuck = failure(readers.run(job('loop')))
  await until(() => clock.timerCount === 1 || undefined)
  clock.advance(20_000)
  assert.instance(await stuck, JobTooLong)
  assert.is(await readers.run(job('echo', 2)), 2)
})

test('reader pool: bytes are passed unchanged in both directions', async t => {
  const readers = await t.using(openReaders({ entry }))
  const bytes = Buffer.from(Uint8Array.from({ length: 3 * MIB }, (_, i) => i))
  const back = (await readers.run(job('echo', { pieces: [bytes, bytes.subarray(1, 5)] }))) as {
    pieces: Uint8Array[]
  }
  assert.ok(bytes.equals(back.pieces[0]!))
  assert.equal([...back.pieces[1]!], [1, 2, 3, 4])
})

/** Jobs that end when they are told to, with the order in which they began. */
function heldJobs(readers: ReaderPool) {
  const began: string[] = []
  const ends = new Map<string, () => void>()
  const hold = (label: string, owner: string, sizeBytes: number) => {
    const { promise, resolve } = Promise.withResolvers<null>()
    ends.set(label, () => resolve(null))
    const load = () => {
      began.push(label)
      return promise
    }
    return readers.run({ name: 'echo', owner, sizeBytes, load })
  }
  const end = async (label: string, count: number) => {
    ends.get(label)!()
    await until(() => began.length === count || undefined)
  }
  /** Ends all readings; those that have not begun end when they begin. */
  const endAll = () => {
    for (const resolve of ends.values()) resolve()
  }
  return { began, hold, end, endAll }
}

test('reader pool: large jobs leave one process to small ones, and owners take turns', async t => {
  const readers = await t.using(openReaders({ entry }))
  const { began, hold, end, endAll } = heldJobs(readers)
  const all = [
    hold('ann 1', 'ann', 50 * MIB),
    hold('ann 2', 'ann', 50 * MIB),
    hold('ann 3', 'ann', 50 * MIB),
    hold('bob large', 'bob', 40 * MIB),
    hold('cat small', 'cat', 10),
  ]
  await until(() => began.length === 2 || undefined)
  // Each begins when its process has started, whichever is first.
  assert.equal(began.toSorted(), ['ann 1', 'cat small'])
  await end('ann 1', 3)
  assert.is(began[2], 'bob large', 'another owner comes before the second job of the first')
  endAll()
  await Promise.all(all)
})

test('reader pool: small jobs of other owners are served first', async t => {
  const readers = await t.using(openReaders({ entry }))
  const { began, hold, end, endAll } = heldJobs(readers)
  const all = [hold('first', 'ann', MIB), hold('second', 'ann', MIB)]
  await until(() => began.length === 2 || undefined)
  for (let i = 0; i < 20; i++) all.push(hold(`ann ${i}`, 'ann', MIB))
  all.push(hold('bob', 'bob', 1_000))
  await end('first', 3)
  assert.is(began[2], 'bob')
  endAll()
  await Promise.all(all)
})

test('reader pool: a closed pool starts no job and ends those in progress', async () => {
  const readers = openReaders({ entry })
  const stuck = failure(readers.run(job('loop')))
  await readers.run(job('echo', 1))
  await readers.close()
  assert.instance(await stuck, WorkerEnded)
  assert.instance(await failure(readers.run(job('echo', 1))), WorkerEnded)
})

test.run()
