/** What follows when a site stops answering, and when it answers again: remembered in the store, and its mail seen to. */
import type { Clock } from '../lib/clock.ts'
import type { queueCommands } from '../queue/commands.ts'
import type { expireCommands } from '../queue/expire.ts'
import type { retryCommands } from '../queue/retry-now.ts'
import type { ClaimedDelivery, Lane, Run } from '../store/command.ts'
import type { siteCommands } from '../store/site-states.ts'
import type { PauseFacts } from './pause.ts'

export type OutageCommands = Pick<typeof queueCommands, 'release'> &
  typeof expireCommands &
  typeof retryCommands &
  typeof siteCommands

export interface Outages {
  /** The site rests; what had been claimed for it goes back into the queue. */
  began(site: string, pause: PauseFacts, unbegun: readonly ClaimedDelivery[]): Promise<void>
  /** Deliveries to the domain that had been put off because of the outage are due again. */
  ended(site: string, domain: string): Promise<void>
}

/** At a time, so that no commit is held up. */
const TOGETHER = 200

/** @param lanesOf the lanes that wait for a site */
export function createOutages(
  run: Run<OutageCommands>,
  clock: Clock,
  lanesOf: (site: string) => readonly Lane[],
): Outages {
  const expire = async (site: string, reason: string) => {
    for (const lane of lanesOf(site)) {
      const input = { lane, now: clock.now(), limit: TOGETHER, reason }
      while ((await run('expireWaiting', input)) === TOGETHER);
    }
  }
  return {
    async began(site, { until: pausedUntil, ms: pauseMs, reason }, unbegun) {
      await Promise.all([
        run('putSiteState', { site, pausedUntil, pauseMs, reason, changedAt: clock.now() }),
        ...unbegun.map(lease => run('release', leaseRef(lease))),
      ])
      await expire(site, reason)
    },
    async ended(site, domain) {
      await run('clearSiteState', { site })
      const input = { domain, now: clock.now(), limit: TOGETHER, brokenOff: true }
      while ((await run('retryNow', input)) === TOGETHER);
    },
  }
}

export function leaseRef({ accountId, emailId, ordinal, attempt }: ClaimedDelivery) {
  return { accountId, emailId, ordinal, attempt }
}
