/**
 * An address where connections are neither taken nor refused: whoever listens there has more of them than it
 * has room for.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'

export interface BlackHole {
  close(): Promise<void>
}

/** Stands still as soon as it listens. */
const LISTENER = `
  const { workerData, parentPort } = require('node:worker_threads')
  const server = require('node:net').createServer()
  server.listen({ host: workerData.host, port: workerData.port, backlog: 1 }, () => {
    parentPort.postMessage('listening')
    Atomics.wait(workerData.gate, 0, 0)
    process.exit()
  })
`
/** A queue of one has room for two. */
const ROOM = 2

export async function openBlackHole(host: string, port: number): Promise<BlackHole> {
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const listener = new Worker(LISTENER, { eval: true, workerData: { host, port, gate } })
  await once(listener, 'message')
  const fillers: Socket[] = []
  for (let i = 0; i < ROOM; i++) {
    const filler = connect(port, host).on('error', () => {})
    fillers.push(filler)
    await once(filler, 'connect')
  }
  return {
    async close() {
      for (const filler of fillers) filler.destroy()
      const ended = once(listener, 'exit')
      Atomics.store(gate, 0, 1)
      Atomics.notify(gate, 0)
      await ended
    },
  }
}
