/**
 * The operator's impatience: deferred deliveries of a domain become due at once, without a change of their
 * schedule.
 */
import { command, type QueueKey, queueKeyText } from '../../store/command.ts'
import { DELIVERY_CLASS, DELIVERY_STATE } from '../../store/schema.ts'

export const retryCommands = {
  /**
   * Part of the deferred deliveries of a domain, so that no group is held up by all of them.
   * @returns how many are due now that were not before; fewer than `limit` when there are no more
   */
  retryNow: command<{ domain: string; now: number; limit: number }, number>(
    async (tx, { domain, now, limit }) => {
      const rows = await tx.db
        .selectFrom('deliveries')
        .select(['emailId', 'ordinal', 'domain', 'class', 'accountId'])
        .where('state', '=', DELIVERY_STATE.waiting)
        .where('domain', '=', domain)
        .where('class', '=', DELIVERY_CLASS.retry)
        .where('nextAt', '>', now)
        .limit(limit)
        .execute()
      await tx.rows.update(
        'deliveries',
        ['emailId', 'ordinal'],
        rows.map(({ emailId, ordinal }) => ({ emailId, ordinal, nextAt: now })),
      )
      const queueKeys = new Map<string, QueueKey>(rows.map(row => [queueKeyText(row), row]))
      for (const { accountId, class: deliveryClass } of queueKeys.values())
        tx.announce('due', { domain, class: deliveryClass, accountId, at: now })
      return rows.length
    },
  ),
}
