/** Table of suppressed addresses. */
import type { Id } from '../../../lib/ids.ts'

export type SuppressionReason = 'manual' | 'bounce' | 'complaint'

export interface SuppressionRow {
  accountId: Id
  /** E-mail address, folded. */
  email: string
  id: Id
  reason: SuppressionReason
  /** Email that caused the suppression; null for a manual one. */
  sourceId: Id | null
  createdAt: number
}
