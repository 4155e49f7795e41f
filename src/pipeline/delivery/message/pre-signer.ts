/**
 * Signs waiting mail while its destination is paused and the thread is idle, so that the mail leaves without
 * delay when the destination answers.
 *
 * In: names of destinations, from `worker.ts`. Out: signatures in the cache of the message maker.
 */
import { type Clock, sleep } from '../../../lib/clock.ts'
import type { Id } from '../../../lib/ids.ts'
import type { QueueKey } from '../../../store/model/command.ts'
import type { Mark } from '../../queue/waiting-mail.ts'

export type WaitingDelivery = Mark & { accountId: Id; address: string }

export interface PreSigner {
  /** Starts to sign the mail of a destination that may be paused. */
  watch(destination: string): void
  /** Resolves when no signing is in progress. */
  stop(): Promise<void>
}

export interface PreSignerOptions {
  clock: Clock
  /** Whether no mail can be sent to the destination now. */
  isPaused(destination: string): boolean
  /** Whether no mail that can be sent needs the CPU. */
  isIdle(): boolean
  /** Queue keys that are due and wait for the destination. */
  queueKeysOf(destination: string): readonly QueueKey[]
  /** Deliveries that wait in the queue key, in order. */
  waitingIn(queueKey: QueueKey, after: Mark | null, limit: number): Promise<WaitingDelivery[]>
  /** Whether the cache takes further signatures. */
  hasRoom(now: number): boolean
  /** @returns false when the delivery was signed before, or needs no signature */
  signAhead(delivery: WaitingDelivery, now: number): Promise<boolean>
  onError(error: unknown): void
}

const DELIVERIES_PER_STEP_MAX = 100
const BUSY_RETRY_MS = 50
/** Time between scans for new mail. It doubles while there is none. */
const SCAN_INTERVAL_MS = { min: 5_000, max: 30_000 }

export function startPreSigner(options: PreSignerOptions): PreSigner {
  const { clock, isPaused, isIdle, queueKeysOf, waitingIn, hasRoom, signAhead, onError } = options
  const stopping = new AbortController()
  const paused = new Set<string>()
  let working: Promise<void> | undefined

  const idle = async () => {
    while (!isIdle()) await sleep(clock, BUSY_RETRY_MS, stopping.signal)
  }
  const mayGoOn = async (destination: string) => {
    await idle()
    return isPaused(destination) && hasRoom(clock.now())
  }
  /** Each scan starts at the beginning of the queue key, because claimed deliveries come back in between. */
  async function* waitingFor(destination: string, queueKey: QueueKey) {
    for (let after: Mark | null = null; await mayGoOn(destination); ) {
      const waiting: WaitingDelivery[] = await waitingIn(queueKey, after, DELIVERIES_PER_STEP_MAX)
      for (const delivery of waiting) {
        if (!(await mayGoOn(destination))) return
        yield delivery
      }
      if (waiting.length < DELIVERIES_PER_STEP_MAX) return
      after = waiting.at(-1)!
    }
  }
  async function* waitingForPaused() {
    for (const destination of paused) {
      if (!isPaused(destination)) paused.delete(destination)
      else for (const queueKey of queueKeysOf(destination)) yield* waitingFor(destination, queueKey)
    }
  }
  /** @returns whether anything was signed */
  const lookOnce = async () => {
    let isNews = false
    for await (const delivery of waitingForPaused())
      isNews = (await signAhead(delivery, clock.now())) || isNews
    return isNews
  }
  const work = async () => {
    for (let waitMs = SCAN_INTERVAL_MS.min; paused.size > 0; ) {
      waitMs = (await lookOnce()) ? SCAN_INTERVAL_MS.min : Math.min(waitMs * 2, SCAN_INTERVAL_MS.max)
      if (paused.size > 0) await sleep(clock, waitMs, stopping.signal)
    }
    working = undefined
  }

  return {
    watch(destination) {
      if (stopping.signal.aborted) return
      paused.add(destination)
      working ??= work().catch(error => {
        working = undefined
        if (!stopping.signal.aborted) onError(error)
      })
    },
    async stop() {
      stopping.abort(new Error('the delivery worker is stopping'))
      await working
    },
  }
}
