/** Stands in for the thread that reads mail: tells on its channel that it was started, and never answers. */
import { BroadcastChannel } from 'node:worker_threads'
import { serveThread } from '../../../../src/lib/serve-thread.ts'

serveThread({ read: () => new Promise(() => {}) })
new BroadcastChannel('hanging-reader').postMessage('started')
