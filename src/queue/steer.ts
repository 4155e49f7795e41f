/** What the operator does to mail that waits: it is tried now, or canceled. Commands that do a part of it each. */
import { type DeliveryChange, recordDeliveries } from '../events/record.ts'
import { command, type Lane, laneKey } from '../store/command.ts'
import { DELIVERY_CLASS, DELIVERY_STATE } from '../store/schema.ts'
import { findWaiting, type Mark, type StepInput, type WaitingMail } from './waiting-mail.ts'

export interface Steered {
  /** Deliveries changed by this step. */
  count: number
  /** Where the next one begins; null at the end. */
  after: Mark | null
}

const weigh = ({ limit }: StepInput) => limit
const CANCELED = 'canceled by the operator'

export const steerCommands = {
  /** Deferred deliveries are due at once, without a change of their schedule. */
  retryWaiting: command<StepInput, Steered>(
    async (tx, input) => {
      const { found, after } = await findWaiting(tx, input)
      const early = found.filter(
        ({ state, class: laneClass, nextAt }) =>
          state === DELIVERY_STATE.waiting && laneClass === DELIVERY_CLASS.retry && nextAt > input.now,
      )
      await tx.rows.update(
        'deliveries',
        ['emailId', 'ordinal'],
        early.map(({ emailId, ordinal }) => ({ emailId, ordinal, nextAt: input.now })),
      )
      const lanes = new Map<string, Lane>(early.map(row => [laneKey(row), row]))
      for (const { domain, class: laneClass, accountId } of lanes.values())
        tx.announce('due', { domain, class: laneClass, accountId, at: input.now })
      return { count: early.length, after }
    },
    { weigh },
  ),

  /** What is under way goes on. */
  cancelWaiting: command<StepInput, Steered>(
    async (tx, input) => {
      const { found, after } = await findWaiting(tx, input)
      await recordDeliveries(
        tx,
        found.map(mail => cancellation(mail, input.now)),
      )
      return { count: found.length, after }
    },
    { weigh },
  ),
}

/** What had been handed over, and was deferred, has failed. */
function cancellation({ accountId, emailId, ordinal, address, signedAt }: WaitingMail, at: number) {
  const isFresh = signedAt === null
  return {
    ...{ accountId, emailId, ordinal, recipient: address, at },
    event: isFresh
      ? { type: 'email.canceled', data: {} }
      : { type: 'email.failed', data: { failed: { reason: CANCELED } } },
    error: isFresh ? null : CANCELED,
    handedOverAt: null,
    set: { status: isFresh ? 'canceled' : 'failed', state: DELIVERY_STATE.done },
  } satisfies DeliveryChange
}
