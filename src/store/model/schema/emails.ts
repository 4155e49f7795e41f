/** Tables of emails. */
import type { Id } from '../../../lib/ids.ts'
import type { Content } from './contents.ts'
import type { Flag, Json } from './values.ts'

/** Statuses of an email. Index blocks store the position of a status, so new ones are added at the end. */
export const EMAIL_STATUSES = [
  'queued',
  'scheduled',
  'sent',
  'delivery_delayed',
  'delivered',
  'bounced',
  'complained',
  'suppressed',
  'failed',
  'canceled',
] as const

export type EmailStatus = (typeof EMAIL_STATUSES)[number]

export interface EmailRow {
  accountId: Id
  id: Id
  /** Null when sent from an unverified domain to the simulator. */
  domainId: Id | null
  apiKeyId: Id | null
  /**
   * Mailboxes as JSON `[{name, address}]`, or one bare address; lists are null when empty. Read by
   * `parseStoredMailboxes`.
   */
  sender: Json
  toList: Json | null
  ccList: Json | null
  bccList: Json | null
  replyToList: Json | null
  subject: string
  contentId: number
  /**
   * Values of the placeholders in the content, as a JSON object, for emails of a broadcast. Values that can
   * be derived from the email are left out. Null when the content has no placeholders.
   */
  variables: Json | null
  /** `[[name, value], …]` as the user gave them. */
  headers: Json | null
  /** `[{id, filename, contentType, contentId, sizeBytes, hash}]` */
  attachments: Json | null
  tags: Json | null
  /**
   * Hash of the message as it was submitted over SMTP, without its control fields (`X-Mailhorn-…`). Null when
   * the message is composed from the other columns.
   */
  raw: Uint8Array | null
  /**
   * Requested delivery status notifications, `"notice"` for an email that is one itself, or null. Read by
   * `readStoredDsn`.
   */
  dsn: Json | null
  /** Settings of the tracking links; null when the email has none. */
  linkTermsId: number | null
  /** Empty when it is derived from the id, see `messageIdOf`. */
  messageId: string
  status: EmailStatus
  /** Number of deliveries. */
  recipientCount: number
  /** 0 where the region of its domain has no delivery feedback. */
  feedback: Flag
  /**
   * 1: all recipients are at the simulator. Decided when the email is accepted; a later change of the
   * simulator's domain does not change it.
   */
  simulated: Flag
  error: string | null
  createdAt: number
  scheduledAt: number | null
  /** Time at which the first delivery was handed to the transfer agent. */
  sentAt: number | null
  lastEventAt: number | null
  /**
   * Time at which the last delivery was done, from which retention counts; null while any delivery is in
   * progress.
   */
  endedAt: number | null
  openCount: number
  clickCount: number
  broadcastId: Id | null
  templateId: Id | null
  topicId: Id | null
}

/** Columns of an email in a list. */
export const EMAIL_LIST_COLUMNS = [
  'id',
  'sender',
  'toList',
  'ccList',
  'bccList',
  'replyToList',
  'subject',
  'messageId',
  'status',
  'error',
  'openCount',
  'clickCount',
  'broadcastId',
  'topicId',
  'scheduledAt',
  'createdAt',
  'lastEventAt',
] as const satisfies readonly (keyof EmailRow)[]

/** A link that shows an email to anyone who has it. */
export interface EmailShareRow {
  id: Id
  accountId: Id
  /** Id of an email, or of a received message. */
  emailId: Id
  tokenHash: Uint8Array
  createdAt: number
  expiresAt: number
}

export interface IdempotencyKeyRow {
  accountId: Id
  endpoint: string
  key: string
  bodyHash: Uint8Array
  response: Json
  createdAt: number
}

/** Columns that the transaction that stores an email decides. */
export type DecidedColumn =
  | 'domainId'
  | 'linkTermsId'
  | 'contentId'
  | 'status'
  | 'feedback'
  | 'simulated'
  | 'error'
  | 'sentAt'
  | 'lastEventAt'
  | 'endedAt'

type DecidedSource = Pick<EmailRow, 'domainId' | 'linkTermsId'> & { content: Content }

/** Fields of a stored email that the composer reads. Lists are JSON, as in the row. */
export type EmailSource = ReturnType<typeof emailSourceOf>

/**
 * Takes what the composer needs from an email that is being stored. The columns are written out, since this
 * is done for every email.
 */
export function emailSourceOf(
  row: Omit<EmailRow, DecidedColumn>,
  { domainId, linkTermsId, content }: DecidedSource,
) {
  return {
    accountId: row.accountId,
    id: row.id,
    domainId,
    sender: row.sender,
    toList: row.toList,
    ccList: row.ccList,
    replyToList: row.replyToList,
    subject: row.subject,
    variables: row.variables,
    headers: row.headers,
    attachments: row.attachments,
    raw: row.raw,
    dsn: row.dsn,
    messageId: row.messageId,
    recipientCount: row.recipientCount,
    createdAt: row.createdAt,
    scheduledAt: row.scheduledAt,
    linkTermsId,
    broadcastId: row.broadcastId,
    topicId: row.topicId,
    content,
  }
}

type SourceColumn = Exclude<keyof EmailSource, 'accountId' | 'id' | 'content'>

/** Columns of an email that the composer needs, besides its key. */
export const EMAIL_SOURCE_COLUMNS = Object.keys(emailSourceOf({} as EmailRow, {} as DecidedSource)).filter(
  key => !['accountId', 'id', 'content'].includes(key),
) as SourceColumn[]
