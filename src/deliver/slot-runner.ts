/** Runs deliveries in slots: a site's one after another, sites that wait for a slot in turns. */
import { once } from 'node:events'
import type { Clock } from '../lib/clock.ts'
import type { ClaimedDelivery } from '../store/command.ts'
import { type Site, widthOf } from './site.ts'
import type { Slots } from './slots.ts'

export interface SlotRunner {
  /** Begins what the site bears and there are slots for. */
  start(site: Site): void
  /** The site waits for no slot any more. */
  leave(site: Site): void
  /** Resolves when nothing is under way, or after so long. */
  idle(withinMs: number): Promise<void>
  /** Begins nothing more. */
  stop(): void
}

interface SlotRunnerOptions {
  clock: Clock
  slots: Slots
  deliver(site: Site, delivery: ClaimedDelivery): Promise<void>
  /** A delivery left the ones that wait, or a slot of the site came free. */
  onMoved(site: Site): void
  onError(error: unknown): void
}

/** Sites tried for each slot that comes free. */
const MOST_WOKEN = 16

export function createSlotRunner(options: SlotRunnerOptions): SlotRunner {
  const { clock, slots, onMoved } = options
  const underWay = new Set<Promise<void>>()
  /** Sites whose next delivery waits for a slot, in the order of their turns. */
  const blocked = new Set<Site>()
  let stopped = false

  const start = (site: Site) => {
    while (!stopped && site.active < widthOf(site) && site.claimed.length > 0) {
      if (!site.pace.allows()) return
      const delivery = nextOf(site, site.active)
      if (!delivery) return void blocked.add(site)
      site.active++
      const slot = run(site, delivery)
        .catch(options.onError)
        .finally(() => underWay.delete(slot))
      underWay.add(slot)
    }
  }
  /** @param others that are under way at the site */
  const nextOf = (site: Site, others: number) =>
    slots.allows(site.isProven, others) ? site.claimed.next(slots.hasRoomFor) : undefined

  /** One delivery after another, as long as no other site waits for the slot. */
  const run = async (site: Site, first: ClaimedDelivery) => {
    const goesOn = () => !stopped && blocked.size === 0 && site.active <= widthOf(site) && site.pace.allows()
    try {
      let delivery: ClaimedDelivery | undefined = first
      while (delivery) {
        await carryOut(site, delivery)
        delivery = goesOn() ? nextOf(site, site.active - 1) : undefined
      }
    } finally {
      site.active--
      wakeBlocked()
      start(site)
      onMoved(site)
    }
  }
  const carryOut = async (site: Site, delivery: ClaimedDelivery) => {
    site.pace.begin()
    const free = slots.take(site.isProven, delivery.accountId)
    onMoved(site)
    try {
      await options.deliver(site, delivery)
    } finally {
      free()
    }
    start(site)
  }
  const wakeBlocked = () => {
    let left = Math.min(blocked.size, MOST_WOKEN)
    for (const site of blocked) {
      if (left-- === 0) return
      blocked.delete(site)
      start(site)
    }
  }

  return {
    start,
    leave: site => void blocked.delete(site),
    async idle(withinMs) {
      const deadline = new AbortController()
      const timer = clock.timer(withinMs, () => deadline.abort())
      while (underWay.size > 0 && !deadline.signal.aborted)
        await Promise.race([...underWay, once(deadline.signal, 'abort')])
      timer.cancel()
    },
    stop() {
      stopped = true
    },
  }
}
