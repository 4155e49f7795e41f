/** Schemas of the facts about the installation, of the mode of the service, and of banned domains. */
import * as z from 'zod'
import { lineText } from '../../../lib/line-text.ts'
import { type ScheduledWork, SERVICE_MODES, type ServiceMode } from '../../../pipeline/queue/service-mode.ts'
import type { QueueTally } from '../../../pipeline/queue/view.ts'
import type { DomainBan } from '../../../resources/domains/banned.ts'
import { readDomain } from '../queue/schema.ts'
import { bodyReader } from '../schema/read.ts'
import { timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

const limitSchema = z.object({
  alert: z
    .number()
    .nullable()
    .meta({ description: 'Share at which the operator gets an alert; null for none.' }),
  hold: z
    .number()
    .nullable()
    .meta({ description: 'Share at which mail of the account is held; null for none.' }),
})

export const installationSchema = z
  .object({
    object: z.literal('installation'),
    version: z.string(),
    mode: z.enum(SERVICE_MODES).meta({
      description:
        'Mode of the service: while it is `draining`, it accepts no new email; while it is `read-only`, no changes.',
    }),
    base_url: z.string().meta({ description: 'Base URL of the API.' }),
    mail_host: z.string().meta({ description: 'Provider host, the target of the DNS records of domains.' }),
    laboratory: z.boolean().meta({
      description:
        'Whether the provider host is not a public host name, so that mail can only be sent to the simulator.',
    }),
    smtp: z
      .object({
        host: z.string(),
        ports: z.array(z.object({ port: z.int(), security: z.enum(['starttls', 'tls']) })),
        self_signed_certificate: z.string().nullable().meta({
          description:
            'Certificate of the listeners that programs must be told to trust (PEM); null if an authority issued it.',
        }),
      })
      .meta({ description: 'Listeners for SMTP submission; no ports when it is off.' }),
    simulator_domain: z.string(),
    api_key_prefix: z.string(),
    standard_webhooks: z.boolean().meta({ description: 'Default of `standard_webhooks` of webhooks.' }),
    regions: z.array(z.object({ name: z.string(), feedback: z.boolean() })),
    plans: z.array(z.string()),
    rate_limits: z.object({ bounces: limitSchema, complaints: limitSchema }).meta({
      description: 'Limits of hard bounces and of complaints, as shares of the deliveries of a day.',
    }),
  })
  .meta({ id: 'Installation' })

export type InstallationView = z.output<typeof installationSchema>

const count = z.int().min(0)

export const serviceModeSchema = z
  .object({
    object: z.literal('service_mode'),
    mode: z.enum(SERVICE_MODES),
    since: timeSchema.nullable().meta({ description: 'Null if the mode was never switched.' }),
    reason: z.string().nullable(),
    left: z
      .object({
        queued: count.meta({ description: 'Deliveries that were not tried yet.' }),
        deferred: count,
        in_progress: count,
        held: count.meta({ description: 'Deliveries on hold, which are not in the other numbers.' }),
        scheduled_emails: count.meta({ description: 'Scheduled emails; at most 100,000 are counted.' }),
        broadcasts: count.meta({ description: 'Broadcasts that are scheduled or being sent.' }),
      })
      .meta({ description: 'Mail that was accepted and is left to deliver.' }),
  })
  .meta({ id: 'ServiceMode' })

export const modeChangeSchema = z.object({ mode: z.enum(SERVICE_MODES), reason: lineText(500).optional() })

/** @throws ApiError 422 */
export const readModeChange = bodyReader(modeChangeSchema, { emptyMeansAbsent: ['reason'] })

export function serviceModeView(
  { mode, since, reason }: ServiceMode,
  { neverTried, deferred, underWay, held }: Pick<QueueTally, 'neverTried' | 'deferred' | 'underWay' | 'held'>,
  { emails, broadcasts }: ScheduledWork,
): z.output<typeof serviceModeSchema> {
  const left = { queued: neverTried, deferred, in_progress: underWay, held }
  return {
    object: 'service_mode',
    ...{ mode, since: timestamp(since), reason },
    left: { ...left, scheduled_emails: emails, broadcasts },
  }
}

export const domainBanSchema = z
  .object({
    object: z.literal('domain_ban'),
    domain: z.string(),
    reason: z.string().nullable(),
    created_at: timeSchema,
  })
  .meta({ id: 'DomainBan' })
export const domainBanListSchema = z.object({ object: z.literal('list'), data: z.array(domainBanSchema) })
export const liftedBanSchema = z.object({
  object: z.literal('domain_unban'),
  domain: z.string(),
  lifted: z.boolean().meta({ description: 'False if exactly this domain was not banned.' }),
})

const domainField = z.string().meta({ description: 'The domain, with its subdomains.' })
export const newBanSchema = z.object({ domain: domainField, reason: lineText(500).optional() })
export const unbanSchema = z.object({ domain: domainField })
const readBan = bodyReader(newBanSchema, { emptyMeansAbsent: ['reason'] })
const readUnbanned = bodyReader(unbanSchema)

/** @throws ApiError 422 */
export function readNewBan(body: unknown): Pick<DomainBan, 'domain' | 'reason'> {
  const { domain, reason = null } = readBan(body)
  return { domain: readDomain('domain', domain), reason }
}

/** @throws ApiError 422 */
export function readUnban(body: unknown): string {
  return readDomain('domain', readUnbanned(body).domain)
}

export function domainBanView({ domain, reason, createdAt }: DomainBan): z.output<typeof domainBanSchema> {
  return { object: 'domain_ban', domain, reason, created_at: timestamp(createdAt) }
}
