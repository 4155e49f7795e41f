/**
 * Log events of deliveries and destinations. In: what happened, from the delivery worker. Out: log lines with
 * an event name and fields. Called by `workers/delivery.ts` only.
 */
import { wireId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { ClaimedDelivery } from '../../store/model/command.ts'
import type { OperatorAlertRow } from '../../store/model/schema/alerts.ts'
import type { AttemptResult } from './outcome/attempt-result.ts'
import type { BreakerState } from './shaping/circuit-breaker.ts'
import type { PathKey } from './shaping/congestion-feedback.ts'
import type { WarmupSpent } from './shaping/warmup-budget.ts'

export function createDeliveryLog(log: Log) {
  return {
    attemptFinished(delivery: ClaimedDelivery, { kind, text, hostAttempts }: AttemptResult) {
      const level = kind === 'delivered' ? 'debug' : 'info'
      if (!log.isLevelEnabled(level)) return
      const mxHost = hostAttempts.at(-1)?.host ?? null
      log[level](
        {
          event: 'delivery_attempt_finished',
          ...deliveryFields(delivery),
          outcome: kind,
          reply: text,
          mx_host: mxHost,
        },
        `Delivery attempt finished: ${kind}`,
      )
    },
    stepFailed(err: unknown, delivery?: ClaimedDelivery) {
      const fields = delivery && deliveryFields(delivery)
      log.error({ event: 'delivery_step_failed', ...fields, err }, 'A step of a delivery failed')
    },
    alertRaised({ kind, provider, sourceIp, mxHost, reply }: OperatorAlertRow) {
      const source = sourceIp || null
      log.warn(
        { event: 'operator_alert_raised', kind, provider, source_ip: source, mx_host: mxHost, reply },
        `A reply of a mail server raised the alert ${kind}`,
      )
    },
    destinationPaused(path: PathKey, { until, reason }: BreakerState) {
      const retryAt = new Date(until).toISOString()
      log.warn(
        { event: 'destination_paused', ...pathFields(path), retry_at: retryAt, reason },
        `Deliveries to ${path.destination} are paused until ${retryAt}`,
      )
    },
    destinationResumed(path: PathKey) {
      const message = `Deliveries to ${path.destination} have resumed`
      log.info({ event: 'destination_resumed', ...pathFields(path) }, message)
    },
    destinationRetryRequested(destination: string) {
      const message = `Deliveries to ${destination} are retried now at the operator’s request`
      log.info({ event: 'destination_retry_requested', destination }, message)
    },
    warmupSpent({ address, provider, cap, until }: WarmupSpent) {
      const resumeAt = new Date(until).toISOString()
      log.info(
        { event: 'warmup_budget_spent', source_ip: address, provider, cap, resume_at: resumeAt },
        `Source address ${address} has sent its warm-up budget of the day to ${provider}`,
      )
    },
  }
}

function deliveryFields({ emailId, address, attempt }: ClaimedDelivery) {
  return { email_id: wireId('eml', emailId), recipient: address, attempt }
}

function pathFields({ destination, source }: PathKey) {
  return source === '' ? { destination } : { destination, source_ip: source }
}
