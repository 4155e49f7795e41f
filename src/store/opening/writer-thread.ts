/**
 * Main function of the writer thread: opens and migrates the database, and serves clients until it is
 * stopped.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { createIdSource } from '../../lib/ids.ts'
import type { Commands } from '../model/command.ts'
import { createRecentEmails } from '../model/recent.ts'
import { createFigures, type WriterFigures } from '../writer/figures.ts'
import { serveWriter } from '../writer/serve.ts'
import { openWriting, type StoreLocation } from './dialect.ts'

export interface WriterThreadData {
  location: StoreLocation
  nowMs: number
}

export type WriterOrder = { order: 'connect'; port: MessagePort } | { order: 'stop' }
export type WriterNotice =
  | { notice: 'ready'; migrations: string[] }
  | { notice: 'figures'; figures: WriterFigures }
  | { notice: 'stopped' }

const DROP_INTERVAL_MS = 5_000
const FIGURES_INTERVAL_MS = 1_000

/** Body of the entry file of the writer thread. A failure ends the thread, and with it the process. */
export async function runWriterThread(commands: Commands): Promise<void> {
  const control = parentPort!
  const { location, nowMs } = workerData as WriterThreadData
  const recent = createRecentEmails()
  setInterval(recent.dropStale, DROP_INTERVAL_MS).unref()
  const options = { commands, recent, newId: createIdSource() }
  const store = await openWriting(location, options, nowMs)
  const figures = createFigures()
  const loop = serveWriter({
    ...store,
    async run(requests) {
      const startedAt = performance.now()
      const result = await store.run(requests)
      const seconds = (performance.now() - startedAt) / 1_000
      figures.add({ seconds, commandCount: requests.length, tallies: result.tallies })
      return result
    },
    weigh: ({ name, input }) => (Object.hasOwn(commands, name) && commands[name]!.weigh?.(input)) || 1,
  })
  store.onHeard(loop.announce)
  const sendFigures = () => {
    const changed = figures.take()
    if (changed) control.postMessage({ notice: 'figures', figures: changed } satisfies WriterNotice)
  }
  setInterval(sendFigures, FIGURES_INTERVAL_MS).unref()
  const end = async () => {
    await loop.end()
    await store.close()
    control.postMessage({ notice: 'stopped' } satisfies WriterNotice)
    control.close()
  }
  control.on('message', (message: WriterOrder) => {
    if (message.order === 'connect') return loop.connect(message.port)
    void end()
  })
  control.postMessage({ notice: 'ready', migrations: store.migrations } satisfies WriterNotice)
}
