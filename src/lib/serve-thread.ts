/** Thread side of `on-demand-worker.ts`. Called by the entry file of the thread. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { type Callable, serveCalls } from './worker-rpc.ts'

/** Serves calls. From now on, the thread may be terminated: call it when native modules have been loaded. */
export function serveThread(functions: Callable): void {
  const { calls } = workerData as { calls: MessagePort }
  serveCalls(calls, functions)
  parentPort!.postMessage('ready')
}
