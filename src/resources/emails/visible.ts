/**
 * Which emails an account still sees: those under way, and those that ended after its horizon, which is as
 * far back as its plan keeps emails. Every read on an account's behalf goes by this; what lies beyond is
 * about to be deleted.
 */
import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from 'kysely'
import type { EmailRow, Schema } from '../../store/schema.ts'

/**
 * For `where(visibleSince(horizon))` in a query over `emails`.
 * @param horizon epoch ms; emails that ended then or before are out of sight
 */
export function visibleSince(horizon: number) {
  return (eb: ExpressionBuilder<Schema, 'emails'>): ExpressionWrapper<Schema, 'emails', SqlBool> =>
    eb.or([eb('emails.endedAt', 'is', null), eb('emails.endedAt', '>', horizon)])
}

/** The same of one email that has been read. */
export function isVisible({ endedAt }: Pick<EmailRow, 'endedAt'>, horizon: number): boolean {
  return endedAt === null || endedAt > horizon
}
