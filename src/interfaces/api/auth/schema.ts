/** Sessions as their user sees them. */
import * as z from 'zod'
import { type Id, sameId, wireId } from '../../../lib/ids.ts'
import type { SessionRow } from '../../../store/schema.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

export const sessionRowSchema = z.object({
  object: z.literal('session'),
  id: idSchema('ses'),
  kind: z.enum(['cookie', 'bearer']).meta({ description: 'A browser, or a script that has signed in.' }),
  current: z.boolean().meta({ description: 'The one that asks.' }),
  created_at: timeSchema,
  last_seen_at: timeSchema.meta({ description: 'To five minutes.' }),
})

export function sessionView(
  { id, kind, createdAt, lastSeenAt }: Pick<SessionRow, 'id' | 'kind' | 'createdAt' | 'lastSeenAt'>,
  currentId: Id,
): z.output<typeof sessionRowSchema> {
  return {
    object: 'session',
    id: wireId('ses', id),
    kind,
    current: sameId(id, currentId),
    created_at: timestamp(createdAt),
    last_seen_at: timestamp(lastSeenAt),
  }
}
