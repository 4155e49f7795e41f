/** What follows when a site stops answering, answers again, or gets no more today: remembered in the store, and its mail seen to. */
import type { Clock } from '../../../lib/clock.ts'
import { type ClaimedDelivery, type Lane, laneKey, type Run } from '../../../store/command.ts'
import { DELIVERY_CLASS } from '../../../store/schema.ts'
import type { adminCommands } from '../../queue/admin-commands.ts'
import type { queueCommands } from '../../queue/commands.ts'
import type { destinationStateCommands } from '../../queue/destination-states.ts'
import type { expireCommands } from '../../queue/expire.ts'
import type { Mark } from '../../queue/waiting-mail.ts'
import type { OpenBreaker, PathName } from './congestion-feedback.ts'

export type OutageCommands = Pick<typeof queueCommands, 'release'> &
  typeof expireCommands &
  Pick<typeof adminCommands, 'retryBrokenOff'> &
  typeof destinationStateCommands

export interface Outages {
  /** A path rests; what had been claimed for it goes back into the queue. */
  began(rest: OpenBreaker): Promise<void>
  /** An address that is being warmed up sends no more to the site today; what had been claimed goes back. */
  spent(site: string, unbegun: readonly ClaimedDelivery[]): Promise<void>
  /**
   * Deliveries that had been put off because of the outage are due again: those to the domain that showed its end, and to
   * all others of the site. What was put off for another reason keeps its time.
   */
  ended(name: PathName, domain: string): Promise<void>
}

/** At a time, so that no commit is held up. */
const TOGETHER = 200
const WARMING_UP = 'our addresses are being warmed up, and sent no more there on that day'

export interface OutageOptions {
  run: Run<OutageCommands>
  clock: Clock
  /** The lanes that are due and wait for a site. */
  lanesOf(site: string): readonly Lane[]
  /** The lanes of deferred mail that goes to a site, that of the domain in any case. */
  deferredLanesOf(site: string, domain: string): AsyncIterable<Lane>
}

export function createOutages({ run, clock, lanesOf, deferredLanesOf }: OutageOptions): Outages {
  const expire = async (lanes: readonly Lane[], reason: string) => {
    for (const lane of new Map(lanes.map(lane => [laneKey(lane), lane])).values()) {
      const input = { lane, now: clock.now(), limit: TOGETHER, reason }
      while ((await run('expireWaiting', input)) === TOGETHER);
    }
  }
  const giveBack = (leases: readonly ClaimedDelivery[]) =>
    Promise.all(leases.map(lease => run('release', leaseRef(lease))))
  return {
    async began({ site, source, pause, unbegun, isWhole }) {
      const { until: pausedUntil, ms: pauseMs, reason } = pause
      await Promise.all([
        run('putSiteState', { site, source, pausedUntil, pauseMs, reason, changedAt: clock.now() }),
        giveBack(unbegun),
      ])
      if (isWhole) await expire(lanesOf(site), reason)
    },
    async spent(site, unbegun) {
      await giveBack(unbegun)
      await expire([...lanesOf(site), ...unbegun.flatMap(lanesOfAll)], WARMING_UP)
    },
    async ended(name, domain) {
      await run('clearSiteState', name)
      const now = clock.now()
      for await (const lane of deferredLanesOf(name.site, domain))
        for (let after: Mark | null = null, isFirst = true; isFirst || after; isFirst = false)
          ({ after } = await run('retryBrokenOff', { lane, after, limit: TOGETHER, now }))
    },
  }
}

/** Those in which the delivery may be. */
function lanesOfAll({ domain, accountId }: ClaimedDelivery): Lane[] {
  return Object.values(DELIVERY_CLASS).map(laneClass => ({ domain, accountId, class: laneClass }))
}

export function leaseRef({ accountId, emailId, ordinal, attempt }: ClaimedDelivery) {
  return { accountId, emailId, ordinal, attempt }
}
