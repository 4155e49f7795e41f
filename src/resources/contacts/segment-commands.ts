/** Commands that create, change and delete segments. */
import type { Id } from '../../lib/ids.ts'
import { command } from '../../store/model/command.ts'
import type { SegmentRow } from '../../store/model/schema.ts'
import { hasAudience } from './audience-commands.ts'
import type { ContactPlace } from './contact.ts'
import type { SegmentFilter } from './filters.ts'
import { SEGMENTS_MAX } from './limits.ts'

type SegmentKey = ContactPlace & { id: Id }

export const segmentCommands = {
  createSegment: command<
    SegmentKey & { name: string; filters: readonly SegmentFilter[]; at: number },
    SegmentRow | 'no-audience' | 'too-many'
  >(async (tx, { accountId, audienceId, id, name, filters, at }) => {
    if (!(await hasAudience(tx, { accountId, audienceId }))) return 'no-audience'
    const { count } = await tx.db
      .selectFrom('segments')
      .select(eb => eb.fn.countAll<number>().as('count'))
      .where('audienceId', '=', audienceId)
      .executeTakeFirstOrThrow()
    if (Number(count) >= SEGMENTS_MAX) return 'too-many'
    const row: SegmentRow = {
      ...{ accountId, audienceId, id, name },
      filters: JSON.stringify(filters),
      createdAt: at,
      updatedAt: at,
    }
    await tx.db.insertInto('segments').values(row).execute()
    return row
  }),

  /** Returns undefined if there is no such segment. Absent fields are not changed. */
  changeSegment: command<
    SegmentKey & { name?: string; filters?: readonly SegmentFilter[]; at: number },
    SegmentRow | undefined
  >(async (tx, { accountId, audienceId, id, name, filters, at }) => {
    if (!(await hasAudience(tx, { accountId, audienceId }))) return undefined
    return tx.db
      .updateTable('segments')
      .set({
        ...(name !== undefined && { name }),
        ...(filters && { filters: JSON.stringify(filters) }),
        updatedAt: at,
      })
      .where('audienceId', '=', audienceId)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst()
  }),

  /** Returns false if there is no such segment. */
  deleteSegment: command<SegmentKey, boolean>(async (tx, { accountId, audienceId, id }) => {
    if (!(await hasAudience(tx, { accountId, audienceId }))) return false
    const { numDeletedRows } = await tx.db
      .deleteFrom('segments')
      .where('audienceId', '=', audienceId)
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    return numDeletedRows > 0n
  }),
}
