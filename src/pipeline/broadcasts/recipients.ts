/** Whether a broadcast goes to anybody outside the simulator. */

import type { Id } from '../../lib/ids.ts'
import { hasMemberElsewhere } from '../../resources/contacts/members.ts'
import { findAudience } from '../../resources/contacts/read.ts'
import type { Db } from '../../store/schema.ts'

interface Recipients {
  accountId: Id
  audienceId: Id | null
  /** A segment; or an audience, as newer clients write it. */
  segmentId: Id | null
}

/** What is not there reaches nobody: it is for the command to refuse. */
export async function reachesPeople(
  db: Db,
  { accountId, audienceId, segmentId }: Recipients,
  simulatorDomains: ReadonlySet<string>,
): Promise<boolean> {
  const segment = segmentId && (await findSegment(db, accountId, segmentId))
  const whole = segmentId && !segment ? segmentId : audienceId
  if (segment) return hasMemberElsewhere(db, segment, simulatorDomains)
  if (!whole || !(await findAudience(db, accountId, whole))) return false
  return hasMemberElsewhere(db, { audienceId: whole, filters: null }, simulatorDomains)
}

function findSegment(db: Db, accountId: Id, id: Id) {
  return db
    .selectFrom('segments')
    .select(['audienceId', 'filters'])
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
}
