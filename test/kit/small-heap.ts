/**
 * A thread with a heap that a large body must not be put into. Where its heap fills while a built-in function
 * is at work, the whole process ends: then the test file fails without a word of the test.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

export interface ReadingTask {
  reader: 'inbound' | 'reports' | 'submission' | 'lines' | 'download'
  sizeBytes: number
  /** Names of a `HostileBody` and of its place, */
  body?: string
  place?: string
  /** or of a `HostileMessage`, */
  message?: string
  /** or what the body of a message is filled with. */
  fill?: string
}

export interface ReadingFacts {
  subject?: string
  textLength?: number | null
  htmlLength?: number | null
  /** Beginning of the text. */
  beginning?: string
  /** Decoded sizes of files, in bytes. */
  sizes?: number[]
  faults?: string[]
  kind?: string
  refused?: string
  /** Size of the composed message. */
  sizeBytes?: number
  longestLine?: number
  bareCount?: number
  endsInLineEnd?: boolean
}

export interface SmallHeap {
  /** @throws Error when the thread has died of it */
  read(task: ReadingTask): Promise<ReadingFacts>
  close(): Promise<unknown>
}

/**
 * @param heapMib the smaller it is, the smaller is a message that shows what it costs; the modules take about
 * 25 MiB
 */
export function openSmallHeap(heapMib = 96): SmallHeap {
  const resourceLimits = { maxOldGenerationSizeMb: heapMib, maxYoungGenerationSizeMb: 16 }
  let running: Worker | undefined
  const start = () => {
    const worker = new Worker(new URL('./hostile-reader.ts', import.meta.url), { resourceLimits })
    worker.once('exit', () => {
      if (running === worker) running = undefined
    })
    return worker
  }
  return {
    async read(task) {
      running ??= start()
      running.postMessage(task)
      const [facts] = (await once(running, 'message')) as [ReadingFacts]
      return facts
    },
    close: async () => running?.terminate(),
  }
}
