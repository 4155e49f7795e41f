/** Tables of the queue: deliveries, what became of their attempts, and the sites they go to. */
import type { Id } from '../../lib/ids.ts'
import type { Flag, Json } from './values.ts'

/** A site in trouble. */
export interface SiteStateRow {
  /** As the route names it. */
  site: string
  /** Our addresses that do not go there, with a space between them; empty for all. */
  source: string
  pausedUntil: number
  pauseMs: number
  reason: string
  changedAt: number
}

/** An order of the operator. */
export interface SiteCapRow {
  site: string
  /** Messages, by all of our addresses together. */
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
 * Where a delivery stands in the queue: waiting, being attempted, out of it, not in it before its email's
 * time, or kept apart by a hold of its email or broadcast.
 */
export const DELIVERY_STATE = { waiting: 0, leased: 1, done: 2, scheduled: 3, held: 4 } as const

/** Which deliveries go first; deferred ones compete apart from fresh ones. */
export const DELIVERY_CLASS = { transactional: 0, broadcast: 1, retry: 2 } as const

/** What a delivery has that nobody is at. */
export const NO_LEASE = { leaseOwner: null, leaseUntil: null }

/** One envelope recipient of an email: the queue. */
export interface DeliveryRow {
  emailId: Id
  /** 0 to 49. */
  ordinal: number
  accountId: Id
  address: string
  /** Lower-case A-labels; deliveries of one domain share its MX hosts. */
  domain: string
  /** 1: the recipient is at the simulator. Decided when the email is accepted, see `EmailRow.simulated`. */
  simulated: Flag
  kind: RecipientKind
  class: number
  state: number
  status: DeliveryStatus
  /** Attempts begun; also the fencing token of the lease. */
  attempts: number
  nextAt: number
  expiresAt: number
  leaseOwner: string | null
  leaseUntil: number | null
  /** Of a delivery that waits; once it is done, the record of its last attempt says so. */
  lastReply: string | null
  lastMxHost: string | null
  lastAttemptAt: number | null
  /** `t=` of the signatures, epoch ms. */
  signedAt: number | null
  /** JSON `[{keyId, bytes}]`, base64, of a delivery that is tried again: the next attempt sends the same. */
  signatures: Json | null
  /** By what the signatures of a delivery that is done are known again when they are made anew. */
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
  /** What was said, packed; null where nobody knows, and in former rows, which have the columns below. */
  record: Uint8Array | null
  phase: string | null
  reply: string | null
  mxHost: string | null
  mxIp: string | null
  tls: string | null
  /** Times and replies by phase, JSON. */
  transcript: Json | null
  /** 1: the host was in trouble, and nothing is said of the recipient. */
  brokeOff: Flag | null
}
