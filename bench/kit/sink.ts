/** Debian's smtp-sink as the world: takes everything and counts it; at the other end of a slow line, too. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { ONE_ADDRESS } from './namespace.ts'
import { startProcess } from './process.ts'
import { startSlowLine } from './slow-line.ts'
import { epochNow } from './time.ts'

export interface Sink {
  /** Messages taken since its start. */
  count(): number
  /** Resolves with the time (epoch ms) at which so many had been taken. @throws when that takes too long */
  reached(count: number): Promise<number>
}

const WAITING_MS_MAX = 300_000
const TAIL_BYTES = 400
const DISTANT_PORT = 2525
/** It stands for many hosts: without this it leaves connections beyond 256 unanswered. */
const SESSIONS_MAX = '15000'

/** Does something while a sink listens on port 25 of all addresses, or of the one given. */
export async function withSink<T>(
  folder: string,
  body: (sink: Sink) => Promise<T>,
  address = '0.0.0.0',
): Promise<T> {
  const sink = await startSink(folder, address)
  try {
    return await body(sink)
  } finally {
    await sink.stop()
  }
}

/** Does something while the MX host of `one.test` is so far away. */
export async function withDistantSink<T>(
  folder: string,
  { roundTripMs }: { roundTripMs: number },
  body: (sink: Sink) => Promise<T>,
): Promise<T> {
  const to = { host: '127.0.0.1', port: DISTANT_PORT }
  const sink = await startSink(folder, to.host, to.port)
  const line = await startSlowLine({ from: { host: ONE_ADDRESS, port: 25 }, to, roundTripMs })
  try {
    return await body(sink)
  } finally {
    await line.end()
    await sink.stop()
  }
}

async function startSink(
  folder: string,
  address: string,
  port = 25,
): Promise<Sink & { stop(): Promise<void> }> {
  const output = `${folder}/sink.${Date.now()}.out`
  const args = ['-c', '-u', 'nobody', '-m', SESSIONS_MAX, `${address}:${port}`, '1000']
  const sink = await startProcess('smtp-sink', args, {
    output,
    readyPort: { host: address === '0.0.0.0' ? '127.0.0.1' : address, port },
  })
  const count = () => {
    const file = openSync(output, 'r')
    const buffer = Buffer.alloc(TAIL_BYTES)
    const read = readSync(file, buffer, 0, TAIL_BYTES, Math.max(0, fstatSync(file).size - TAIL_BYTES))
    closeSync(file)
    return Number([...buffer.toString('latin1', 0, read).matchAll(/mesg=(\d+)/g)].at(-1)?.[1] ?? 0)
  }
  return {
    count,
    async reached(wanted) {
      const deadline = performance.now() + WAITING_MS_MAX
      while (count() < wanted) {
        if (performance.now() > deadline) throw new Error(`the sink has ${count()} of ${wanted} messages`)
        await pause(5)
      }
      return epochNow()
    },
    stop: () => sink.end('SIGKILL'),
  }
}
