/**
 * Claims due deliveries as far as their destinations have capacity. It runs when a queue key becomes due and
 * when a destination gets capacity.
 *
 * In: announced queue keys. Out: claimed deliveries (`take`). One scheduler runs on each delivery thread, for
 * `pipeline/delivery/worker.ts`.
 */
import type { Clock } from '../../lib/clock.ts'
import type { Claim, ClaimedDelivery, QueueKey } from '../../store/model/command.ts'
import { createDueIndex, type IndexedQueueKey } from './due-index.ts'
import { type Capacity, createFairScheduler, type Grant } from './fair-scheduler.ts'
import type { DueQueueKey } from './queue-key-rows.ts'

export interface Scheduler {
  /** Adds queue keys with the time at which they are due. */
  note(queueKeys: readonly DueQueueKey[]): void
  /** Reports that the destination has capacity again. */
  reopen(destination: string): void
  /** Number of queue keys with waiting deliveries. */
  queueKeyCount(): number
  /** Queue keys that are due and wait for capacity of the destination. */
  queueKeysOf(destination: string): QueueKey[]
  /** Starts no further claim; resolves when the current claim has ended. */
  stop(): Promise<void>
}

interface SchedulerOptions {
  clock: Clock
  /** The destination of the queue key, or null when another thread serves it. */
  destinationOf(queueKey: QueueKey): Promise<string | null>
  capacityOf(destination: string): Capacity
  claim(queueKeys: readonly (QueueKey & { limit: number })[]): Promise<Claim[]>
  /** @param deliveries have the same class */
  take(destination: string, deliveries: readonly ClaimedDelivery[]): void
  onError(error: unknown): void
}

const RETRY_MS = 1_000

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { clock } = options
  const fair = createFairScheduler()
  let claiming: Promise<void> | undefined
  let stopped = false

  const dueIndex = createDueIndex(clock, queueKey => {
    options.destinationOf(queueKeyOf(queueKey)).then(
      destination => {
        if (destination === null) return dueIndex.served(queueKey, null)
        fair.add(destination, queueKey)
        pump()
      },
      error => retryLater([queueKey], error),
    )
  })

  const retryLater = (queueKeys: readonly IndexedQueueKey[], error: unknown) => {
    options.onError(error)
    for (const queueKey of queueKeys) dueIndex.served(queueKey, clock.now() + RETRY_MS)
  }

  const serve = async (grants: readonly Grant[]) => {
    const claims = await options.claim(
      grants.map(({ queueKey, limit }) => ({ ...queueKeyOf(queueKey), limit })),
    )
    for (const [i, { queueKey, destination, limit }] of grants.entries()) {
      const { deliveries, nextAt } = claims[i]!
      if (deliveries.length > 0) options.take(destination, deliveries)
      if (deliveries.length < limit) fair.reopen(destination)
      dueIndex.served(queueKey, nextAt)
    }
  }

  const pump = () => {
    if (claiming || stopped) return
    const grants = fair.next(options.capacityOf)
    if (grants.length === 0) return
    claiming = serve(grants)
      .catch(error =>
        retryLater(
          grants.map(({ queueKey }) => queueKey),
          error,
        ),
      )
      .finally(() => {
        claiming = undefined
        pump()
      })
  }

  return {
    note(queueKeys) {
      if (!stopped) for (const queueKey of queueKeys) dueIndex.note(queueKey)
    },
    reopen(destination) {
      if (fair.reopen(destination)) pump()
    },
    queueKeyCount: dueIndex.size,
    queueKeysOf: destination => fair.queueKeysOf(destination).map(queueKeyOf),
    async stop() {
      stopped = true
      dueIndex.close()
      await claiming
    },
  }
}

export function queueKeyOf({ domain, class: deliveryClass, accountId }: QueueKey): QueueKey {
  return { domain, class: deliveryClass, accountId }
}
