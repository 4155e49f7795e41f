/**
 * Alerts for the operator, such as replies of mail servers that point to a poor reputation. Alerts are
 * deduplicated by the hour.
 */

import { command } from '../../store/model/command.ts'
import type { OperatorAlertRow } from '../../store/model/schema/alerts.ts'
import type { Db } from '../../store/model/schema.ts'

/** Kinds that the machine watch raises, and ends when their condition is over. */
export const MACHINE_ALERTS = ['disk-space', 'disk-sync', 'certificate-expiry', 'clock', 'backup'] as const
export type MachineAlert = (typeof MACHINE_ALERTS)[number]

const HOUR_MS = 3_600_000
const RETENTION_MS = 90 * 24 * HOUR_MS

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

/** Lists the providers about which alerts of a kind last. */
export async function lastingAlerts(db: Db, kind: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('operatorAlerts')
    .select('provider')
    .where('kind', '=', kind)
    .where('endedAt', 'is', null)
    .execute()
  return new Set(rows.map(({ provider }) => provider))
}

/** Returns the start of the hour of a time, in ms since the epoch. */
export function hourOf(at: number): number {
  return at - (at % HOUR_MS)
}

export const alertCommands = {
  /**
   * Stores the first alert of its kind, provider and source address in an hour. One that has ended in the
   * hour lasts again.
   * @returns whether this alert is the first one, or lasts again
   */
  raiseAlert: command<OperatorAlertRow, boolean>(async (tx, row) => {
    const key = ['hour', 'kind', 'provider', 'sourceIp'] as const
    const { numInsertedOrUpdatedRows: added } = await tx.db
      .insertInto('operatorAlerts')
      .values(row)
      .onConflict(conflict =>
        conflict
          .columns([...key])
          .doUpdateSet({ endedAt: null })
          .where('operatorAlerts.endedAt', 'is not', null),
      )
      .executeTakeFirstOrThrow()
    await tx.db
      .deleteFrom('operatorAlerts')
      .where('hour', '<', row.hour - RETENTION_MS)
      .execute()
    return Number(added) > 0
  }),
  /**
   * Ends the alerts of a kind, but for those about the given providers.
   * @returns the providers whose alerts have ended
   */
  endAlerts: command<{ kind: string; except: string[]; at: number }, string[]>(
    async (tx, { kind, except, at }) => {
      let query = tx.db
        .updateTable('operatorAlerts')
        .set({ endedAt: at })
        .where('kind', '=', kind)
        .where('endedAt', 'is', null)
      if (except.length > 0) query = query.where('provider', 'not in', except)
      const ended = await query.returning('provider').execute()
      return [...new Set(ended.map(({ provider }) => provider))]
    },
  ),
}
