/** What follows when a site stops answering, and when it answers again: remembered in the store, and its mail seen to. */
import type { Clock } from '../lib/clock.ts'
import type { queueCommands } from '../queue/commands.ts'
import type { expireCommands } from '../queue/expire.ts'
import type { steerCommands } from '../queue/steer.ts'
import type { Mark } from '../queue/waiting-mail.ts'
import type { ClaimedDelivery, Lane, Run } from '../store/command.ts'
import type { siteCommands } from '../store/site-states.ts'
import type { PathName, Rest } from './lessons.ts'

export type OutageCommands = Pick<typeof queueCommands, 'release'> &
  typeof expireCommands &
  Pick<typeof steerCommands, 'retryBrokenOff'> &
  typeof siteCommands

export interface Outages {
  /** A path rests; what had been claimed for it goes back into the queue. */
  began(rest: Rest): Promise<void>
  /**
   * Deliveries that had been put off because of the outage are due again: those to the domain that showed its end, and to
   * all others of the site. What was put off for another reason keeps its time.
   */
  ended(name: PathName, domain: string): Promise<void>
}

/** At a time, so that no commit is held up. */
const TOGETHER = 200

export interface OutageOptions {
  run: Run<OutageCommands>
  clock: Clock
  /** The lanes that are due and wait for a site. */
  lanesOf(site: string): readonly Lane[]
  /** The lanes of deferred mail that goes to a site, that of the domain in any case. */
  deferredLanesOf(site: string, domain: string): AsyncIterable<Lane>
}

export function createOutages({ run, clock, lanesOf, deferredLanesOf }: OutageOptions): Outages {
  const expire = async (site: string, reason: string) => {
    for (const lane of lanesOf(site)) {
      const input = { lane, now: clock.now(), limit: TOGETHER, reason }
      while ((await run('expireWaiting', input)) === TOGETHER);
    }
  }
  return {
    async began({ site, source, pause, unbegun, isWhole }) {
      const { until: pausedUntil, ms: pauseMs, reason } = pause
      await Promise.all([
        run('putSiteState', { site, source, pausedUntil, pauseMs, reason, changedAt: clock.now() }),
        ...unbegun.map(lease => run('release', leaseRef(lease))),
      ])
      if (isWhole) await expire(site, reason)
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

export function leaseRef({ accountId, emailId, ordinal, attempt }: ClaimedDelivery) {
  return { accountId, emailId, ordinal, attempt }
}
