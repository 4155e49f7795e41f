/**
 * Claims what is due as the sites have room for it: woken by queue keys that become due and by room that
 * comes free.
 */
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

const RETRY_MS = 1_000

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { clock } = options
  const fair = createFairScheduler()
  let claiming: Promise<void> | undefined
  let stopped = false

  const dueIndex = createDueIndex(clock, queueKey => {
    options.siteOf(queueKeyOf(queueKey)).then(
      site => {
        if (site === null) return dueIndex.served(queueKey, null)
        fair.add(site, queueKey)
        pump()
      },
      error => tryLater([queueKey], error),
    )
  })

  const tryLater = (queueKeys: readonly IndexedQueueKey[], error: unknown) => {
    options.onError(error)
    for (const queueKey of queueKeys) dueIndex.served(queueKey, clock.now() + RETRY_MS)
  }

  const serve = async (grants: readonly Grant[]) => {
    const claims = await options.claim(
      grants.map(({ queueKey, limit }) => ({ ...queueKeyOf(queueKey), limit })),
    )
    for (const [i, { queueKey, site, limit }] of grants.entries()) {
      const { deliveries, nextAt } = claims[i]!
      if (deliveries.length > 0) options.take(site, queueKey.class, deliveries)
      if (deliveries.length < limit) fair.reopen(site)
      dueIndex.served(queueKey, nextAt)
    }
  }

  const pump = () => {
    if (claiming || stopped) return
    const grants = fair.next(options.roomOf)
    if (grants.length === 0) return
    claiming = serve(grants)
      .catch(error =>
        tryLater(
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
    freed(site) {
      if (fair.reopen(site)) pump()
    },
    queueKeyCount: dueIndex.size,
    queueKeysOf: site => fair.queueKeysOf(site).map(queueKeyOf),
    async stop() {
      stopped = true
      dueIndex.close()
      await claiming
    },
  }
}

function queueKeyOf({ domain, class: deliveryClass, accountId }: QueueKey): QueueKey {
  return { domain, class: deliveryClass, accountId }
}
