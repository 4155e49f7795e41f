/**
 * Raises operator alerts from SMTP replies, for example about a block list. An alert is raised once an hour
 * for each kind, provider and source address.
 */

import { type alertCommands, hourOf } from '../../../resources/alerts/operator-alerts.ts'
import type { ClaimedDelivery, Run } from '../../../store/model/command.ts'
import type { OperatorAlertRow } from '../../../store/model/schema/alerts.ts'
import { OTHERS, providerOf } from '../destinations/providers.ts'
import type { AttemptResult } from './attempt-result.ts'

interface Alerts {
  /** Stores the alert of a result, if it has one that was not raised in this hour. */
  raise(delivery: Pick<ClaimedDelivery, 'domain'>, result: AttemptResult, at: number): Promise<void>
}

/** @param onAlert called for an alert that no thread has raised before */
export function createAlerts(
  run: Run<typeof alertCommands>,
  onAlert: (alert: OperatorAlertRow) => void,
): Alerts {
  /** The hour of the last alert for each kind, provider and source address. */
  const raisedIn = new Map<string, number>()

  return {
    async raise({ domain }, { alert: kind, by, text: reply }, at) {
      if (kind === undefined) return
      const mxHost = by?.host ?? null
      const sourceIp = by?.source ?? ''
      const provider = (mxHost === null ? undefined : providerOf([mxHost])?.name) ?? OTHERS
      const hour = hourOf(at)
      const key = `${kind} ${provider} ${sourceIp}`
      if (raisedIn.get(key) === hour) return
      raisedIn.set(key, hour)
      const row = { hour, kind, provider, sourceIp, raisedAt: at, mxHost, domain, reply }
      const isNew = await run('raiseAlert', row).catch(error => {
        raisedIn.delete(key)
        throw error
      })
      if (isNew) onAlert(row)
    },
  }
}
