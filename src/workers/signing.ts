/**
 * Entry of the signing worker, which makes DKIM signatures for one delivery thread.
 *
 * In: signing jobs, from the delivery worker. Out: signatures.
 */
import { workerData } from 'node:worker_threads'
import type { OnDemandWorkerData } from '../lib/on-demand-worker.ts'
import { serveCalls } from '../lib/worker-rpc.ts'
import { type SigningJob, signAll } from '../protocols/dkim/signer.ts'

const { calls } = workerData as OnDemandWorkerData

serveCalls(calls, { signAll: async (job: SigningJob) => signAll(job) })
