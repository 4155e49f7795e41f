/** Claims what is due as the sites have room for it: woken by queue keys that become due and by room that comes free. */
import type { Clock } from '../../lib/clock.ts'
import type { Claim, ClaimedDelivery, QueueKey } from '../../store/command.ts'
import { createDueIndex, type IndexedQueueKey } from './due-index.ts'
import { type Capacity, createFairScheduler, type Grant } from './fair-scheduler.ts'
import type { DueQueueKey } from './queue-key-rows.ts'

export interface Scheduler {
  /** Queue keys that have become due, or will. */
  note(queueKeys: readonly DueQueueKey[]): void
  /** The site has room again. */
  freed(site: string): void
  /** Queue keys with waiting deliveries. */
  queueKeyCount(): number
  /** Queue keys that are due and wait for room at the site. */
  queueKeysOf(site: string): QueueKey[]
  /** Takes nothing more; resolves when no claim is under way. */
  stop(): Promise<void>
}

interface SchedulerOptions {
  clock: Clock
  /** The site that takes the queue key's mail, or null when another scheduler serves it. */
  siteOf(queueKey: QueueKey): Promise<string | null>
  roomOf(site: string): Capacity
  claim(queueKeys: readonly (QueueKey & { limit: number })[]): Promise<Claim[]>
  /** @param laneClass of all of them */
  take(site: string, deliveryClass: number, deliveries: readonly ClaimedDelivery[]): void
  onError(error: unknown): void
}

const AFTER_FAILURE_MS = 1_000

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { clock } = options
  const turns = createFairScheduler()
  let claiming: Promise<void> | undefined
  let stopped = false

  const book = createDueIndex(clock, queueKey => {
    options.siteOf(queueKeyOf(queueKey)).then(
      site => {
        if (site === null) return book.served(queueKey, null)
        turns.add(site, queueKey)
        pump()
      },
      error => tryLater([queueKey], error),
    )
  })

  const tryLater = (queueKeys: readonly IndexedQueueKey[], error: unknown) => {
    options.onError(error)
    for (const queueKey of queueKeys) book.served(queueKey, clock.now() + AFTER_FAILURE_MS)
  }

  const serve = async (taken: readonly Grant[]) => {
    const claims = await options.claim(
      taken.map(({ queueKey, limit }) => ({ ...queueKeyOf(queueKey), limit })),
    )
    for (const [i, { queueKey, site, limit }] of taken.entries()) {
      const { deliveries, nextAt } = claims[i]!
      if (deliveries.length > 0) options.take(site, queueKey.class, deliveries)
      if (deliveries.length < limit) turns.reopen(site)
      book.served(queueKey, nextAt)
    }
  }

  const pump = () => {
    if (claiming || stopped) return
    const taken = turns.next(options.roomOf)
    if (taken.length === 0) return
    claiming = serve(taken)
      .catch(error =>
        tryLater(
          taken.map(({ queueKey }) => queueKey),
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
      if (!stopped) for (const queueKey of queueKeys) book.note(queueKey)
    },
    freed(site) {
      if (turns.reopen(site)) pump()
    },
    queueKeyCount: book.size,
    queueKeysOf: site => turns.queueKeysOf(site).map(queueKeyOf),
    async stop() {
      stopped = true
      book.close()
      await claiming
    },
  }
}

function queueKeyOf({ domain, class: deliveryClass, accountId }: QueueKey): QueueKey {
  return { domain, class: deliveryClass, accountId }
}
