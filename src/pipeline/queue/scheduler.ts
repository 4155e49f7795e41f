/** Claims what is due as the sites have room for it: woken by lanes that become due and by room that comes free. */
import type { Clock } from '../../lib/clock.ts'
import type { Claim, ClaimedDelivery, Lane } from '../../store/command.ts'
import { createDueIndex, type IndexedQueueKey } from './due-index.ts'
import { type Capacity, createFairScheduler, type Grant } from './fair-scheduler.ts'
import type { DueQueueKey } from './queue-key-rows.ts'

export interface Scheduler {
  /** Lanes that have become due, or will. */
  note(lanes: readonly DueQueueKey[]): void
  /** The site has room again. */
  freed(site: string): void
  /** Lanes with waiting deliveries. */
  laneCount(): number
  /** Lanes that are due and wait for room at the site. */
  lanesOf(site: string): Lane[]
  /** Takes nothing more; resolves when no claim is under way. */
  stop(): Promise<void>
}

interface SchedulerOptions {
  clock: Clock
  /** The site that takes the lane's mail, or null when another scheduler serves it. */
  siteOf(lane: Lane): Promise<string | null>
  roomOf(site: string): Capacity
  claim(lanes: readonly (Lane & { limit: number })[]): Promise<Claim[]>
  /** @param laneClass of all of them */
  take(site: string, laneClass: number, deliveries: readonly ClaimedDelivery[]): void
  onError(error: unknown): void
}

const AFTER_FAILURE_MS = 1_000

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { clock } = options
  const turns = createFairScheduler()
  let claiming: Promise<void> | undefined
  let stopped = false

  const book = createDueIndex(clock, lane => {
    options.siteOf(laneOf(lane)).then(
      site => {
        if (site === null) return book.served(lane, null)
        turns.add(site, lane)
        pump()
      },
      error => tryLater([lane], error),
    )
  })

  const tryLater = (lanes: readonly IndexedQueueKey[], error: unknown) => {
    options.onError(error)
    for (const lane of lanes) book.served(lane, clock.now() + AFTER_FAILURE_MS)
  }

  const serve = async (taken: readonly Grant[]) => {
    const claims = await options.claim(taken.map(({ lane, limit }) => ({ ...laneOf(lane), limit })))
    for (const [i, { lane, site, limit }] of taken.entries()) {
      const { deliveries, nextAt } = claims[i]!
      if (deliveries.length > 0) options.take(site, lane.class, deliveries)
      if (deliveries.length < limit) turns.reopen(site)
      book.served(lane, nextAt)
    }
  }

  const pump = () => {
    if (claiming || stopped) return
    const taken = turns.next(options.roomOf)
    if (taken.length === 0) return
    claiming = serve(taken)
      .catch(error =>
        tryLater(
          taken.map(({ lane }) => lane),
          error,
        ),
      )
      .finally(() => {
        claiming = undefined
        pump()
      })
  }

  return {
    note(lanes) {
      if (!stopped) for (const lane of lanes) book.note(lane)
    },
    freed(site) {
      if (turns.reopen(site)) pump()
    },
    laneCount: book.size,
    lanesOf: site => turns.lanesOf(site).map(laneOf),
    async stop() {
      stopped = true
      book.close()
      await claiming
    },
  }
}

function laneOf({ domain, class: laneClass, accountId }: Lane): Lane {
  return { domain, class: laneClass, accountId }
}
