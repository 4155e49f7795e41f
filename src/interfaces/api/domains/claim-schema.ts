/** Schema of claims to domains. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import { claimRecordOf, type DomainClaim, statusAt } from '../../../resources/domains/claims.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

export const claimSchema = z
  .object({
    object: z.literal('domain_claim'),
    id: idSchema('dcl'),
    name: z.string(),
    status: z.enum(['pending', 'blocked', 'completed', 'expired', 'superseded']).meta({
      description:
        '`blocked`: proven, but emails of the other account are scheduled. `superseded`: somebody else has claimed the name since.',
    }),
    domain_id: idSchema('dom'),
    region: z.string(),
    record: z.object({
      type: z.literal('TXT'),
      name: z.string(),
      value: z.string(),
      ttl: z.literal('Auto'),
    }),
    blocked_reason: z.literal('pending_scheduled_emails').nullable(),
    failure_reason: z.string().nullable(),
    created_at: timeSchema,
    expires_at: timeSchema,
  })
  .meta({ id: 'DomainClaim' })

export function claimView(claim: DomainClaim, now: number): z.output<typeof claimSchema> {
  const { id, name, domainId, region, failure, createdAt, expiresAt } = claim
  const { host, value } = claimRecordOf(claim)
  const status = statusAt(claim, now)
  return {
    object: 'domain_claim',
    id: wireId('dcl', id),
    name,
    status,
    domain_id: wireId('dom', domainId),
    region,
    record: { type: 'TXT', name: host, value, ttl: 'Auto' },
    blocked_reason: status === 'blocked' ? 'pending_scheduled_emails' : null,
    failure_reason: failure,
    created_at: timestamp(createdAt),
    expires_at: timestamp(expiresAt),
  }
}
