/** What the API answers, by the schemas that its replies are held against. Types alone: nothing of the server is bundled. */
import type * as z from 'zod'
import type { Report } from '../../../doctor/finding.ts'
import type { linkSchema } from '../../../http/routes/broadcast-links.ts'
import type {
  accountWithPasswordSchema,
  ownedAccountSchema,
  usageSchema,
} from '../../../http/wire/account.ts'
import type { alertSchema } from '../../../http/wire/alert.ts'
import type { audienceSchema } from '../../../http/wire/audience.ts'
import type { broadcastRowSchema, broadcastSchema } from '../../../http/wire/broadcast.ts'
import type { contactSchema } from '../../../http/wire/contact.ts'
import type { importSchema } from '../../../http/wire/contact-import.ts'
import type { domainKeysSchema } from '../../../http/wire/domain-keys.ts'
import type { domainSchema, verifiedDomainSchema } from '../../../http/wire/domain-view.ts'
import type { emailRowSchema, emailSchema } from '../../../http/wire/email-view.ts'
import type { eventSchema } from '../../../http/wire/event.ts'
import type { inboundRowSchema, inboundSchema } from '../../../http/wire/inbound.ts'
import type { installationSchema } from '../../../http/wire/installation.ts'
import type { metricsSchema } from '../../../http/wire/metrics.ts'
import type { holdSchema } from '../../../http/wire/queue.ts'
import type { destinationsSchema, queueSchema, slowSchema } from '../../../http/wire/queue-view.ts'
import type { segmentSchema } from '../../../http/wire/segment.ts'
import type { sessionRowSchema } from '../../../http/wire/session.ts'
import type { sourcesSchema } from '../../../http/wire/source.ts'
import type { suppressionSchema } from '../../../http/wire/suppression.ts'
import type {
  templateRowSchema,
  templateSchema,
  versionRowSchema,
  versionSchema,
} from '../../../http/wire/template.ts'
import type { topicSchema } from '../../../http/wire/topic.ts'
import type {
  webhookDeliverySchema,
  webhookSchema,
  webhookWithSecretSchema,
} from '../../../http/wire/webhook.ts'

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
  domain_id: string | null
  created_at: string
  last_used_at: string | null
}

export type Account = z.output<typeof ownedAccountSchema>
export type AccountWithPassword = z.output<typeof accountWithPasswordSchema>
export type Usage = z.output<typeof usageSchema>
export type Alert = z.output<typeof alertSchema>
export type Domain = z.output<typeof domainSchema>
export type CheckedDomain = z.output<typeof verifiedDomainSchema>
export type DomainKeys = z.output<typeof domainKeysSchema>
export type EmailRow = z.output<typeof emailRowSchema>
export type Email = z.output<typeof emailSchema>
export type EmailStatus = EmailRow['status']
export type Recipient = Email['recipients'][number]
export type Attempt = Recipient['transcripts'][number]
export type Installation = z.output<typeof installationSchema>
export type Metrics = z.output<typeof metricsSchema>
export type Queue = z.output<typeof queueSchema>
export type Hold = z.output<typeof holdSchema>
export type Slowed = z.output<typeof slowSchema>
export type Destinations = z.output<typeof destinationsSchema>
export type Sources = z.output<typeof sourcesSchema>
export type SessionRow = z.output<typeof sessionRowSchema>
export type Suppression = z.output<typeof suppressionSchema>
export type TemplateRow = z.output<typeof templateRowSchema>
export type Template = z.output<typeof templateSchema>
export type VersionRow = z.output<typeof versionRowSchema>
export type Version = z.output<typeof versionSchema>
export type Doctor = Report & { object: 'doctor' }
export type Audience = z.output<typeof audienceSchema>
export type Contact = z.output<typeof contactSchema>
export type ContactImport = z.output<typeof importSchema>
export type Segment = z.output<typeof segmentSchema>
export type SegmentFilter = Segment['filters'][number]
export type Topic = z.output<typeof topicSchema>
export type BroadcastRow = z.output<typeof broadcastRowSchema>
export type Broadcast = z.output<typeof broadcastSchema>
export type BroadcastLink = z.output<typeof linkSchema>
export type InboundRow = z.output<typeof inboundRowSchema>
export type Inbound = z.output<typeof inboundSchema>
export type AccountEvent = z.output<typeof eventSchema>
export type Webhook = z.output<typeof webhookSchema>
export type WebhookWithSecret = z.output<typeof webhookWithSecretSchema>
export type WebhookDelivery = z.output<typeof webhookDeliverySchema>
