/** Reads received mail on a thread of its own, one message at a time: hostile mail costs the thread, at worst. */
import { ThreadEnded } from '../lib/calls.ts'
import { type Clock, within } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Metrics } from '../lib/metrics.ts'
import { createPassingThread, type PassingThreadData } from '../lib/passing-thread.ts'
import type { EncodedContent } from '../store/mail/content.ts'
import type { ParsedMail } from './parts/parsed-mail.ts'

/** A message that has been read, with its texts and headers in the form in which they are stored. */
export interface ReadMail extends Omit<ParsedMail, 'html' | 'text' | 'headers'> {
  content: EncodedContent
}

export interface MailReader {
  /**
   * What cannot be taken apart is known by its head alone, with why among its faults.
   * @param load is called when its turn comes; the memory of what it gives is not to be used any more
   * @throws what `load` throws
   */
  read(load: () => Promise<Uint8Array<ArrayBuffer>>): Promise<ReadMail>
  close(): Promise<void>
}

export interface ReadingOrder {
  bytes: Uint8Array<ArrayBuffer>
  /** Why no more than the head is to be looked at; null otherwise. */
  fault: string | null
}

export interface MailThreadData extends PassingThreadData {
  /** What fields in its name say is not shown. */
  mailHost: string
}

interface ReaderOptions {
  /** File of the thread; it is started when there is work for it. */
  entry: URL
  mailHost: string
  metrics?: Metrics | undefined
  clock: Clock
  log: Log
}

const LONGEST_MS = 20_000
const HEAP_MIB = 256
const HEAD_BYTES = 256 * 1024

export function createMailReader({ entry, mailHost, metrics, clock, log }: ReaderOptions): MailReader {
  const thread = createPassingThread({
    ...{ name: 'inbound', entry, data: { mailHost }, heapMib: HEAP_MIB, metrics, log },
  })
  let turn: Promise<unknown> = Promise.resolve()
  let isClosing = false

  const ask = async (order: ReadingOrder): Promise<ReadMail> => {
    const answer = await within(clock, LONGEST_MS, thread.call('read', order, [order.bytes.buffer]))
    if (answer !== undefined) return answer as ReadMail
    await thread.end()
    throw new Error(`it could not be read within ${LONGEST_MS / 1_000} s`)
  }
  const work = async (load: () => Promise<Uint8Array<ArrayBuffer>>): Promise<ReadMail> => {
    if (isClosing) throw new ThreadEnded()
    const bytes = await load()
    const head = bytes.slice(0, HEAD_BYTES)
    try {
      return await ask({ bytes, fault: null })
    } catch (error) {
      if (isClosing) throw error
      log.warn({ err: error }, 'a received message could not be taken apart; it is listed by its head')
      return ask({ bytes: head, fault: (error as Error).message })
    }
  }

  return {
    read(load) {
      const done = turn.then(() => work(load))
      turn = done.catch(() => {}) // who asked for it tells of it
      return done
    },
    async close() {
      isClosing = true
      await thread.close()
      await turn
    },
  }
}
