/** Types of a parsed report, as `readReport` returns it. */
import type { BounceClass } from './rules/bounce-class.ts'

/**
 * Kinds of reports:
 * - `bounce`: the mail was not delivered, or not yet.
 * - `delivery`: the mail was delivered.
 * - `complaint`: the recipient reports spam, or unsubscribes.
 * - `feedback`: another report of a feedback loop.
 * - `receipt`: the mail was read, or deleted.
 * - `mail`: the mail is none of these.
 */
type ReportKind =
  | 'bounce'
  | 'delivery'
  | 'complaint'
  | 'feedback'
  | 'auto-reply'
  | 'challenge'
  | 'receipt'
  | 'dmarc-report'
  | 'tls-report'
  | 'mail'

/** Action field (RFC 3464 §2.3.3). */
export type ReportAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'

export interface ReportedRecipient {
  /**
   * Final-Recipient, or the address that the text blames. Forwarding changes the address, and it may be
   * forged.
   */
  recipient: string | undefined
  originalRecipient: string | undefined
  action: ReportAction
  /** Enhanced status code, such as `5.1.1`. */
  status: string | undefined
  /** Reply code of the refusing host, if the report quotes one. */
  replyCode: number | undefined
  /** Cleaned diagnostic text of at most 2 KiB. */
  diagnostic: string
  remoteMta: string | undefined
  class: BounceClass
  /** True if no further mail should be sent to the address. */
  isHard: boolean
  /** True for a transient failure, also if it was given up for its age. */
  isTransient: boolean
  /** Name of the rule that decided. */
  rule: string
}

export interface BounceReport {
  kind: ReportKind
  recipients: readonly ReportedRecipient[]
  reportingMta: string | undefined
  /** ENVID of the mail reported on (RFC 3461 §4.4). */
  envelopeId: string | undefined
  /** Message-ID of the mail reported on, without its brackets. */
  messageId: string | undefined
  /** Correlation header of this service, from the returned header section. */
  correlation: string | undefined
  /**
   * Feedback-Type of complaints and feedback in lower case (RFC 5965 §7.3): `abuse`, `fraud`, `opt-out`,
   * `not-spam`, ….
   */
  feedbackType: string | undefined
}

export const MAIL: BounceReport = {
  kind: 'mail',
  recipients: [],
  reportingMta: undefined,
  envelopeId: undefined,
  messageId: undefined,
  correlation: undefined,
  feedbackType: undefined,
}
