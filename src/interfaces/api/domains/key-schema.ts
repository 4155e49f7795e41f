/** Schemas of the DKIM keys of a domain and of their rotation. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import type { DkimKeyFacts, DomainWithKeys } from '../../../resources/domains/domain-rows.ts'
import {
  keyState,
  RETIRED_KEY_MS,
  REVOKED_FOR_MS,
  readyAt,
  signingRsa,
  turnEndsAt,
} from '../../../resources/domains/key-life.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

const keySchema = z.object({
  selector: z.string(),
  slot: z.int().meta({ description: '1 and 2 alternate; 3 signs in addition.' }),
  algorithm: z.enum(['rsa-sha256', 'ed25519-sha256']),
  state: z.enum(['published', 'signing', 'retired', 'revoked']),
  created_at: timeSchema,
  active_from: timeSchema.nullable(),
  retired_at: timeSchema.nullable(),
  revoked_at: timeSchema.nullable(),
  next_step: z
    .object({ step: z.enum(['may_sign', 'revoke', 'replace']), at: timeSchema })
    .nullable()
    .meta({ description: 'Next automatic step and its earliest time; null for the active key.' }),
})

export const domainKeysSchema = z
  .object({
    object: z.literal('domain_keys'),
    domain_id: idSchema('dom'),
    rotation_due_at: timeSchema
      .nullable()
      .meta({ description: 'Time of the next automatic rotation; null if there is none.' }),
    rotation_requested_at: timeSchema.nullable(),
    keys: z.array(keySchema),
  })
  .meta({ id: 'DomainKeys' })

interface DomainTurns {
  wantedAt: number | null
  rotateAfterMs: number | null
}

export function domainKeysView(
  { id, keys }: Pick<DomainWithKeys, 'id' | 'keys'>,
  { wantedAt, rotateAfterMs }: DomainTurns,
): z.output<typeof domainKeysSchema> {
  const signing = signingRsa(keys)
  const dueAt = signing ? turnEndsAt(signing, { wantedAt, rotateAfterMs }) : Number.POSITIVE_INFINITY
  return {
    object: 'domain_keys',
    domain_id: wireId('dom', id),
    rotation_due_at: Number.isFinite(dueAt) ? timestamp(dueAt) : null,
    rotation_requested_at: timestamp(wantedAt),
    keys: keys.map(key => ({
      selector: key.token,
      slot: key.slot,
      algorithm: key.algorithm,
      state: keyState(key),
      created_at: timestamp(key.createdAt),
      active_from: timestamp(key.activeFrom),
      retired_at: timestamp(key.retiredAt),
      revoked_at: timestamp(key.revokedAt),
      next_step: nextStep(key),
    })),
  }
}

function nextStep(key: DkimKeyFacts) {
  switch (keyState(key)) {
    case 'published':
      return { step: 'may_sign' as const, at: timestamp(readyAt(key)) }
    case 'retired':
      return { step: 'revoke' as const, at: timestamp(key.retiredAt! + RETIRED_KEY_MS) }
    case 'revoked':
      return { step: 'replace' as const, at: timestamp(key.revokedAt! + REVOKED_FOR_MS) }
    case 'signing':
      return null
  }
}
