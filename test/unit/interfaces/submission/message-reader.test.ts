import * as assert from 'uvu/assert'
import { createMessageReader } from '../../../../src/interfaces/submission/message-reader.ts'
import type { ReadingJob } from '../../../../src/interfaces/submission/reading-job.ts'
import { createIdSource } from '../../../../src/lib/ids.ts'
import { createLog } from '../../../../src/lib/log.ts'
import { JobTooLong, type ReaderJob } from '../../../../src/lib/reader-pool.ts'
import { ProcessDied, ProcessKilled, ProcessNotStarted } from '../../../../src/lib/worker-process.ts'
import { WorkerEnded } from '../../../../src/lib/worker-rpc.ts'
import { StorageUnavailable } from '../../../../src/store/model/command.ts'
import { newId } from '../../../kit/mail.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('submission/message-reader')
const REFUSED = { refused: 'invalid_from', message: 'no' } as const

/** Reads one message; each answer is a value or an error, in the order in which the processes are asked. */
async function setUp(answers: readonly unknown[]) {
  const jobs: ReadingJob[] = []
  const requests: ReaderJob[] = []
  const left = [...answers]
  const reader = createMessageReader({
    readers: {
      async run(job) {
        requests.push(job)
        jobs.push((await job.load()) as ReadingJob)
        const answer = left.shift()
        if (answer instanceof Error) throw answer
        return answer
      },
    },
    ...{ clock: createManualClock(), newId: createIdSource(), hidesOrigin: false, log: createLog('silent') },
    mailHost: 'mail.here.example',
  })
  const result = await reader
    .read({ accountId: newId(1) }, [new Uint8Array(3), new Uint8Array(4)], {
      recipients: [],
      dsn: null,
      client: { helo: 'laptop', address: '192.0.2.9' },
      protocol: 'ESMTPSA',
    })
    .catch((error: unknown) => error)
  return { result, requests, inParts: jobs.map(({ inParts }) => inParts) }
}

test('a message is read once, for its account and by its size', async () => {
  const { result, requests, inParts } = await setUp([REFUSED])
  assert.equal(result, REFUSED)
  assert.equal(inParts, [true])
  assert.is(requests[0]!.sizeBytes, 7)
})

for (const fault of [
  new ProcessDied(),
  new JobTooLong(),
  new RangeError('Maximum call stack size exceeded'),
]) {
  test(`a message that cannot be taken apart (${fault.constructor.name}) is read without that`, async () => {
    const { result, inParts } = await setUp([fault, REFUSED])
    assert.equal(result, REFUSED)
    assert.equal(inParts, [true, false])
  })

  test(`a message that cannot be read either way (${fault.constructor.name}) is refused for good`, async () => {
    const { result } = await setUp([fault, fault])
    assert.is((result as { refused: string }).refused, 'invalid_field')
  })
}

for (const fault of [new ProcessNotStarted(), new WorkerEnded()])
  test(`where the machine is at fault (${fault.constructor.name}) the client may try again`, async () => {
    const { result, inParts } = await setUp([fault])
    assert.is(result, fault)
    assert.equal(inParts, [true])
  })

test('a message whose reader is killed twice, as when memory runs out, may be sent again', async () => {
  const { result, inParts } = await setUp([new ProcessKilled(), new ProcessKilled()])
  assert.instance(result, ProcessKilled)
  assert.equal(inParts, [true, false])
})

test('a store that takes nothing at the moment is told as such', async () => {
  const { result } = await setUp([{ unavailable: 'disk full' }])
  assert.instance(result, StorageUnavailable)
})

test.run()
