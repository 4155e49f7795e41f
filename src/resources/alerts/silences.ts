/**
 * Silences of alerts: an operator keeps alerts of a kind, or about one subject, from being sent for a time.
 * Silenced alerts are stored and shown all the same.
 */
import { command } from '../../store/model/command.ts'
import type { AlertCondition, AlertSilenceRow } from '../../store/model/schema/alerts.ts'
import type { Db } from '../../store/model/schema.ts'

/** Lists the silences that last, those that end first in front. */
export function listSilences(db: Db, now: number): Promise<AlertSilenceRow[]> {
  return db
    .selectFrom('alertSilences')
    .selectAll()
    .where('until', '>', now)
    .orderBy('until')
    .orderBy('kind')
    .orderBy('provider')
    .orderBy('sourceIp')
    .execute()
}

/** Returns the silence that covers the alert for the longest time. */
export function silenceOf(
  silences: readonly AlertSilenceRow[],
  { kind, provider, sourceIp }: AlertCondition,
): AlertSilenceRow | undefined {
  return silences
    .filter(
      silence =>
        silence.kind === kind &&
        ['', provider].includes(silence.provider) &&
        ['', sourceIp].includes(silence.sourceIp),
    )
    .reduce<AlertSilenceRow | undefined>(
      (longest, silence) => (longest && longest.until >= silence.until ? longest : silence),
      undefined,
    )
}

export const silenceCommands = {
  /** Silences alerts; a silence of the same alerts is replaced. Those that are over are deleted. */
  silenceAlerts: command<AlertSilenceRow, void>(async ({ db }, silence) => {
    await db.deleteFrom('alertSilences').where('until', '<=', silence.createdAt).execute()
    const { until, createdBy, createdAt } = silence
    await db
      .insertInto('alertSilences')
      .values(silence)
      .onConflict(conflict =>
        conflict.columns(['kind', 'provider', 'sourceIp']).doUpdateSet({ until, createdBy, createdAt }),
      )
      .execute()
  }),
  /**
   * Ends the silence of exactly these alerts.
   * @returns whether there was one
   */
  unsilenceAlerts: command<AlertCondition & { now: number }, boolean>(
    async ({ db }, { kind, provider, sourceIp, now }) => {
      const { until } =
        (await db
          .deleteFrom('alertSilences')
          .where('kind', '=', kind)
          .where('provider', '=', provider)
          .where('sourceIp', '=', sourceIp)
          .returning('until')
          .executeTakeFirst()) ?? {}
      return until !== undefined && until > now
    },
  ),
}
