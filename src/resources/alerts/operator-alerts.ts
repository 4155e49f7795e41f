/**
 * Alerts for the operator, such as replies of mail servers that point to a poor reputation. Alerts are
 * deduplicated by the hour.
 */

import { command } from '../../store/model/command.ts'
import type { OperatorAlertRow } from '../../store/model/schema/alerts.ts'
import type { Db } from '../../store/model/schema.ts'

const HOUR_MS = 3_600_000
const KEPT_MS = 90 * 24 * HOUR_MS

/** Lists the alerts, newest first. */
export async function listOperatorAlerts(
  db: Db,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; rows: OperatorAlertRow[] }> {
  const { total } = await db
    .selectFrom('operatorAlerts')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  const rows = await db
    .selectFrom('operatorAlerts')
    .selectAll()
    .orderBy('hour', 'desc')
    .orderBy('raisedAt', 'desc')
    .orderBy('kind')
    .orderBy('provider')
    .orderBy('sourceIp')
    .limit(limit)
    .offset(offset)
    .execute()
  return { total: Number(total), rows }
}

/** Returns the start of the hour of a time, in ms since the epoch. */
export function hourOf(at: number): number {
  return at - (at % HOUR_MS)
}

export const alertCommands = {
  /**
   * Stores the first alert of its kind, provider and source address in an hour.
   * @returns whether this alert is the first one
   */
  raiseAlert: command<OperatorAlertRow, boolean>(async (tx, row) => {
    const key = ['hour', 'kind', 'provider', 'sourceIp'] as const
    const { numInsertedOrUpdatedRows: added } = await tx.db
      .insertInto('operatorAlerts')
      .values(row)
      .onConflict(conflict => conflict.columns([...key]).doNothing())
      .executeTakeFirstOrThrow()
    await tx.db
      .deleteFrom('operatorAlerts')
      .where('hour', '<', row.hour - KEPT_MS)
      .execute()
    return Number(added ?? 0) > 0
  }),
}
