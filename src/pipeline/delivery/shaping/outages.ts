/**
 * Stores the state of circuit breakers, and updates the queue when a destination stops answering, answers
 * again, or has used up its warm-up budget.
 *
 * In: events of the shaper, from `worker.ts`. Out: commands to the writer.
 */
import type { Clock } from '../../../lib/clock.ts'
import { type ClaimedDelivery, type QueueKey, queueKeyText, type Run } from '../../../store/model/command.ts'
import type { adminCommands } from '../../queue/admin-commands.ts'
import type { queueCommands } from '../../queue/commands.ts'
import type { destinationStateCommands } from '../../queue/destination-states.ts'
import type { expireCommands } from '../../queue/expire.ts'
import { queueKeyOf } from '../../queue/scheduler.ts'
import type { Mark } from '../../queue/waiting-mail.ts'
import type { OpenBreaker, PathKey } from './congestion-feedback.ts'

export type OutageCommands = Pick<typeof queueCommands, 'release'> &
  typeof expireCommands &
  Pick<typeof adminCommands, 'retryBrokenOff'> &
  typeof destinationStateCommands

export interface Outages {
  /**
   * Stores an open circuit breaker and returns the path's claimed deliveries to the queue. When no other path
   * is left, deliveries that have reached their maximum lifetime expire.
   */
  begin(opened: OpenBreaker): Promise<void>
  /** Returns deliveries to the queue when a source address has used up its warm-up budget of the day. */
  spendWarmup(destination: string, unstarted: readonly ClaimedDelivery[]): Promise<void>
  /**
   * Makes deliveries due that were deferred because of the outage: those of the domain that got the answer,
   * and those of all other domains of the destination. Deliveries deferred for another reason keep their
   * time.
   */
  end(name: PathKey, domain: string): Promise<void>
}

/** A command handles no more deliveries than this, so that it does not delay other commits. */
const DELIVERIES_PER_STEP_MAX = 200
const WARMUP_REASON = 'our addresses are being warmed up, and sent no more there on that day'

export interface OutageOptions {
  run: Run<OutageCommands>
  clock: Clock
  /** Queue keys that are due and wait for the destination. */
  queueKeysOf(destination: string): readonly QueueKey[]
  /** Queue keys of deferred mail to the destination. Those of the domain are always included. */
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
        run('putDestinationState', {
          destination,
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
      await expire([...queueKeysOf(destination), ...unstarted.map(queueKeyOf)], WARMUP_REASON)
    },
    async end({ destination, source }, domain) {
      await run('clearDestinationState', { destination, source })
      const now = clock.now()
      for await (const queueKey of deferredQueueKeysOf(destination, domain))
        for (let after: Mark | null = null, isFirst = true; isFirst || after; isFirst = false)
          ({ after } = await run('retryBrokenOff', { queueKey, after, limit: DELIVERIES_PER_STEP_MAX, now }))
    },
  }
}

export function leaseRef({ accountId, emailId, ordinal, attempt }: ClaimedDelivery) {
  return { accountId, emailId, ordinal, attempt }
}
