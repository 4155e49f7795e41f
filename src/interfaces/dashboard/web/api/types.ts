/**
 * Types of API replies, derived from the reply schemas of the API. Only types are imported, so that no server
 * code is bundled.
 */
import type * as z from 'zod'
import type { tokenSchema } from '../../../api/access-tokens/schema.ts'
import type {
  accountWithPasswordSchema,
  ownedAccountSchema,
  usageSchema,
} from '../../../api/accounts/schema.ts'
import type { alertSchema, testSchema as alertTestSchema } from '../../../api/alerts/schema.ts'
import type { audienceSchema } from '../../../api/audiences/schema.ts'
import type { linkSchema } from '../../../api/broadcasts/link-routes.ts'
import type { providersSchema } from '../../../api/broadcasts/provider-routes.ts'
import type { forecastSchema, recipientSchema } from '../../../api/broadcasts/recipient-routes.ts'
import type {
  broadcastRowSchema,
  broadcastSchema,
  lintSchema,
  previewSchema,
} from '../../../api/broadcasts/replies.ts'
import type { importSchema, lookSchema } from '../../../api/contacts/import-schema.ts'
import type { contactSchema } from '../../../api/contacts/schema.ts'
import type { claimSchema } from '../../../api/domains/claim-schema.ts'
import type { domainKeysSchema } from '../../../api/domains/key-schema.ts'
import type { domainSchema, verifiedDomainSchema } from '../../../api/domains/schema.ts'
import type { metricsSchema } from '../../../api/emails/metric-schema.ts'
import type { emailRowSchema, emailSchema } from '../../../api/emails/schema.ts'
import type { contactActivitySchema } from '../../../api/events/contact-routes.ts'
import type { listedEventSchema } from '../../../api/events/schema.ts'
import type { unreadCountSchema } from '../../../api/inbound/change-schema.ts'
import type {
  routeLogSchema,
  routeSchema,
  routeTestReplySchema,
} from '../../../api/inbound/mail-route-schema.ts'
import type { inboundRowSchema, inboundSchema } from '../../../api/inbound/schema.ts'
import type { threadSchema } from '../../../api/inbound/thread-routes.ts'
import type { BackupsView } from '../../../api/installation/backup-routes.ts'
import type { CertificateView } from '../../../api/installation/certificate-routes.ts'
import type { LogTailView } from '../../../api/installation/log-routes.ts'
import type { ReleasesView } from '../../../api/installation/release-routes.ts'
import type {
  domainBanSchema,
  installationSchema,
  serviceModeSchema,
} from '../../../api/installation/schema.ts'
import type { SettingView } from '../../../api/installation/settings-routes.ts'
import type { smtpTestSchema } from '../../../api/installation/smtp-test-routes.ts'
import type { StorageView } from '../../../api/installation/storage-routes.ts'
import type { loggedRequestSchema, requestDetailSchema } from '../../../api/logs/schema.ts'
import type { ListedHold } from '../../../api/queue/schema.ts'
import type { sourcesSchema } from '../../../api/queue/source-routes.ts'
import type { destinationsSchema, queueSchema, slowSchema } from '../../../api/queue/view-schema.ts'
import type { contactSegmentSchema, segmentSchema } from '../../../api/segments/schema.ts'
import type { sessionRowSchema } from '../../../api/sessions/schema.ts'
import type { planSchema, setupSchema, testedEmailSchema } from '../../../api/setup/schema.ts'
import type { suppressionImportSchema, suppressionSchema } from '../../../api/suppressions/schema.ts'
import type {
  templateRowSchema,
  templateSchema,
  versionRowSchema,
  versionSchema,
} from '../../../api/templates/schema.ts'
import type { contactTopicSchema, topicSchema } from '../../../api/topics/schema.ts'
import type {
  webhookDeliverySchema,
  webhookSchema,
  webhookWithSecretSchema,
} from '../../../api/webhooks/schema.ts'
import type { DoctorReport } from '../../../doctor/finding.ts'

export interface List<T> {
  total: number
  has_more: boolean
  data: T[]
}

export interface SignedIn {
  user: { id: string; email: string; operator: boolean }
  account: { id: string; name: string; plan: string; created_at: string }
}

export interface ApiKey {
  id: string
  name: string
  token_start: string
  permission: 'full_access' | 'sending_access'
  domain_id: string | null
  created_at: string
  last_used_at: string | null
}

export type AccessToken = z.output<typeof tokenSchema>

export type Account = z.output<typeof ownedAccountSchema>
export type AccountWithPassword = z.output<typeof accountWithPasswordSchema>
export type Usage = z.output<typeof usageSchema>
export type Alert = z.output<typeof alertSchema>
export type AlertTest = z.output<typeof alertTestSchema>
export type Domain = z.output<typeof domainSchema>
export type CheckedDomain = z.output<typeof verifiedDomainSchema>
export type DomainClaim = z.output<typeof claimSchema>
export type DomainKeys = z.output<typeof domainKeysSchema>
export type EmailRow = z.output<typeof emailRowSchema>
export type Email = z.output<typeof emailSchema>
export type EmailStatus = EmailRow['status']
export type Recipient = Email['recipients'][number]
export type Attempt = Recipient['transcripts'][number]
export type Installation = z.output<typeof installationSchema>
export type Backups = BackupsView
export type Certificate = CertificateView
export type LogTail = LogTailView
export type Releases = ReleasesView
export type SmtpTest = z.output<typeof smtpTestSchema>
export type Setting = SettingView
export type Storage = StorageView
export type ServiceMode = z.output<typeof serviceModeSchema>
export type Metrics = z.output<typeof metricsSchema>
export type Queue = z.output<typeof queueSchema>
export type Hold = ListedHold
export type DomainBan = z.output<typeof domainBanSchema>
export type Slowed = z.output<typeof slowSchema>
export type Destinations = z.output<typeof destinationsSchema>
export type Sources = z.output<typeof sourcesSchema>
export type SessionRow = z.output<typeof sessionRowSchema>
export type Setup = z.output<typeof setupSchema>
export type SetupPlan = z.output<typeof planSchema>
export type TestedEmail = z.output<typeof testedEmailSchema>
export type Suppression = z.output<typeof suppressionSchema>
export type SuppressionImport = z.output<typeof suppressionImportSchema>
export type TemplateRow = z.output<typeof templateRowSchema>
export type Template = z.output<typeof templateSchema>
export type VersionRow = z.output<typeof versionRowSchema>
export type Version = z.output<typeof versionSchema>
export type Doctor = DoctorReport & { object: 'doctor' }
export type Audience = z.output<typeof audienceSchema>
export type Contact = z.output<typeof contactSchema>
export type ContactActivity = z.output<typeof contactActivitySchema>
export type ContactEmail = ContactActivity['data'][number]
export type ContactTopic = z.output<typeof contactTopicSchema>
export type ContactImport = z.output<typeof importSchema>
export type ImportPreview = z.output<typeof lookSchema>
export type Segment = z.output<typeof segmentSchema>
export type ContactSegment = z.output<typeof contactSegmentSchema>
export type SegmentFilter = Segment['filters'][number]
export type Topic = z.output<typeof topicSchema>
export type BroadcastRow = z.output<typeof broadcastRowSchema>
export type Broadcast = z.output<typeof broadcastSchema>
export type BroadcastLint = z.output<typeof lintSchema>
export type BroadcastPreview = z.output<typeof previewSchema>
export type RecipientPreview = z.output<typeof forecastSchema>
export type BroadcastRecipient = z.output<typeof recipientSchema>
export type BroadcastProviders = z.output<typeof providersSchema>
export type BroadcastLink = z.output<typeof linkSchema>
export type InboundRow = z.output<typeof inboundRowSchema>
export type InboundRoute = z.output<typeof routeSchema>
export type InboundRouteLog = z.output<typeof routeLogSchema>
export type InboundRouteTest = z.output<typeof routeTestReplySchema>
export type Inbound = z.output<typeof inboundSchema>
export type Thread = z.output<typeof threadSchema>
export type UnreadCount = z.output<typeof unreadCountSchema>
export type AccountEvent = z.output<typeof listedEventSchema>
export type LoggedRequest = z.output<typeof loggedRequestSchema>
export type RequestDetail = z.output<typeof requestDetailSchema>
export type Webhook = z.output<typeof webhookSchema>
export type WebhookWithSecret = z.output<typeof webhookWithSecretSchema>
export type WebhookDelivery = z.output<typeof webhookDeliverySchema>
