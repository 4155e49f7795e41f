/**
 * Finds the emails that a filter asks for, part by part: segments by their statuses, terms and subjects,
 * without reading the emails themselves; gaps, and segments that creation times cut through, row by row.
 */
import { ID_BYTES } from '../../store/search-index.ts'
import { countBits } from './bits.ts'
import { type EmailFilter, type Scope, termsWanted } from './facets.ts'
import type { IndexPart, Reads, SegmentHead } from './parts.ts'
import { matchRows } from './rows.ts'
import { idsOf, matchSegments } from './sealed.ts'

/** The emails found in one part. */
export interface Found {
  part: IndexPart
  count: number
  /** 16 bytes each, ascending; to be read in the same snapshot. */
  ids(): Promise<Buffer>
}

/** What is asked for, in the order of the parts. @param parts following each other, newest first */
export async function findMatches(
  reads: Reads,
  scope: Scope,
  filter: EmailFilter,
  parts: readonly IndexPart[],
): Promise<Found[]> {
  const asked = { ...filter, terms: termsWanted(scope, filter) }
  const heads = parts.flatMap(({ segment }) => (segment && spanOf(segment, filter) === 'all' ? segment : []))
  const sealed = await matchSegments(reads, scope, asked, heads)
  const found: Found[] = []
  for (const part of parts) {
    const bits = part.segment && sealed.get(part.segment.id)
    if (bits) found.push({ part, count: countBits(bits), ids: () => idsOf(reads.db, part.segment!.id, bits) })
    else if (!part.segment || spanOf(part.segment, filter) === 'some') {
      const ids = await matchRows(reads.db, scope, asked, part)
      found.push({ part, count: ids.length / ID_BYTES, ids: async () => ids })
    }
  }
  return found
}

/** How many of a segment's emails were created when the filter says. */
function spanOf({ earliestAt, latestAt }: SegmentHead, filter: EmailFilter): 'all' | 'some' | 'none' {
  const { createdFrom = Number.NEGATIVE_INFINITY, createdBefore = Number.POSITIVE_INFINITY } = filter
  if (latestAt < createdFrom || earliestAt >= createdBefore) return 'none'
  return earliestAt >= createdFrom && latestAt < createdBefore ? 'all' : 'some'
}
