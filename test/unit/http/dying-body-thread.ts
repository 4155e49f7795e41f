/** A body thread that dies of its first question, and asks nobody. */
import { parentPort, workerData } from 'node:worker_threads'
import type { BodyThreadData } from '../../../src/http/large-body-job.ts'

const { calls } = workerData as BodyThreadData
calls.once('message', () => {
  throw new Error('this was too much')
})
parentPort!.unref()
