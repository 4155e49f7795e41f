/**
 * The tables as TypeScript sees them: camelCase names, one interface a table.
 * Ids are 16 bytes, times epoch ms, flags 0 or 1, JSON is text.
 */
import type { Kysely } from 'kysely'
import type { Id } from '../lib/ids.ts'
import type { OperatorAlertRow } from './alert-rows.ts'
import type { MtaStsPolicyRow, TlsResultRow } from './tls-rows.ts'

export type Flag = 0 | 1
type Json = string

export interface SettingRow {
  key: string
  value: string
}

/** A site in trouble. */
export interface SiteStateRow {
  /** As the route names it. */
  site: string
  pausedUntil: number
  pauseMs: number
  reason: string
  changedAt: number
}

export interface AccountRow {
  id: Id
  name: string
  plan: string
  createdAt: number
}

export interface UserRow {
  id: Id
  accountId: Id
  /** Folded. */
  email: string
  passwordHash: string
  operator: Flag
  createdAt: number
}

export interface SessionRow {
  id: Id
  userId: Id
  tokenHash: Uint8Array
  /** A bearer session is for scripts, a cookie session for browsers. */
  kind: 'cookie' | 'bearer'
  createdAt: number
  lastSeenAt: number
}

export interface ApiKeyRow {
  id: Id
  accountId: Id
  name: string
  tokenHash: Uint8Array
  /** The first characters, kept for display. */
  tokenStart: string
  domainId: Id | null
  createdAt: number
  lastUsedAt: number | null
}

export type DomainStatus = 'pending' | 'verified' | 'temporary_failure' | 'failed'

export interface DomainRow {
  id: Id
  accountId: Id
  name: string
  region: string
  status: DomainStatus
  verificationToken: string
  openTracking: Flag
  clickTracking: Flag
  receiving: Flag
  /** What its outgoing mail asks of connections: `enforced` is TLS with a certificate that verifies. */
  tls: 'opportunistic' | 'enforced'
  createdAt: number
  verifiedAt: number | null
  lastCheckedAt: number | null
  /** Since when checks have not found the records; null while they do. */
  failingSince: number | null
  /** Result of the last check, by record label. */
  checks: Json | null
}

export interface DkimKeyRow {
  id: Id
  domainId: Id
  /** 1 and 2 alternate RSA keys, 3 is Ed25519. */
  slot: number
  /** Selector at the customer's domain and name in the provider zone. */
  token: string
  algorithm: 'rsa-sha256' | 'ed25519-sha256'
  /** Base64, as in the `p=` tag. */
  publicKey: string
  /** PKCS#8, sealed. */
  privateKey: Uint8Array
  createdAt: number
  /** Signs from then on; null while it is only published. */
  activeFrom: number | null
  retiredAt: number | null
}

/** What emails and templates say, stored once and compressed. */
export interface ContentRow {
  id: number
  /** Of the JSON `{html, text}` before compression. */
  sizeBytes: number
  encoding: 'plain' | 'zstd'
  body: Uint8Array
  /** Emails, templates and versions of templates that use it. */
  refs: number
}

/** Attachments and raw mail, by SHA-256 of their bytes. */
export interface BlobRow {
  hash: Uint8Array
  sizeBytes: number
  /** Null when the bytes lie in a file, or in pieces. */
  body: Uint8Array | null
  refs: number
  createdAt: number
}

/** A large blob, piece by piece, where large ones lie in no files. */
export interface BlobPieceRow {
  hash: Uint8Array
  /** From 0. */
  number: number
  /** Of the first piece: when the blob was last staged. */
  stagedAt: number
  body: Uint8Array
}

/** Segments keep a status by its place here: new ones come last. */
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
  /** Mailboxes as JSON `[{name, address}]`; lists are null when empty. */
  sender: Json
  toList: Json | null
  ccList: Json | null
  bccList: Json | null
  replyToList: Json | null
  subject: string
  contentId: number
  /** `[[name, value], …]` as the user gave them. */
  headers: Json | null
  /** `[{id, filename, contentType, contentId, sizeBytes, hash}]` */
  attachments: Json | null
  tags: Json | null
  messageId: string
  status: EmailStatus
  /** Deliveries of it. */
  recipientCount: number
  /** 0 where the region of its domain has no delivery feedback. */
  feedback: Flag
  error: string | null
  createdAt: number
  scheduledAt: number | null
  /** When its first delivery was handed to the transfer agent. */
  sentAt: number | null
  lastEventAt: number | null
  /** When the last of its deliveries was done: its age counts from then. Null while anything is under way. */
  endedAt: number | null
  openCount: number
  clickCount: number
  broadcastId: Id | null
  templateId: Id | null
  topicId: Id | null
}

/** Emails of an account that follow each other, as they are searched: packed once, and changed in their statuses only. */
export interface EmailSegmentRow {
  id: number
  accountId: Id
  /** It holds every email of its account whose id is greater than this, up to and with `lastId`. */
  afterId: Id
  lastId: Id
  /** Of their `createdAt`. */
  earliestAt: number
  latestAt: number
  /** 16 bytes an email, ascending: the place of an email in it is its ordinal. */
  ids: Uint8Array
  /** Their folded subjects, see `search/subjects.ts`. */
  subjects: Uint8Array
}

/** The statuses of a segment's emails, a byte each, see `store/segments.ts`. */
export interface EmailSegmentStatusRow {
  segmentId: number
  statuses: Uint8Array
}

/** Which emails of a segment have something by which emails are found, see `search/facets.ts`. */
export interface EmailTermRow {
  segmentId: number
  term: string
  ordinals: Uint8Array
}

/** A link under which an email is shown to whoever has it. */
export interface EmailShareRow {
  id: Id
  accountId: Id
  emailId: Id
  tokenHash: Uint8Array
  createdAt: number
  expiresAt: number
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

/** Where a delivery stands in the queue: waiting, being attempted, out of it, or not in it before its email's time. */
export const DELIVERY_STATE = { waiting: 0, leased: 1, done: 2, scheduled: 3 } as const

/** Which deliveries go first; deferred ones compete apart from fresh ones. */
export const DELIVERY_CLASS = { transactional: 0, broadcast: 1, retry: 2 } as const

/** One envelope recipient of an email: the queue. */
export interface DeliveryRow {
  emailId: Id
  /** 0 to 49. */
  ordinal: number
  accountId: Id
  address: string
  /** Lower-case A-labels; deliveries of one domain share its MX hosts. */
  domain: string
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
  lastReply: string | null
  lastMxHost: string | null
  lastAttemptAt: number | null
  /** `t=` of the signatures, epoch ms. */
  signedAt: number | null
  /** JSON `[{keyId, bytes}]`, base64: with them the message can be shown as it was sent. */
  signatures: Json | null
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
  phase: string | null
  reply: string | null
  mxHost: string | null
  mxIp: string | null
  tls: string | null
  /** Times and replies by phase, JSON. */
  transcript: Json | null
}

export interface EventRow {
  /** The email, contact or domain it is about. */
  subjectId: Id
  id: Id
  accountId: Id
  type: string
  /** Address concerned, where the event is about one recipient. */
  recipient: string | null
  data: Json
  createdAt: number
}

export interface IdempotencyKeyRow {
  accountId: Id
  endpoint: string
  key: string
  bodyHash: Uint8Array
  response: Json
  createdAt: number
}

export type SuppressionReason = 'manual' | 'bounce' | 'complaint'

export interface SuppressionRow {
  accountId: Id
  /** Folded. */
  email: string
  id: Id
  reason: SuppressionReason
  /** The email that brought it about; null when somebody entered it. */
  sourceId: Id | null
  createdAt: number
}

export interface TemplateRow {
  accountId: Id
  id: Id
  name: string
  /** As searches see it. */
  foldedName: string
  subject: string | null
  contentId: number
  /** Also the number of its last version. */
  versionCount: number
  createdAt: number
  updatedAt: number
}

/** What a template said before it was changed. */
export interface TemplateVersionRow {
  accountId: Id
  templateId: Id
  /** From 1, without gaps. */
  version: number
  name: string
  subject: string | null
  contentId: number
  /** When it was replaced. */
  createdAt: number
}

/** Exact counts kept beside what they count; `period` is a UTC day, a UTC month, or empty for a total. */
export interface CounterRow {
  accountId: Id
  kind: string
  period: string
  count: number
}

export interface Schema {
  settings: SettingRow
  siteStates: SiteStateRow
  operatorAlerts: OperatorAlertRow
  accounts: AccountRow
  users: UserRow
  sessions: SessionRow
  apiKeys: ApiKeyRow
  domains: DomainRow
  dkimKeys: DkimKeyRow
  contents: ContentRow
  blobs: BlobRow
  blobPieces: BlobPieceRow
  emails: EmailRow
  emailSegments: EmailSegmentRow
  emailSegmentStatuses: EmailSegmentStatusRow
  emailTerms: EmailTermRow
  emailShares: EmailShareRow
  deliveries: DeliveryRow
  attempts: AttemptRow
  events: EventRow
  idempotencyKeys: IdempotencyKeyRow
  suppressions: SuppressionRow
  counters: CounterRow
  templates: TemplateRow
  templateVersions: TemplateVersionRow
  mtaStsPolicies: MtaStsPolicyRow
  tlsResults: TlsResultRow
}

export type Db = Kysely<Schema>
