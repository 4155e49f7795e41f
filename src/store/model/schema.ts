/**
 * Tables of the database, one interface per table, with camelCase names. Ids have 16 bytes, times are ms
 * since the epoch, flags are 0 or 1, and JSON is text.
 */
import type { Kysely } from 'kysely'
import type { Id } from '../../lib/ids.ts'
import type {
  AccessTokenRow,
  AccountRow,
  ApiKeyRow,
  SessionRow,
  SignInPlaceRow,
  UserRow,
} from './schema/accounts.ts'
import type { AlertNoticeRow, AlertSilenceRow, OperatorAlertRow } from './schema/alerts.ts'
import type { BroadcastOutcomeRow, BroadcastPageRow, BroadcastRow } from './schema/broadcasts.ts'
import type { AcmeAccountRow, AcmeChallengeRow, CertificateRow } from './schema/certificates.ts'
import type {
  AudienceRow,
  ContactActivityRow,
  ContactImportRow,
  ContactPropertyRow,
  ContactRow,
  ContactTopicRow,
  ContactValueRow,
  DeletedAudienceRow,
  DeletedTopicRow,
  OptOutRow,
  PropertyDefinitionRow,
  SegmentRow,
  TopicRow,
} from './schema/contacts.ts'
import type { BlobPieceRow, BlobRow, ContentRow } from './schema/contents.ts'
import type {
  DeletedDomainRow,
  DkimKeyRow,
  DomainBrandRow,
  DomainClaimRow,
  DomainRow,
  FormerDkimKeyRow,
  KeyRotationRow,
} from './schema/domains.ts'
import type { EmailRow, EmailShareRow, IdempotencyKeyRow } from './schema/emails.ts'
import type { CounterRow, EventRow } from './schema/events.ts'
import type {
  InboundMessageRow,
  InboundRouteLogRow,
  InboundRouteRow,
  InboundSubjectRow,
  ThreadMessageRow,
} from './schema/inbound.ts'
import type { AttemptRow, DeliveryRow, DestinationCapRow, DestinationStateRow } from './schema/queue.ts'
import type { ReportRow } from './schema/reports.ts'
import type { LoggedBodiesRow, LoggedRequestTable } from './schema/requests.ts'
import type { EmailSegmentRow, EmailSegmentStatusRow, EmailTermRow } from './schema/segments.ts'
import type { DestinationReplyRow, DomainDestinationRow, QueueHoldRow } from './schema/steering.ts'
import type { TemplateRow, TemplateVersionRow } from './schema/templates.ts'
import type { MtaStsPolicyRow, TlsResultRow } from './schema/tls.ts'
import type { BroadcastLinkRow, LinkTermsRow, VisitRow } from './schema/tracking.ts'
import type { Json } from './schema/values.ts'
import type { WebhookDeliveryRow, WebhookRow } from './schema/webhooks.ts'

export * from './schema/accounts.ts'
export * from './schema/broadcasts.ts'
export * from './schema/contacts.ts'
export * from './schema/contents.ts'
export * from './schema/domains.ts'
export * from './schema/emails.ts'
export * from './schema/events.ts'
export * from './schema/queue.ts'
export * from './schema/requests.ts'
export * from './schema/segments.ts'
export * from './schema/templates.ts'
export * from './schema/tracking.ts'
export * from './schema/values.ts'
export * from './schema/webhooks.ts'

/** A fact about the installation. */
interface SettingRow {
  key: string
  value: string
}

export type SuppressionReason = 'manual' | 'bounce' | 'complaint'

export interface SuppressionRow {
  accountId: Id
  /** E-mail address, folded. */
  email: string
  id: Id
  reason: SuppressionReason
  /** Email that caused the suppression; null for a manual one. */
  sourceId: Id | null
  createdAt: number
}

/** `relayed`: the next hop accepted the message and sends no notification of the delivery. */
export type DsnAction = 'delivered' | 'relayed' | 'failed' | 'delayed'

/** A notification to the client that submitted an email. There is at most one for a recipient and action. */
export interface DsnNoticeRow {
  emailId: Id
  ordinal: number
  action: DsnAction
  accountId: Id
  /** `DsnFacts` */
  facts: Json
  at: number
  /** Null until the notification is queued, or cannot be sent. */
  sentAt: number | null
}

export interface Schema {
  settings: SettingRow
  destinationCaps: DestinationCapRow
  destinationStates: DestinationStateRow
  queueHolds: QueueHoldRow
  domainDestinations: DomainDestinationRow
  destinationReplies: DestinationReplyRow
  operatorAlerts: OperatorAlertRow
  alertSilences: AlertSilenceRow
  alertNotices: AlertNoticeRow
  dsnNotices: DsnNoticeRow
  accounts: AccountRow
  users: UserRow
  sessions: SessionRow
  signInPlaces: SignInPlaceRow
  apiKeys: ApiKeyRow
  accessTokens: AccessTokenRow
  domains: DomainRow
  dkimKeys: DkimKeyRow
  formerDkimKeys: FormerDkimKeyRow
  keyRotations: KeyRotationRow
  deletedDomains: DeletedDomainRow
  domainClaims: DomainClaimRow
  domainBrands: DomainBrandRow
  contents: ContentRow
  blobs: BlobRow
  blobPieces: BlobPieceRow
  emails: EmailRow
  emailSegments: EmailSegmentRow
  emailSegmentStatuses: EmailSegmentStatusRow
  emailTerms: EmailTermRow
  emailShares: EmailShareRow
  broadcasts: BroadcastRow
  broadcastPages: BroadcastPageRow
  broadcastOutcomes: BroadcastOutcomeRow
  deliveries: DeliveryRow
  attempts: AttemptRow
  events: EventRow
  idempotencyKeys: IdempotencyKeyRow
  suppressions: SuppressionRow
  counters: CounterRow
  templates: TemplateRow
  templateVersions: TemplateVersionRow
  audiences: AudienceRow
  deletedAudiences: DeletedAudienceRow
  contacts: ContactRow
  contactProperties: ContactPropertyRow
  contactValues: ContactValueRow
  propertyDefinitions: PropertyDefinitionRow
  segments: SegmentRow
  topics: TopicRow
  deletedTopics: DeletedTopicRow
  contactTopics: ContactTopicRow
  contactActivity: ContactActivityRow
  contactImports: ContactImportRow
  optOuts: OptOutRow
  mtaStsPolicies: MtaStsPolicyRow
  tlsResults: TlsResultRow
  reports: ReportRow
  loggedRequests: LoggedRequestTable
  loggedBodies: LoggedBodiesRow
  inboundMessages: InboundMessageRow
  inboundSubjects: InboundSubjectRow
  inboundRoutes: InboundRouteRow
  inboundRouteLog: InboundRouteLogRow
  threadMessages: ThreadMessageRow
  linkTerms: LinkTermsRow
  visits: VisitRow
  broadcastLinks: BroadcastLinkRow
  webhooks: WebhookRow
  webhookDeliveries: WebhookDeliveryRow
  acmeAccounts: AcmeAccountRow
  certificates: CertificateRow
  acmeChallenges: AcmeChallengeRow
}

export type Db = Kysely<Schema>
