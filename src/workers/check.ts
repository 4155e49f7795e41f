/** Entry of the worker thread that checks the pages of the database after the service was killed. */
import { workerData } from 'node:worker_threads'
import type { OnDemandWorkerData } from '../lib/on-demand-worker.ts'
import { serveCalls } from '../lib/worker-rpc.ts'
import { faultInPages, type StoreLocation } from '../store/opening/dialect.ts'

const { calls } = workerData as OnDemandWorkerData

serveCalls(calls, { check: async (location: StoreLocation) => faultInPages(location) })
