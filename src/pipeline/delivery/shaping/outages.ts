/**
 * What follows when a destination stops answering, answers again, or gets no more today: remembered in the
 * store, and its mail seen to.
 */
import type { Clock } from '../../../lib/clock.ts'
import { type ClaimedDelivery, type QueueKey, queueKeyText, type Run } from '../../../store/command.ts'
import { DELIVERY_CLASS } from '../../../store/schema.ts'
import type { adminCommands } from '../../queue/admin-commands.ts'
import type { queueCommands } from '../../queue/commands.ts'
import type { destinationStateCommands } from '../../queue/destination-states.ts'
import type { expireCommands } from '../../queue/expire.ts'
import type { Mark } from '../../queue/waiting-mail.ts'
import type { OpenBreaker, PathKey } from './congestion-feedback.ts'

export type OutageCommands = Pick<typeof queueCommands, 'release'> &
  typeof expireCommands &
  Pick<typeof adminCommands, 'retryBrokenOff'> &
  typeof destinationStateCommands

interface Outages {
  /** A path rests; what had been claimed for it goes back into the queue. */
  begin(rest: OpenBreaker): Promise<void>
  /**
   * An address that is being warmed up sends no more to the destination today; what had been claimed goes
   * back.
   */
  spendWarmup(destination: string, unstarted: readonly ClaimedDelivery[]): Promise<void>
  /**
   * Deliveries that had been put off because of the outage are due again: those to the domain that showed its
   * end, and to all others of the destination. What was put off for another reason keeps its time.
   */
  end(name: PathKey, domain: string): Promise<void>
}

/** At a time, so that no commit is held up. */
const DELIVERIES_PER_STEP_MAX = 200
const WARMUP_REASON = 'our addresses are being warmed up, and sent no more there on that day'

export interface OutageOptions {
  run: Run<OutageCommands>
  clock: Clock
  /** The queue keys that are due and wait for a destination. */
  queueKeysOf(destination: string): readonly QueueKey[]
  /** The queue keys of deferred mail that goes to a destination, that of the domain in any case. */
  deferredQueueKeysOf(destination: string, domain: string): AsyncIterable<QueueKey>
}

export function createOutages({ run, clock, queueKeysOf, deferredQueueKeysOf }: OutageOptions): Outages {
  const expire = async (queueKeys: readonly QueueKey[], reason: string) => {
    for (const queueKey of new Map(queueKeys.map(queueKey => [queueKeyText(queueKey), queueKey])).values()) {
      const input = { queueKey, now: clock.now(), limit: DELIVERIES_PER_STEP_MAX, reason }
      while ((await run('expireWaiting', input)) === DELIVERIES_PER_STEP_MAX);
    }
  }
  const giveBack = (leases: readonly ClaimedDelivery[]) =>
    Promise.all(leases.map(lease => run('release', leaseRef(lease))))
  return {
    async begin({ destination, source, state, unstarted, allPathsPaused }) {
      const { until: pausedUntil, ms: pauseMs, reason } = state
      await Promise.all([
        run('putSiteState', {
          site: destination,
          source,
          pausedUntil,
          pauseMs,
          reason,
          changedAt: clock.now(),
        }),
        giveBack(unstarted),
      ])
      if (allPathsPaused) await expire(queueKeysOf(destination), reason)
    },
    async spendWarmup(destination, unstarted) {
      await giveBack(unstarted)
      await expire([...queueKeysOf(destination), ...unstarted.flatMap(queueKeysOfEveryClass)], WARMUP_REASON)
    },
    async end({ destination, source }, domain) {
      await run('clearSiteState', { site: destination, source })
      const now = clock.now()
      for await (const queueKey of deferredQueueKeysOf(destination, domain))
        for (let after: Mark | null = null, isFirst = true; isFirst || after; isFirst = false)
          ({ after } = await run('retryBrokenOff', { queueKey, after, limit: DELIVERIES_PER_STEP_MAX, now }))
    },
  }
}

/** Those in which the delivery may be. */
function queueKeysOfEveryClass({ domain, accountId }: ClaimedDelivery): QueueKey[] {
  return Object.values(DELIVERY_CLASS).map(deliveryClass => ({ domain, accountId, class: deliveryClass }))
}

export function leaseRef({ accountId, emailId, ordinal, attempt }: ClaimedDelivery) {
  return { accountId, emailId, ordinal, attempt }
}
