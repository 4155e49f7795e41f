/**
 * A thread that does what its `workerData.does` says: is ready and waits, loads until it is told that it
 * has, fails at once, or ends by itself.
 */
import { parentPort, workerData } from 'node:worker_threads'

const { does, start } = workerData as { does: string; start: number }
if (does === 'fails') throw new Error('the disk is gone')
parentPort!.on('message', message => {
  if (message === 'loaded') parentPort!.postMessage({ start })
  if (message === 'die') throw new Error('the disk is gone')
  if (message === 'exit') process.exit(3)
  if (message === 'stop' && does !== 'hangs') parentPort!.close()
})
if (does !== 'loads') parentPort!.postMessage({ start })
