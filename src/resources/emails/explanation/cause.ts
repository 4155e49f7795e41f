/** The reason of the last result of a delivery, as it is stored with the delivery. */
import { classify, type Meaning } from '../../../protocols/bounces/classify.ts'
import type { BounceClass } from '../../../protocols/bounces/rules/bounce-class.ts'
import { parseReplyLine, replyOf } from '../../../protocols/smtp/reply.ts'
import type { AttemptRow, DeliveryRow } from '../../../store/model/schema.ts'
import type { ExplanationCode } from './codes.ts'

export interface Cause {
  code: ExplanationCode
  /** The host that gave the result. */
  host?: string
  /** SMTP phase of a timeout or a broken connection. */
  phase?: string
  /** Who or what decided: a blocklist, a TLS policy, the origin of a suppression, or who gave up. */
  by?: string
  /** Whether the result put the address on the suppression list. */
  suppresses?: true
  /** Reason of the last attempt before the delivery expired or was given up. */
  last?: Cause | undefined
}

const BY_CLASS: Record<BounceClass, ExplanationCode | null> = {
  'invalid-recipient': 'no_such_user',
  'inactive-mailbox': 'mailbox_inactive',
  'bad-domain': 'domain_rejected',
  'mailbox-full': 'mailbox_full',
  'message-too-large': 'too_large',
  content: 'content_rejected',
  attachment: 'attachment_rejected',
  spam: 'spam',
  blocked: 'blocked',
  policy: 'policy',
  authentication: 'authentication_failed',
  sender: 'sender_rejected',
  greylisted: 'greylisted',
  'rate-limited': 'throttled',
  'too-many-recipients': 'too_many_recipients',
  protocol: 'protocol_error',
  'no-route': 'domain_rejected',
  unknown: null,
}

/** Returns the cause of a negative reply, by its class. */
export function causeOfClass(bounceClass: BounceClass, isFinal: boolean): Cause {
  return { code: BY_CLASS[bounceClass] ?? (isFinal ? 'rejected' : 'deferred') }
}

/** Returns the cause of a negative reply. */
export function causeOfReply({ class: bounceClass, action, detail, list }: Meaning): Cause {
  if (detail) return { code: detail }
  return { ...causeOfClass(bounceClass, action === 'bounce'), ...(list && { by: list }) }
}

/** Phases of an attempt in which the server answers commands about the message. */
const TRANSACTION = ['mail', 'rcpt', 'data', 'final-dot'] as const

type ExplainedDelivery = Pick<DeliveryRow, 'cause' | 'status' | 'lastReply' | 'lastMxHost'>

/**
 * Reads the cause of a delivery. Rows of version 0.1.0 have none: theirs follows from the reply in the
 * record of the last attempt.
 */
export function readCause(
  delivery: ExplainedDelivery,
  last: Pick<AttemptRow, 'outcome' | 'phase' | 'reply' | 'mxHost'> | undefined,
): Cause | undefined {
  if (delivery.cause !== null) return JSON.parse(delivery.cause) as Cause
  const { status } = delivery
  if (status === 'suppressed' || status === 'canceled') return { code: status }
  const text = delivery.lastReply ?? last?.reply
  if (text == null || status === 'delivered' || status === 'complained') return undefined
  const host = delivery.lastMxHost ?? last?.mxHost
  const line = parseReplyLine(text)
  if (!line || line.code < 400)
    return {
      code: status === 'failed' ? 'not_sendable' : last?.phase === 'dns' ? 'dns_failed' : 'connection_failed',
    }
  const phase = TRANSACTION.find(known => known === last?.phase) ?? 'host'
  const cause = causeOfReply(classify({ ...replyOf(line.code, [line.text]), phase }))
  return { ...cause, ...(host && { host }) }
}

/** Stores a cause; undefined stays null. */
export function storedCause(cause: Cause | undefined): string | null {
  return cause ? JSON.stringify(cause) : null
}
