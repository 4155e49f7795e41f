/** Stands in for the thread that reads mail: tells on its channel that it was started, and never answers. */
import { BroadcastChannel } from 'node:worker_threads'

const channel = new BroadcastChannel('hanging-reader')
channel.postMessage('started')
setInterval(() => {}, 1_000)
