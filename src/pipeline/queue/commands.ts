/**
 * The commands that move deliveries through the queue. A delivery waits until it is due, is leased by a
 * delivery worker, and is finished, deferred or returned by it; the leases of a worker that has died are
 * reclaimed.
 *
 * The folder as a whole: in come deliveries that `accept` and `broadcasts` have stored, and orders of the
 * operator (hold, retry, cancel). Out go leased deliveries and, after each attempt, events. `delivery` claims
 * through `scheduler.ts` and records results through `finish`; the HTTP API and the command line use
 * `queue-admin.ts` and `view.ts`. All commands run on the writer thread.
 */

import { type Id, idKey } from '../../lib/ids.ts'
import { foldAddress } from '../../protocols/smtp/address.ts'
import type { EmailSource } from '../../resources/emails/email-source.ts'
import { storedCause } from '../../resources/emails/explanation/cause.ts'
import { type DeliveryChange, recordDeliveries, recordHandedOver } from '../../resources/events/record.ts'
import type { EventData, EventType } from '../../resources/events/types.ts'
import { addSuppressions } from '../../resources/suppressions/suppression-rows.ts'
import {
  batchCommand,
  type Claim,
  type ClaimedDelivery,
  command,
  concurrent,
  type QueueKey,
  type Tx,
} from '../../store/model/command.ts'
import {
  type AttemptOutcome,
  type AttemptRow,
  DELIVERY_CLASS,
  DELIVERY_STATE,
  type DeliveryRow,
  type DeliveryStatus,
  NO_LEASE,
} from '../../store/model/schema.ts'
import { type MeasuredAttempt, tallyAttempts } from './attempt-figures.ts'
import { type Arrival, type CountedResult, countArrivals } from './destinations.ts'
import { holdEmails } from './hold.ts'
import { claimsInOrder, openHoldFilter } from './hold-filter.ts'
import { ineligibleOf, suppressedChange } from './recipient-eligibility.ts'

/** Identifies one attempt of one delivery. Commands ignore it once the lease is lost. */
export interface LeaseRef {
  accountId: Id
  emailId: Id
  ordinal: number
  attempt: number
}

interface ClaimInput {
  queueKeys: (QueueKey & { limit: number })[]
  owner: string
  now: number
  leaseUntil: number
}

interface ReclaimInput {
  /** Null reclaims the leases of all owners. */
  owner: string | null
  now: number
  /** Time in ms since the epoch; leases that expire later stay. */
  expiredBy?: number
  /** Duration of a lease in ms, from which the start of the lost attempt is derived. */
  leaseMs: number
  /** The default is `retry`. */
  onUnknown?: UnknownPolicy
}

/** Whether mail that may have arrived is sent again, or held until the operator decides. */
export type UnknownPolicy = 'retry' | 'hold'

/** Result of an attempt, ready to be stored. */
export interface Finish extends LeaseRef {
  address: string
  domain: string
  startedAt: number
  finishedAt: number
  /** Start of the attempt; null when no message was built for it. Its email then counts as sent. */
  handedOverAt: number | null
  status: DeliveryStatus
  outcome: AttemptOutcome
  /** Time of the next attempt of a deferred delivery, in ms since the epoch; null otherwise. */
  nextAt: number | null
  event: { type: EventType; data: EventData }
  error: string | null
  /** `storedCause` of the result; null for a success. */
  cause: string | null
  /** The address does not exist: it is added to the account's suppressions. */
  suppress: boolean
  signedAt: number | null
  /** DKIM signatures that the next attempt uses again. */
  signatures: string | null
  /** Set on the last attempt only; see `pipeline/delivery/message/signature-fingerprint.ts`. */
  proof: Uint8Array | null
  /** Absent when the result is not counted by destination. */
  counted?: CountedResult
  /** Attributes for the metrics of the process. */
  measured?: MeasuredAttempt
  /** Hosts that were tried, and their replies; `packed` holds the whole SMTP transcript. */
  record: Pick<AttemptRow, 'reply' | 'mxHost' | 'brokeOff'> & { packed: Uint8Array }
}

export const queueCommands = {
  /**
   * Leases due deliveries that are not held. Deliveries whose recipient has been suppressed meanwhile, or has
   * left the audience or topic of the broadcast, are finished without an attempt.
   */
  claim: concurrent(
    command<ClaimInput, Claim[]>(async (tx, { queueKeys, owner, now, leaseUntil }) => {
      const holds = await openHoldFilter(tx)
      const open = holds.claimable(queueKeys)
      const claims = await tx.queue.claim(open, { owner, now, until: leaseUntil })
      for (const claim of claims) claim.deliveries = await holds.parkHeld(claim.deliveries, now)
      const ineligible = await ineligibleOf(
        tx,
        claims.flatMap(({ deliveries }) => deliveries),
      )
      if (ineligible.size > 0)
        await recordDeliveries(
          tx,
          [...ineligible].map(([delivery, reason]) => suppressedChange(delivery, reason, now)),
        )
      const taken = claims.map(({ deliveries, nextAt }) => ({
        deliveries: deliveries
          .filter(delivery => !ineligible.has(delivery))
          .map(delivery => withSource(delivery, tx.recent.take(delivery.emailId))),
        nextAt,
      }))
      return claimsInOrder(queueKeys, open, taken, { deliveries: [], nextAt: null })
    }),
  ),

  /** Stores the results of attempts. Returns false for a result whose lease was lost; it is not stored. */
  finish: concurrent(
    batchCommand<Finish, boolean>(async (tx, finishes) => {
      const rows = await tx.rows.lock('deliveries', finishes.map(rowKey), FINISHED_COLUMNS)
      const isValid = finishes.map(
        ({ attempt }, i) => rows[i]?.state === DELIVERY_STATE.leased && rows[i].attempts === attempt,
      )
      const valid = finishes.filter((_, i) => isValid[i])
      const former = rows.filter((_, i) => isValid[i])
      await tx.rows.insert('attempts', valid.map(attemptRow))
      await recordDeliveries(
        tx,
        valid.map((finish, i) => changeOf(finish, former[i]!)),
      )
      await suppress(tx, valid)
      tallyAttempts(tx, valid)
      await countArrivals(tx, valid.flatMap(arrivalOf))
      for (const { domain, accountId, nextAt } of valid)
        if (nextAt !== null)
          tx.announce('due', { domain, class: DELIVERY_CLASS.retry, accountId, at: nextAt })
      return isValid
    }),
    ({ accountId, address, suppress }) =>
      suppress ? [`suppression ${idKey(accountId)}${foldAddress(address)}`] : [],
  ),

  /** Returns leases whose attempts have not started. The deliveries are due again. */
  release: concurrent(
    batchCommand<LeaseRef, void>(async (tx, refs) => {
      const rows = await tx.rows.lock('deliveries', refs.map(rowKey), [
        'state',
        'attempts',
        'domain',
        'class',
        'nextAt',
      ])
      const isValid = ({ attempt }: LeaseRef, i: number) =>
        rows[i]?.state === DELIVERY_STATE.leased && rows[i].attempts === attempt
      const valid = refs.filter(isValid)
      await tx.rows.update(
        'deliveries',
        ['emailId', 'ordinal'],
        valid.map(ref => ({
          ...rowKey(ref),
          ...NO_LEASE,
          state: DELIVERY_STATE.waiting,
          attempts: ref.attempt - 1,
        })),
      )
      for (const [i, ref] of refs.entries()) {
        if (!isValid(ref, i)) continue
        const { domain, class: deliveryClass, nextAt: at } = rows[i]!
        tx.announce('due', { domain, class: deliveryClass, accountId: ref.accountId, at })
      }
      return refs.map(() => undefined)
    }),
  ),

  /** Marks the email of a slow attempt as sent before the attempt has ended. */
  handedOver: concurrent(
    batchCommand<{ accountId: Id; emailId: Id; at: number }, void>(async (tx, inputs) => {
      await recordHandedOver(tx, inputs)
      return inputs.map(() => undefined)
    }),
  ),

  /** Extends leases, including those that have expired and have not been reclaimed yet. */
  renewLeases: concurrent(
    command<{ leases: LeaseRef[]; until: number }, void>(async (tx, { leases, until }) => {
      const rows = await tx.rows.lock('deliveries', leases.map(rowKey), ['state', 'attempts'])
      const held = leases.filter(
        ({ attempt }, i) => rows[i]?.state === DELIVERY_STATE.leased && rows[i].attempts === attempt,
      )
      await tx.rows.update(
        'deliveries',
        ['emailId', 'ordinal'],
        held.map(lease => ({ ...rowKey(lease), leaseUntil: until })),
      )
    }),
  ),

  /**
   * Takes leases back from workers that have died. The outcome of their attempts is recorded as unknown; the
   * deliveries are due at once, or their emails are held.
   * @returns the number of leases
   */
  reclaimLeases: command<ReclaimInput, number>(async (tx, input) => {
    const { owner, now, expiredBy, leaseMs, onUnknown = 'retry' } = input
    const isHeld = onUnknown === 'hold'
    let leased = tx.db
      .selectFrom('deliveries')
      .select(['emailId', 'ordinal', 'attempts', 'domain', 'class', 'accountId', 'leaseUntil'])
      .where('state', '=', DELIVERY_STATE.leased)
    if (owner !== null) leased = leased.where('leaseOwner', '=', owner)
    if (expiredBy !== undefined) leased = leased.where('leaseUntil', '<=', expiredBy)
    const rows = await leased.execute()
    await tx.rows.insert(
      'attempts',
      rows.map(({ emailId, ordinal, attempts: number, leaseUntil }) => ({
        emailId,
        ordinal,
        number,
        startedAt: Math.min(now, (leaseUntil ?? now) - leaseMs),
        outcome: 'unknown' as const,
      })),
    )
    await tx.rows.update(
      'deliveries',
      ['emailId', 'ordinal'],
      rows.map(({ emailId, ordinal }) => ({
        emailId,
        ordinal,
        ...NO_LEASE,
        state: isHeld ? DELIVERY_STATE.held : DELIVERY_STATE.waiting,
        nextAt: now,
        cause: UNCONFIRMED,
      })),
    )
    if (isHeld) {
      const emailIds = rows.map(({ emailId }) => emailId)
      await holdEmails(tx, emailIds, { reason: UNKNOWN_OUTCOME_REASON, now })
      return rows.length
    }
    for (const { domain, class: deliveryClass, accountId } of rows)
      tx.announce('due', { domain, class: deliveryClass, accountId, at: now })
    return rows.length
  }),
}

const UNCONFIRMED = storedCause({ code: 'unconfirmed' })
const UNKNOWN_OUTCOME_REASON = 'the service ended in the middle of an attempt: it may have arrived'

const FINISHED_COLUMNS = ['state', 'attempts', 'status', 'expiresAt'] as const

function rowKey({ emailId, ordinal }: { emailId: Id; ordinal: number }) {
  return { emailId, ordinal }
}

function attemptRow(finish: Finish): Partial<AttemptRow> {
  const { emailId, ordinal, attempt: number, startedAt, finishedAt, outcome, record } = finish
  const { packed, brokeOff } = record
  return { emailId, ordinal, number, startedAt, finishedAt, outcome, record: packed, brokeOff }
}

/** Only the first deferral of a recipient is reported as an event. */
function changeOf(
  finish: Finish,
  { status: formerStatus, expiresAt }: Pick<DeliveryRow, 'status' | 'expiresAt'>,
): DeliveryChange {
  const { accountId, emailId, ordinal, address, status, nextAt, error, finishedAt, handedOverAt } = finish
  const { signedAt, signatures, proof } = finish
  const deferred = nextAt !== null
  const isRepeatedDelay = status === 'delivery_delayed' && formerStatus === 'delivery_delayed'
  return {
    accountId,
    emailId,
    ordinal,
    recipient: address,
    event: isRepeatedDelay ? null : eventOf(finish),
    error,
    at: finishedAt,
    handedOverAt,
    expiresAt,
    set: {
      status,
      ...NO_LEASE,
      state: deferred ? DELIVERY_STATE.waiting : DELIVERY_STATE.done,
      ...(deferred ? { nextAt, class: DELIVERY_CLASS.retry } : {}),
      lastReply: deferred ? finish.record.reply : null,
      lastMxHost: deferred ? finish.record.mxHost : null,
      lastAttemptAt: finishedAt,
      cause: finish.cause,
      ...(finish.signedAt === null ? {} : { signedAt, signatures, proof }),
    },
  }
}

/** The event of a delivered attempt refers to the attempt, so that its data is stored once. */
function eventOf({ outcome, event, ordinal, attempt: number }: Finish): DeliveryChange['event'] {
  return outcome === 'delivered' ? { ...event, attempt: { ordinal, number } } : event
}

function arrivalOf({ domain, finishedAt, counted, record: { reply } }: Finish): Arrival[] {
  return counted ? [{ domain, finishedAt, reply, counted }] : []
}

function withSource(delivery: ClaimedDelivery, source: EmailSource | undefined): ClaimedDelivery {
  return source ? { ...delivery, source } : delivery
}

async function suppress(tx: Tx, finishes: readonly Finish[]) {
  await addSuppressions(
    tx,
    finishes
      .filter(finish => finish.suppress)
      .map(({ accountId, address, emailId: sourceId, finishedAt: at }) => ({
        accountId,
        email: foldAddress(address),
        reason: 'bounce' as const,
        sourceId,
        at,
      })),
  )
}
