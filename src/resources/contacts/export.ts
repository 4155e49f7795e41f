/** Exports contacts as CSV in batches. An import reads the same format. */
import { csvLine } from '../../lib/csv.ts'
import type { Id } from '../../lib/ids.ts'
import type { Db, SegmentRow } from '../../store/model/schema.ts'
import { audienceMembers, type Member, segmentMembers } from './members.ts'
import { FIELD_COLUMNS, readProperties } from './properties.ts'

export interface ExportQuery {
  audienceId: Id
  /** Segment to export; null for all contacts. */
  filters: SegmentRow['filters'] | null
  /** Property keys, each of which gets a column. */
  keys: readonly string[]
  /** Last contact of the previous batch; null for the first batch. */
  after: Id | null
}

export interface ExportBatch {
  csv: string
  /** Value of `after` for the next batch; null at the end. */
  next: Id | null
}

const BATCH_CONTACTS = 1_000

export function contactsHeader(keys: readonly string[]): string {
  return csvLine([...FIELD_COLUMNS, ...keys])
}

export async function exportContacts(db: Db, now: number, query: ExportQuery): Promise<ExportBatch> {
  const { audienceId, filters, keys, after } = query
  const { members, next } =
    filters === null
      ? await audienceMembers(db, { id: audienceId }, after, BATCH_CONTACTS)
      : await segmentMembers(db, { audienceId, filters }, now, after, BATCH_CONTACTS)
  return { csv: members.map(member => lineOf(member, keys)).join(''), next }
}

function lineOf({ email, firstName, lastName, unsubscribed, properties }: Member, keys: readonly string[]) {
  const values = readProperties(properties)
  return csvLine([
    email,
    firstName,
    lastName,
    unsubscribed === 1,
    ...keys.map(key => values.get(key) ?? null),
  ])
}
