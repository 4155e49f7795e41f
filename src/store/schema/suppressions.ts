/** The table of suppressed addresses. */
import type { Id } from '../../lib/ids.ts'

export type SuppressionReason = 'manual' | 'bounce' | 'complaint'

export interface SuppressionRow {
  accountId: Id
  /** Folded. */
  email: string
  id: Id
  reason: SuppressionReason
  /** The email that brought it about; null when somebody entered it. */
  sourceId: Id | null
  createdAt: number
}
