/** Whether something has already been told of a recipient. */
import type { Id } from '../../lib/ids.ts'
import type { Tx } from '../../store/command.ts'
import type { EventType } from './types.ts'

export async function hasHappened(tx: Tx, emailId: Id, type: EventType, recipient: string): Promise<boolean> {
  const former = await tx.db
    .selectFrom('events')
    .select('id')
    .where('subjectId', '=', emailId)
    .where('type', '=', type)
    .where('recipient', '=', recipient)
    .limit(1)
    .executeTakeFirst()
  return former !== undefined
}
