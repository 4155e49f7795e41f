/** Entry of the thread that signs for a delivery thread. */
import { workerData } from 'node:worker_threads'
import { type SigningJob, signAll } from './dkim/signer.ts'
import { serveCalls } from './lib/calls.ts'
import type { PassingThreadData } from './lib/passing-thread.ts'

const { calls } = workerData as PassingThreadData

serveCalls(calls, { signAll: async (job: SigningJob) => signAll(job) })
