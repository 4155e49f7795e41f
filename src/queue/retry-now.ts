/** The operator's impatience: deferred deliveries of a domain become due at once, without a change of their schedule. */
import type { ExpressionBuilder } from 'kysely'
import { command, type Lane, laneKey } from '../store/command.ts'
import { DELIVERY_CLASS, DELIVERY_STATE, type Schema } from '../store/schema.ts'

export const retryCommands = {
  /**
   * Part of the deferred deliveries of a domain, so that no group is held up by all of them.
   * @param input.brokenOff only those whose last attempt never came to a recipient: the host was in trouble
   * @returns how many are due now that were not before; fewer than `limit` when there are no more
   */
  retryNow: command<{ domain: string; now: number; limit: number; brokenOff?: boolean }, number>(
    async (tx, { domain, now, limit, brokenOff = false }) => {
      let deferred = tx.db
        .selectFrom('deliveries')
        .select(['emailId', 'ordinal', 'domain', 'class', 'accountId'])
        .where('state', '=', DELIVERY_STATE.waiting)
        .where('domain', '=', domain)
        .where('class', '=', DELIVERY_CLASS.retry)
        .where('nextAt', '>', now)
      if (brokenOff) deferred = deferred.where(lastAttemptBrokeOff)
      const rows = await deferred.limit(limit).execute()
      await tx.rows.update(
        'deliveries',
        ['emailId', 'ordinal'],
        rows.map(({ emailId, ordinal }) => ({ emailId, ordinal, nextAt: now })),
      )
      const lanes = new Map<string, Lane>(rows.map(row => [laneKey(row), row]))
      for (const { accountId, class: laneClass } of lanes.values())
        tx.announce('due', { domain, class: laneClass, accountId, at: now })
      return rows.length
    },
  ),
}

/** Steps before a recipient is named; before all others, finding the hosts. */
const HOST_PHASES = ['dns', 'connect', 'banner', 'ehlo', 'starttls', 'tls', 'auth', 'mail']

function lastAttemptBrokeOff(eb: ExpressionBuilder<Schema, 'deliveries'>) {
  return eb.exists(
    eb
      .selectFrom('attempts')
      .select('attempts.number')
      .whereRef('attempts.emailId', '=', 'deliveries.emailId')
      .whereRef('attempts.ordinal', '=', 'deliveries.ordinal')
      .whereRef('attempts.number', '=', 'deliveries.attempts')
      .where('attempts.phase', 'in', HOST_PHASES),
  )
}
