/**
 * Commands by which the operator retries or cancels queued mail. Each call handles a bounded number of
 * deliveries, so that other commits are not delayed.
 */
import { type Cause, storedCause } from '../../resources/emails/explanation/cause.ts'
import { type DeliveryChange, recordDeliveries } from '../../resources/events/record.ts'
import { command, type QueueKey, queueKeyText, type Tx } from '../../store/model/command.ts'
import { DELIVERY_CLASS, DELIVERY_STATE } from '../../store/model/schema.ts'
import type { DeliveryKey } from './hold.ts'
import { ANY_MAIL } from './hold-rows.ts'
import { findWaiting, type Mark, type StepInput, type WaitingMail } from './waiting-mail.ts'

export interface AdminAction {
  /** Number of deliveries that this step has changed. */
  count: number
  /** Position from which the next step continues; null at the end. */
  after: Mark | null
}

const weigh = ({ limit }: StepInput) => limit

export const adminCommands = {
  /** Makes deferred deliveries due now. Their retry schedule does not change. */
  retryWaiting: command<StepInput, AdminAction>(
    async (tx, input) => {
      const { found, after } = await findWaiting(tx, input)
      return { count: await makeDue(tx, notYetDue(found, input.now), input.now), after }
    },
    { weigh },
  ),

  /**
   * Makes those deferred deliveries of a queue key due whose last attempt ended with a broken connection,
   * because their destination answers again.
   */
  retryBrokenOff: command<Pick<StepInput, 'after' | 'limit' | 'now'> & { queueKey: QueueKey }, AdminAction>(
    async (tx, { queueKey, after: former, limit, now }) => {
      const place = { kind: 'queueKey', queueKey } as const
      const { found, after } = await findWaiting(tx, { place, selector: ANY_MAIL, after: former, limit })
      const deferred = notYetDue(found, now)
      const attempts = await tx.rows.find('attempts', deferred.map(lastAttempt), ['brokeOff'])
      const brokenOff = deferred.filter((_, i) => attempts[i]?.brokeOff === 1)
      return { count: await makeDue(tx, brokenOff, now), after }
    },
  ),

  /** Cancels deliveries that wait or are held. Attempts in progress continue. */
  cancelWaiting: command<StepInput, AdminAction>(
    async (tx, input) => {
      const { found, after } = await findWaiting(tx, input)
      const attempts = await tx.rows.find('attempts', found.map(lastAttempt), ['outcome'])
      await recordDeliveries(
        tx,
        found.map((mail, i) => cancellation(mail, attempts[i]?.outcome === 'unknown', input)),
      )
      return { count: found.length, after }
    },
    { weigh },
  ),
}

function notYetDue(found: readonly WaitingMail[], now: number): WaitingMail[] {
  return found.filter(
    ({ state, class: deliveryClass, nextAt }) =>
      state === DELIVERY_STATE.waiting && deliveryClass === DELIVERY_CLASS.retry && nextAt > now,
  )
}

/** @returns the number of deliveries */
async function makeDue(tx: Tx, mail: readonly (QueueKey & DeliveryKey)[], now: number): Promise<number> {
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
 * A delivery counts as failed rather than canceled if it was deferred after a handover, or if the outcome of
 * its last attempt is unknown because the service was killed.
 */
function cancellation(
  { accountId, emailId, ordinal, address, signedAt, cause }: WaitingMail,
  mayHaveArrived: boolean,
  { now: at, by = 'operator' }: Pick<StepInput, 'now' | 'by'>,
) {
  const isFresh = signedAt === null && !mayHaveArrived
  const last = cause === null ? undefined : (JSON.parse(cause) as Cause)
  const canceled = `canceled by the ${by}`
  const reason = mayHaveArrived ? `${canceled}; it may have arrived` : canceled
  return {
    accountId,
    emailId,
    ordinal,
    recipient: address,
    at,
    event: isFresh
      ? { type: 'email.canceled', data: {} }
      : { type: 'email.failed', data: { failed: { reason } } },
    error: isFresh ? null : reason,
    handedOverAt: null,
    set: {
      status: isFresh ? 'canceled' : 'failed',
      state: DELIVERY_STATE.done,
      cause: storedCause({ code: 'given_up', by, last }),
    },
  } satisfies DeliveryChange
}
