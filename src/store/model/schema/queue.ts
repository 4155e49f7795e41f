/** Tables of the queue: deliveries, their attempts, and the state of destinations. */
import type { Id } from '../../../lib/ids.ts'
import type { Flag, Json } from './values.ts'

/** State of a destination that is paused. */
export interface DestinationStateRow {
  /** Name of the destination. */
  destination: string
  /** Source addresses that are paused, separated by blanks; empty for all. */
  source: string
  pausedUntil: number
  pauseMs: number
  reason: string
  changedAt: number
}

/** Rate limit that the operator has set for a destination. */
export interface DestinationCapRow {
  destination: string
  /** Messages per minute over all source addresses. */
  perMinute: number
  createdAt: number
}

export type RecipientKind = 'to' | 'cc' | 'bcc'

export type DeliveryStatus =
  | 'queued'
  | 'delivery_delayed'
  | 'delivered'
  | 'bounced'
  | 'complained'
  | 'suppressed'
  | 'failed'
  | 'canceled'

/**
 * State of a delivery in the queue. `scheduled`: before its time. `held`: kept by a hold or a paused
 * broadcast.
 */
export const DELIVERY_STATE = { waiting: 0, leased: 1, done: 2, scheduled: 3, held: 4 } as const

/**
 * Classes of deliveries, which share the capacity by weight. Deferred deliveries compete in their own class.
 */
export const DELIVERY_CLASS = { transactional: 0, broadcast: 1, retry: 2 } as const

/** Columns of a delivery without a lease. */
export const NO_LEASE = { leaseOwner: null, leaseUntil: null, leasedAt: null }

/** A delivery: one envelope recipient of an email. */
export interface DeliveryRow {
  emailId: Id
  /** Index of the recipient in the email, 0 to 49. */
  ordinal: number
  accountId: Id
  address: string
  /** Domain in lower-case A-labels. Deliveries of one domain share its MX hosts. */
  domain: string
  /** 1: the recipient is at the simulator. Decided when the email is accepted, see `EmailRow.simulated`. */
  simulated: Flag
  kind: RecipientKind
  class: number
  state: number
  status: DeliveryStatus
  /** Number of attempts that were started; also the fencing token of the lease. */
  attempts: number
  nextAt: number
  expiresAt: number
  leaseOwner: string | null
  leaseUntil: number | null
  /** Time of the claim. */
  leasedAt: number | null
  /** Last reply of a waiting delivery; when it is done, the record of its last attempt has it. */
  lastReply: string | null
  lastMxHost: string | null
  lastAttemptAt: number | null
  /** Reason of the last result that was not a success, as JSON. Read by `readCause`. */
  cause: Json | null
  /** Time of the signatures (`t=`), in ms since the epoch. */
  signedAt: number | null
  /** JSON `[{keyId, bytes}]`, base64, of a deferred delivery: the next attempt sends the same signatures. */
  signatures: Json | null
  /** Fingerprint by which the signatures of a finished delivery are verified when they are made again. */
  proof: Uint8Array | null
}

/** `unknown`: the process died while the attempt was under way. */
export type AttemptOutcome = 'delivered' | 'deferred' | 'bounced' | 'unknown'

export interface AttemptRow {
  emailId: Id
  ordinal: number
  number: number
  startedAt: number
  finishedAt: number | null
  outcome: AttemptOutcome
  /**
   * Packed record of the SMTP dialogue; null when it is unknown, and in rows of older versions, which use the
   * columns below.
   */
  record: Uint8Array | null
  phase: string | null
  reply: string | null
  mxHost: string | null
  mxIp: string | null
  tls: string | null
  /** JSON of times and replies by phase. */
  transcript: Json | null
  /** 1 when the host failed, so that the attempt says nothing about the recipient. */
  brokeOff: Flag | null
}
