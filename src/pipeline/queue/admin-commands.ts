/**
 * What the operator does to mail that waits: it is tried now, or canceled. Commands that do a part of it
 * each.
 */
import { type DeliveryChange, recordDeliveries } from '../../resources/events/record.ts'
import { command, type QueueKey, queueKeyText, type Tx } from '../../store/command.ts'
import { DELIVERY_CLASS, DELIVERY_STATE } from '../../store/schema.ts'
import { findWaiting, type Mark, type StepInput, type WaitingMail } from './waiting-mail.ts'

export interface AdminAction {
  /** Deliveries changed by this step. */
  count: number
  /** Where the next one begins; null at the end. */
  after: Mark | null
}

const weigh = ({ limit }: StepInput) => limit
const CANCELED = 'canceled by the operator'
const ANY_MAIL = { domain: null, accountId: null, broadcastId: null, emailId: null }

export const adminCommands = {
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

  /** Deferred deliveries are due at once, without a change of their schedule. */
  retryWaiting: command<StepInput, AdminAction>(
    async (tx, input) => {
      const { found, after } = await findWaiting(tx, input)
      return { count: await makeDue(tx, earlyOf(found, input.now), input.now), after }
    },
    { weigh },
  ),

  /**
   * Of a queue key, those alone whose last attempt broke off: the host was in trouble, and is not any more.
   */
  retryBrokenOff: command<Pick<StepInput, 'after' | 'limit' | 'now'> & { queueKey: QueueKey }, AdminAction>(
    async (tx, { queueKey, after: former, limit, now }) => {
      const place = { kind: 'queueKey', queueKey } as const
      const { found, after } = await findWaiting(tx, { place, selector: ANY_MAIL, after: former, limit })
      const early = earlyOf(found, now)
      const attempts = await tx.rows.find('attempts', early.map(lastAttempt), ['brokeOff'])
      const brokenOff = early.filter((_, i) => attempts[i]?.brokeOff === 1)
      return { count: await makeDue(tx, brokenOff, now), after }
    },
  ),

  /** What is under way goes on. */
  cancelWaiting: command<StepInput, AdminAction>(
    async (tx, input) => {
      const { found, after } = await findWaiting(tx, input)
      const attempts = await tx.rows.find('attempts', found.map(lastAttempt), ['outcome'])
      await recordDeliveries(
        tx,
        found.map((mail, i) => cancellation(mail, attempts[i]?.outcome === 'unknown', input.now)),
      )
      return { count: found.length, after }
    },
    { weigh },
  ),
}

function earlyOf(found: readonly WaitingMail[], now: number): WaitingMail[] {
  return found.filter(
    ({ state, class: deliveryClass, nextAt }) =>
      state === DELIVERY_STATE.waiting && deliveryClass === DELIVERY_CLASS.retry && nextAt > now,
  )
}

/** @returns how many there are */
async function makeDue(tx: Tx, mail: readonly WaitingMail[], now: number): Promise<number> {
  await tx.rows.update(
    'deliveries',
    ['emailId', 'ordinal'],
    mail.map(({ emailId, ordinal }) => ({ emailId, ordinal, nextAt: now })),
  )
  const queueKeys = new Map<string, QueueKey>(mail.map(row => [queueKeyText(row), row]))
  for (const { domain, class: deliveryClass, accountId } of queueKeys.values())
    tx.announce('due', { domain, class: deliveryClass, accountId, at: now })
  return mail.length
}

function lastAttempt({ emailId, ordinal, attempts: number }: WaitingMail) {
  return { emailId, ordinal, number }
}

/**
 * What had been handed over, and was deferred, has failed; and so has what may have been, when the service
 * was killed.
 */
function cancellation(
  { accountId, emailId, ordinal, address, signedAt }: WaitingMail,
  mayHaveArrived: boolean,
  at: number,
) {
  const isFresh = signedAt === null && !mayHaveArrived
  const reason = mayHaveArrived ? `${CANCELED}; it may have arrived` : CANCELED
  return {
    ...{ accountId, emailId, ordinal, recipient: address, at },
    event: isFresh
      ? { type: 'email.canceled', data: {} }
      : { type: 'email.failed', data: { failed: { reason } } },
    error: isFresh ? null : reason,
    handedOverAt: null,
    set: { status: isFresh ? 'canceled' : 'failed', state: DELIVERY_STATE.done },
  } satisfies DeliveryChange
}
