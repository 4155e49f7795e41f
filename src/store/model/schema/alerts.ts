/** Tables of alerts to the operator, of their silences, and of what was sent of them. */
import type { Id } from '../../../lib/ids.ts'

/** What an alert is about. The rows of an alert that lasts for hours have the same condition. */
export interface AlertCondition {
  kind: string
  /** Subject of the alert: a mailbox provider, an account, a disk; empty when it has none. */
  provider: string
  /** Source address; empty when the system chooses it. */
  sourceIp: string
}

/** A condition that needs the operator's attention, with the first reply of the hour that showed it. */
export interface OperatorAlertRow extends AlertCondition {
  /** Start of the hour, in ms since the epoch. */
  hour: number
  raisedAt: number
  /** When the condition ended; null while it lasts, and for what has no end, such as a reply. */
  endedAt?: number | null | undefined
  mxHost: string | null
  domain: string
  reply: string
}

/** Silence of alerts. An empty provider or source address stands for all. */
export interface AlertSilenceRow extends AlertCondition {
  until: number
  /** Operator who silenced them: an email address, or the name of an access token. */
  createdBy: string
  createdAt: number
}

/** Last message that the webhook of operators got, or gets, about a condition. */
export interface AlertNoticeRow extends AlertCondition {
  /** Id by which receivers recognize a message that is repeated. */
  id: Id
  event: 'raised' | 'repeated' | 'ended'
  /** When the condition was raised. */
  since: number
  endedAt: number | null
  domain: string
  text: string
  /** When the message was made; 0 when the condition was silenced, so that none was. */
  madeAt: number
  /** When it is sent next; null once it was taken, or was given up. */
  dueAt: number | null
  attempts: number
}
