/**
 * Runs the checks on a worker thread, called from the main thread. Any number of messages are checked
 * concurrently, since the checks mostly wait for the network. Messages are streamed, so that only the header
 * section is in memory.
 */

import { type Clock, type Timer, within } from '../../../lib/clock.ts'
import type { Log, LogLevel } from '../../../lib/log.ts'
import type { Metrics } from '../../../lib/metrics.ts'
import { createOnDemandWorker, type OnDemandWorker } from '../../../lib/on-demand-worker.ts'
import { WorkerEnded } from '../../../lib/worker-rpc.ts'
import type { StoreLocation } from '../../../store/opening/dialect.ts'
import { unknownAuthentication, verdictsOf } from './conclusion.ts'
import type { FilterSettings } from './filters.ts'
import type { Envelope } from './mail.ts'
import type { MessageVerdicts, SpamFinding, VirusFinding } from './verdict.ts'

export interface Judgement extends Envelope {
  /** Hash of the raw message in the store. */
  blobHash: Uint8Array
  /** The whole message if it is small and in memory; null if it must be read from the store. */
  bytes: Uint8Array | null
}

export interface VerdictThreadData {
  location: StoreLocation
  mailHost: string
  /** Value of `dns.resolvers`. */
  resolvers: readonly string[]
  filters: FilterSettings
  logLevel: LogLevel
  /** One Int32: the number of the judgement that the thread works on. */
  working: SharedArrayBuffer
}

/** A judgement as the thread gets it. Each attempt has a number of its own. */
export interface NumberedJudgement extends Judgement {
  number: number
}

export interface VerdictMaker {
  /** Never rejects. Checks that failed are PROCESSING_FAILED, with the reason in `detail`. */
  judge(judgement: Judgement): Promise<MessageVerdicts>
  close(): Promise<void>
}

interface VerdictsOptions extends Omit<VerdictThreadData, 'working'> {
  /** Entry file of the worker thread. */
  entry: URL
  metrics?: Metrics | undefined
  clock: Clock
  log: Log
}

/** Exceeds the time limits of all checks together. */
const VERDICT_MS_MAX = 40_000
const PING_EVERY_MS = 1_000
/** A thread that does not answer for this long is ended, and the message that it works on has no verdicts. */
const BLOCKED_MS_MAX = 10_000
/** Threads that may end beside a message. */
const ATTEMPTS_MAX = 3
/** Only the header section of a message is in memory. */
const HEAP_MIB = 256
const INT32_MAX = 0x7fff_ffff
const GIVEN_UP = `the checks kept their thread busy for ${BLOCKED_MS_MAX / 1_000} s, or ended it`

export function createVerdicts({ entry, metrics, clock, log, ...data }: VerdictsOptions): VerdictMaker {
  const { mailHost, filters } = data
  const working = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const thread = createOnDemandWorker({
    name: 'verdicts',
    entry,
    data: { ...data, working: working.buffer },
    heapMib: HEAP_MIB,
    metrics,
    log,
    staysWhenIdle: true,
  })
  const watch = createWatch(thread, clock)
  let isClosed = false
  let lastNumber = 0

  const once = async (judgement: NumberedJudgement): Promise<MessageVerdicts> => {
    const verdicts = await within(clock, VERDICT_MS_MAX, thread.call('judge', judgement))
    if (verdicts === undefined) throw new Error(`no verdict within ${VERDICT_MS_MAX / 1_000} s`)
    return verdicts as MessageVerdicts
  }
  /** When the thread ends, the message that it worked on is given up, and all others are tried again. */
  const untilJudged = async (judgement: Judgement): Promise<MessageVerdicts> => {
    for (let attempt = 1; ; attempt += 1) {
      lastNumber = (lastNumber + 1) & INT32_MAX
      const number = lastNumber
      try {
        return await once({ ...judgement, number })
      } catch (error) {
        if (!(error instanceof WorkerEnded) || isClosed) throw error
        if (Atomics.load(working, 0) === number) throw new Error(GIVEN_UP)
        if (attempt === ATTEMPTS_MAX) throw error
      }
    }
  }
  return {
    async judge(judgement) {
      watch.begin()
      try {
        return await untilJudged(judgement)
      } catch (error) {
        if (!isClosed)
          log.warn(
            { event: 'verdict_worker_failed', err: error },
            'The verdict worker failed on a received message',
          )
        return unjudged(mailHost, filters, String(error).slice(0, 200))
      } finally {
        watch.end()
      }
    },
    async close() {
      isClosed = true
      await thread.close()
    },
  }
}

function unjudged(mailHost: string, { clamd }: FilterSettings, reason: string): MessageVerdicts {
  const spam: SpamFinding = { by: 'authentication', verdict: 'PROCESSING_FAILED', reason }
  const virus: VirusFinding | undefined = clamd
    ? { by: 'clamd', verdict: 'PROCESSING_FAILED', reason }
    : undefined
  return verdictsOf(mailHost, unknownAuthentication(reason), spam, virus)
}

/** Ends the thread when it does not answer while there are judgements. */
function createWatch(thread: Pick<OnDemandWorker, 'call' | 'end'>, clock: Clock) {
  let judgementCount = 0
  let isAsking = false
  let timer: Timer | undefined

  const askLater = () => {
    if (judgementCount > 0 && !isAsking) timer ??= clock.timer(PING_EVERY_MS, () => void ask())
  }
  const ask = async () => {
    timer = undefined
    isAsking = true
    const lives = () => true // a thread that has ended does not block
    const isAlive = await within(clock, BLOCKED_MS_MAX, thread.call('ping', null).then(lives, lives))
    if (!isAlive) await thread.end()
    isAsking = false
    askLater()
  }
  return {
    begin() {
      judgementCount += 1
      askLater()
    },
    end() {
      judgementCount -= 1
      if (judgementCount > 0) return
      timer?.cancel()
      timer = undefined
    },
  }
}
