/**
 * Visibility of emails. An account sees emails in progress and those that ended after its horizon, which is
 * as far back as its plan keeps emails. Every read for an account applies this filter; older emails are about
 * to be deleted.
 */
import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from 'kysely'
import type { EmailRow, Schema } from '../../store/model/schema.ts'

/**
 * Use as `where(visibleSince(horizon))` in a query over `emails`.
 * @param horizon epoch ms; emails that ended at or before it are not visible
 */
export function visibleSince(horizon: number) {
  return (eb: ExpressionBuilder<Schema, 'emails'>): ExpressionWrapper<Schema, 'emails', SqlBool> =>
    eb.or([eb('emails.endedAt', 'is', null), eb('emails.endedAt', '>', horizon)])
}

/** Applies the same filter to a row. */
export function isVisible({ endedAt }: Pick<EmailRow, 'endedAt'>, horizon: number): boolean {
  return endedAt === null || endedAt > horizon
}
