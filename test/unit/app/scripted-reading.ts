/**
 * Entry of a thread that stands for the reading thread: it answers, keeps silent, or dies, as a question's
 * `status` says.
 */
import { parentPort, threadId, workerData } from 'node:worker_threads'
import { serveCalls } from '../../../src/lib/worker-rpc.ts'
import type { ReadingThreadData } from '../../../src/workers/query.ts'

const { calls, writer } = workerData as ReadingThreadData

serveCalls(calls, {
  async listEmails({ filter }: { filter: { status?: string } }) {
    if (filter.status === 'failed') setImmediate(() => fail())
    if (filter.status !== undefined) await new Promise(() => {})
    return { total: threadId, hasMore: false, emails: [] }
  },
})
parentPort!.once('message', () => {
  calls.close()
  writer.close()
})
parentPort!.postMessage('ready')

function fail() {
  throw new Error('the disk is gone')
}
