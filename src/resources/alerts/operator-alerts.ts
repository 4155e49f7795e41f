/**
 * Alerts for the operator, such as replies of mail servers that point to a poor reputation. Alerts are
 * deduplicated by the hour.
 */

import { command } from '../../store/model/command.ts'
import type { AlertCondition, OperatorAlertRow } from '../../store/model/schema/alerts.ts'
import type { Db } from '../../store/model/schema.ts'
import { isAboutAccount } from './kinds.ts'

/** Kinds that the machine watch raises, and ends when their condition is over. */
export const MACHINE_ALERTS = ['disk-space', 'disk-sync', 'certificate-expiry', 'clock', 'backup'] as const
export type MachineAlert = (typeof MACHINE_ALERTS)[number]

/** Topic of announcements: an alert was raised or has ended. */
export const ALERT_CHANGED = 'alert-changed'

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

/** Tells whether alerts of the kind last until their condition is over. */
export function isLastingKind(kind: string): boolean {
  return MACHINE_ALERTS.some(lasting => lasting === kind)
}

/** Returns the fields by which the API and the webhook name what an alert is about. */
export function conditionFields({ kind, provider, sourceIp }: AlertCondition) {
  const subject = provider === '' ? null : provider
  return {
    kind,
    provider: isAboutAccount(kind) ? null : subject,
    account_id: isAboutAccount(kind) ? subject : null,
    source_ip: sourceIp === '' ? null : sourceIp,
  }
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
    if (Number(added) > 0) tx.announce(ALERT_CHANGED, null)
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
      if (ended.length > 0) tx.announce(ALERT_CHANGED, null)
      return [...new Set(ended.map(({ provider }) => provider))]
    },
  ),
}
