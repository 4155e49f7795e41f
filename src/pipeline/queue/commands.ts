/**
 * What moves deliveries through the queue: leases are taken, given back, finished, and voided after a crash.
 */

import { type Id, idKey } from '../../lib/ids.ts'
import { foldAddress } from '../../protocols/smtp/address.ts'
import type { EmailSource } from '../../resources/emails/email-source.ts'
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
} from '../../store/command.ts'
import {
  type AttemptOutcome,
  type AttemptRow,
  DELIVERY_CLASS,
  DELIVERY_STATE,
  type DeliveryStatus,
  NO_LEASE,
} from '../../store/schema.ts'
import { type Arrival, countArrivals, type Destination } from './destinations.ts'
import { holdEmails } from './hold.ts'
import { inOrder, openHoldFilter } from './hold-filter.ts'
import { ineligibleOf, withheld } from './recipient-eligibility.ts'

/** Names one attempt of one delivery; good only while the lease is. */
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

interface VoidInput {
  owner: string | null
  now: number
  /** Epoch ms; leases that are good for longer stay. */
  expiredBy?: number
  /** How long leases are good, which tells when they were last known to be held. */
  leaseMs: number
  /** What becomes of the deliveries; `retry` when absent. */
  onUnknown?: UnknownPolicy
}

/** Mail that may have arrived is sent again, or held until the operator has decided. */
export type UnknownPolicy = 'retry' | 'hold'

/** How an attempt ended, ready to be recorded. */
export interface Finish extends LeaseRef {
  address: string
  domain: string
  startedAt: number
  finishedAt: number
  /** When the message was signed and handed to the transfer agent; null when it never was. */
  handedOverAt: number | null
  status: DeliveryStatus
  outcome: AttemptOutcome
  /** Of a deferred delivery: when to try again. */
  nextAt: number | null
  event: { type: EventType; data: EventData }
  error: string | null
  /** The address takes no mail: no further mail of this account goes to it. */
  suppress: boolean
  signedAt: number | null
  /** For the next attempt. */
  signatures: string | null
  /** See `pipeline/delivery/message/signature-fingerprint.ts`; where there is no next attempt. */
  proof: Uint8Array | null
  /** Where it went; absent where that is not counted. */
  destination?: Destination
  /** Of those who were spoken to, and what they said; packed, too. */
  record: Pick<AttemptRow, 'reply' | 'mxHost' | 'brokeOff'> & { packed: Uint8Array }
}

export const queueCommands = {
  /**
   * Leases due deliveries, but for those that the operator holds; those whose address has been suppressed
   * meanwhile, or who have left what a broadcast goes to, are finished instead.
   */
  claim: concurrent(
    command<ClaimInput, Claim[]>(async (tx, { queueKeys, owner, now, leaseUntil }) => {
      const sieve = await openHoldFilter(tx)
      const open = sieve.open(queueKeys)
      const claims = await tx.queue.claim(open, { owner, now, until: leaseUntil })
      for (const claim of claims) claim.deliveries = await sieve.sift(claim.deliveries, now)
      const unwanted = await ineligibleOf(
        tx,
        claims.map(({ deliveries }, i) => ({ queueKey: open[i]!, deliveries })),
      )
      if (unwanted.size > 0)
        await recordDeliveries(
          tx,
          [...unwanted].map(([delivery, reason]) => withheld(delivery, reason, now)),
        )
      const taken = claims.map(({ deliveries, nextAt }) => ({
        deliveries: deliveries
          .filter(delivery => !unwanted.has(delivery))
          .map(delivery => withSource(delivery, tx.recent.take(delivery.emailId))),
        nextAt,
      }))
      return inOrder(queueKeys, open, taken, { deliveries: [], nextAt: null })
    }),
  ),

  /** The results of attempts. False for one whose lease is no longer good: nothing of it is recorded. */
  finish: concurrent(
    batchCommand<Finish, boolean>(async (tx, finishes) => {
      const rows = await tx.rows.lock('deliveries', finishes.map(rowKey), ['state', 'attempts', 'status'])
      const good = finishes.map(
        ({ attempt }, i) => rows[i]?.state === DELIVERY_STATE.leased && rows[i].attempts === attempt,
      )
      const valid = finishes.filter((_, i) => good[i])
      const formerStatus = rows.filter((_, i) => good[i]).map(row => row!.status)
      await tx.rows.insert('attempts', valid.map(attemptRow))
      await recordDeliveries(
        tx,
        valid.map((finish, i) => changeOf(finish, formerStatus[i]!)),
      )
      await suppress(tx, valid)
      await countArrivals(tx, valid.flatMap(arrivalOf))
      for (const { domain, accountId, nextAt } of valid)
        if (nextAt !== null)
          tx.announce('due', { domain, class: DELIVERY_CLASS.retry, accountId, at: nextAt })
      return good
    }),
    ({ accountId, address, suppress }) =>
      suppress ? [`suppression ${idKey(accountId)}${foldAddress(address)}`] : [],
  ),

  /** Gives leases back whose attempts were not begun: they are due again. */
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

  /** An attempt takes its time: its email counts as sent from now on. */
  handedOver: concurrent(
    batchCommand<{ accountId: Id; emailId: Id; at: number }, void>(async (tx, inputs) => {
      await recordHandedOver(tx, inputs)
      return inputs.map(() => undefined)
    }),
  ),

  /** Leases are good until then, if they still are, or have run out and nobody has voided them yet. */
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
   * Voids the leases of a thread that died, those of everybody (null), or of them only those that have run
   * out: what became of their attempts is unknown, and they are due at once, or held with their emails.
   * @returns how many there were
   */
  voidLeases: command<VoidInput, number>(async (tx, input) => {
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

const UNKNOWN_OUTCOME_REASON = 'the service ended in the middle of an attempt: it may have arrived'

function rowKey({ emailId, ordinal }: { emailId: Id; ordinal: number }) {
  return { emailId, ordinal }
}

function attemptRow(finish: Finish): Partial<AttemptRow> {
  const { emailId, ordinal, attempt: number, startedAt, finishedAt, outcome, record } = finish
  const { packed, brokeOff } = record
  return { emailId, ordinal, number, startedAt, finishedAt, outcome, record: packed, brokeOff }
}

/** A recipient's delay is told once, at its first deferral. */
function changeOf(finish: Finish, formerStatus: DeliveryStatus): DeliveryChange {
  const { accountId, emailId, ordinal, address, status, nextAt, error, finishedAt, handedOverAt } = finish
  const { signedAt, signatures, proof } = finish
  const deferred = nextAt !== null
  const told = status === 'delivery_delayed' && formerStatus === 'delivery_delayed'
  return {
    accountId,
    emailId,
    ordinal,
    recipient: address,
    event: told ? null : toldOf(finish),
    error,
    at: finishedAt,
    handedOverAt,
    set: {
      status,
      ...NO_LEASE,
      state: deferred ? DELIVERY_STATE.waiting : DELIVERY_STATE.done,
      ...(deferred ? { nextAt, class: DELIVERY_CLASS.retry } : {}),
      lastReply: deferred ? finish.record.reply : null,
      lastMxHost: deferred ? finish.record.mxHost : null,
      lastAttemptAt: finishedAt,
      ...(finish.signedAt === null ? {} : { signedAt, signatures, proof }),
    },
  }
}

/** What a delivery tells is what its attempt has recorded. */
function toldOf({ outcome, event, ordinal, attempt: number }: Finish): DeliveryChange['event'] {
  return outcome === 'delivered' ? { ...event, attempt: { ordinal, number } } : event
}

function arrivalOf({ domain, finishedAt, destination, record: { reply } }: Finish): Arrival[] {
  return destination ? [{ domain, finishedAt, reply, destination }] : []
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
