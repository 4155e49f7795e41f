/** Debian's smtp-sink as the world: takes everything and counts it. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { startProcess } from './process.ts'
import { epochNow } from './time.ts'

export interface Sink {
  /** Messages taken since its start. */
  count(): number
  /** Resolves with the time (epoch ms) at which so many had been taken. @throws when that takes too long */
  reached(count: number): Promise<number>
}

const MOST_WAITING_MS = 300_000
const TAIL_BYTES = 400
/** It stands for many hosts: without this it leaves connections beyond 256 unanswered. */
const MOST_SESSIONS = '15000'

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

async function startSink(folder: string, address: string): Promise<Sink & { stop(): Promise<void> }> {
  const output = `${folder}/sink.${Date.now()}.out`
  const sink = await startProcess(
    'smtp-sink',
    ['-c', '-u', 'nobody', '-m', MOST_SESSIONS, `${address}:25`, '1000'],
    {
      output,
      readyPort: { host: address === '0.0.0.0' ? '127.0.0.1' : address, port: 25 },
    },
  )
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
      const deadline = performance.now() + MOST_WAITING_MS
      while (count() < wanted) {
        if (performance.now() > deadline) throw new Error(`the sink has ${count()} of ${wanted} messages`)
        await pause(5)
      }
      return epochNow()
    },
    stop: () => sink.end('SIGKILL'),
  }
}
