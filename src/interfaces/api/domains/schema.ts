/** Schemas of sending domains and the status of their records. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import type { LinkPlace } from '../../../resources/domains/checks/tracking-host.ts'
import { allRecordsOf } from '../../../resources/domains/dns-records.ts'
import type { DomainWithKeys } from '../../../resources/domains/domain-rows.ts'
import { recordStatus } from '../../../resources/domains/record-status.ts'
import type { DomainChecks } from '../../../resources/domains/verify.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'
import { brandingSchema } from './branding.ts'

const TTL = 'Auto'

const checkStatus = z.enum(['verified', 'pending', 'failed'])
export const tlsSchema = z.enum(['opportunistic', 'enforced'])
export const capabilitySchema = z.enum(['enabled', 'disabled'])
const recordSchema = z.object({
  record: z.enum(['Verification', 'DKIM 1', 'DKIM 2', 'DKIM 3', 'SPF', 'MX', 'Tracking']),
  type: z.enum(['TXT', 'CNAME', 'MX']),
  host: z.string(),
  name: z.string(),
  value: z.string(),
  priority: z.int().exactOptional(),
  ttl: z.literal(TTL),
  status: z.enum([...checkStatus.options, 'not_started']),
})
export const domainSchema = z
  .object({
    object: z.literal('domain'),
    id: idSchema('dom'),
    name: z.string(),
    status: z.enum(['pending', 'verified', 'temporary_failure', 'failed']),
    region: z.string(),
    records: z.array(recordSchema).min(6).max(7),
    open_tracking: z.boolean(),
    click_tracking: z.boolean(),
    tracking_subdomain: z.string().exactOptional().meta({
      description: 'Host of tracked links, a subdomain of the domain; used once its DNS record is verified.',
    }),
    tls: tlsSchema,
    capabilities: z.object({ sending: capabilitySchema, receiving: capabilitySchema }),
    receiving: z.object({
      enabled: z.boolean(),
      record: z.object({ type: z.literal('MX'), host: z.string(), value: z.string(), priority: z.int() }),
    }),
    branding: brandingSchema,
    created_at: timeSchema,
    verified_at: timeSchema.nullable(),
    last_checked_at: timeSchema.nullable(),
  })
  .meta({ id: 'Domain' })

const adviceSchema = {
  advice: z.string().nullable(),
  problems: z.array(z.object({ code: z.string(), message: z.string() })),
}
const seenSchema = z.array(z.object({ server: z.string(), status: checkStatus, found: z.array(z.string()) }))
const checkSchema = z.object({
  status: checkStatus,
  expected: z.string(),
  found: z.array(z.string()),
  ...adviceSchema,
  resolvers: seenSchema,
  name_servers: seenSchema,
})
const policySchema = z.object({
  domain: z.string(),
  inherited: z.boolean(),
  policy: z.string(),
  p: z.string().nullable(),
  sp: z.string().nullable(),
  rua: z.array(z.string()),
})
const nameServersSchema = z.object({
  status: checkStatus,
  zone: z.string().nullable(),
  servers: z.array(
    z.object({
      name: z.string(),
      address: z.string().nullable(),
      status: z.string(),
      reason: z.string().nullable(),
    }),
  ),
  ...adviceSchema,
})
const checksSchema: z.ZodType<DomainChecks> = z.object({
  ownership: checkSchema,
  dkim: z.object({ status: checkStatus, selectors: z.array(checkSchema.extend({ host: z.string() })) }),
  spf: checkSchema,
  mx: checkSchema,
  dmarc: checkSchema.extend({ policy: policySchema.nullable() }),
  receiving: checkSchema.nullable(),
  tracking: checkSchema.extend({ host: z.string() }).nullable(),
  name_servers: nameServersSchema,
})
export const verifiedDomainSchema = domainSchema.extend({ checks: checksSchema })

export interface DomainViewOptions {
  mailHost: string
  linkPlace: LinkPlace
  /** URL of the API. */
  baseUrl: string
}

export function domainView(
  domain: DomainWithKeys,
  { mailHost, linkPlace, baseUrl }: DomainViewOptions,
): z.output<typeof domainSchema> {
  const checks = domain.checks === null ? null : (JSON.parse(domain.checks) as DomainChecks)
  const { name, color, logoPath } = domain.brand
  return {
    object: 'domain',
    id: wireId('dom', domain.id),
    name: domain.name,
    status: domain.status,
    region: domain.region,
    records: allRecordsOf(domain, mailHost, linkPlace).map(record => ({
      ...record,
      name: record.host,
      ttl: TTL,
      status: recordStatus(record, checks),
    })),
    open_tracking: domain.openTracking === 1,
    click_tracking: domain.clickTracking === 1,
    ...(domain.trackingSubdomain !== null && { tracking_subdomain: domain.trackingSubdomain }),
    tls: domain.tls,
    capabilities: { sending: wordFor(domain.sending), receiving: wordFor(domain.receiving) },
    receiving: { enabled: domain.receiving === 1, record: receivingRecord(domain, mailHost) },
    branding: { name, color, logo_url: logoPath && `${baseUrl}${logoPath}` },
    created_at: timestamp(domain.createdAt),
    verified_at: timestamp(domain.verifiedAt),
    last_checked_at: timestamp(domain.lastCheckedAt),
  }
}

function wordFor(flag: 0 | 1): z.output<typeof capabilitySchema> {
  return flag === 1 ? 'enabled' : 'disabled'
}

/** Returns the MX record that routes the mail of the domain to this service. */
function receivingRecord({ name }: DomainWithKeys, mailHost: string) {
  return { type: 'MX' as const, host: name, value: mailHost, priority: 10 }
}
