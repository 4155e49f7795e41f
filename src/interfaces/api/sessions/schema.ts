/** Schemas of sessions. */
import * as z from 'zod'
import { type Id, sameId, wireId } from '../../../lib/ids.ts'
import type { SessionFacts } from '../../../resources/accounts/user-rows.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

export const sessionRowSchema = z.object({
  object: z.literal('session'),
  id: idSchema('ses'),
  kind: z.enum(['cookie', 'bearer']).meta({ description: '`cookie` for a browser, `bearer` for a script.' }),
  current: z.boolean().meta({ description: 'Whether it is the session of this request.' }),
  client_address: z.string().nullable(),
  user_agent: z.string().nullable(),
  created_at: timeSchema,
  last_seen_at: timeSchema.meta({ description: 'Accurate to five minutes.' }),
})

export function sessionView(
  { id, kind, clientAddress, userAgent, createdAt, lastSeenAt }: SessionFacts,
  currentId: Id,
): z.output<typeof sessionRowSchema> {
  return {
    object: 'session',
    id: wireId('ses', id),
    kind,
    current: sameId(id, currentId),
    client_address: clientAddress ?? null,
    user_agent: userAgent ?? null,
    created_at: timestamp(createdAt),
    last_seen_at: timestamp(lastSeenAt),
  }
}
