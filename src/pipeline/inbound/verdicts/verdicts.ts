/**
 * Runs the checks on a worker thread, called from the main thread. Any number of messages are checked
 * concurrently, since the checks mostly wait for the network. Messages are streamed, so that only the header
 * section is in memory.
 */

import { type Clock, within } from '../../../lib/clock.ts'
import type { Log, LogLevel } from '../../../lib/log.ts'
import type { Metrics } from '../../../lib/metrics.ts'
import { createOnDemandWorker } from '../../../lib/on-demand-worker.ts'
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
}

export interface VerdictMaker {
  /** Never rejects. Checks that failed are PROCESSING_FAILED, with the reason in `detail`. */
  judge(judgement: Judgement): Promise<MessageVerdicts>
  close(): Promise<void>
}

interface VerdictsOptions extends VerdictThreadData {
  /** Entry file of the worker thread. */
  entry: URL
  metrics?: Metrics | undefined
  clock: Clock
  log: Log
}

/** Exceeds the time limits of all checks together, so that only a blocked thread can reach it. */
const VERDICT_MS_MAX = 40_000
/** Only the header section of a message is in memory. */
const HEAP_MIB = 256

export function createVerdicts({ entry, metrics, clock, log, ...data }: VerdictsOptions): VerdictMaker {
  const { mailHost, filters } = data
  const thread = createOnDemandWorker({
    name: 'verdicts',
    entry,
    data,
    heapMib: HEAP_MIB,
    metrics,
    log,
    staysWhenIdle: true,
  })
  let isClosed = false

  let turn: Promise<unknown> = Promise.resolve()

  const once = async (judgement: Judgement): Promise<MessageVerdicts> => {
    const verdicts = await within(clock, VERDICT_MS_MAX, thread.call('judge', judgement))
    if (verdicts !== undefined) return verdicts as MessageVerdicts
    await thread.end()
    throw new WorkerEnded(`no verdict within ${VERDICT_MS_MAX / 1_000} s`)
  }
  /** The message that blocked the thread is unknown, so each message is tried once more, one at a time. */
  const again = (judgement: Judgement): Promise<MessageVerdicts> => {
    const own = turn.then(() => once(judgement))
    turn = own.catch(() => {}) // the caller handles the error
    return own
  }
  const twice = (judgement: Judgement) =>
    once(judgement).catch(error => {
      if (error instanceof WorkerEnded && !isClosed) return again(judgement)
      throw error
    })
  return {
    async judge(judgement) {
      try {
        return await twice(judgement)
      } catch (error) {
        if (!isClosed)
          log.warn(
            { event: 'verdict_worker_failed', err: error },
            'The verdict worker failed on a received message',
          )
        return unjudged(mailHost, filters, String(error).slice(0, 200))
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
