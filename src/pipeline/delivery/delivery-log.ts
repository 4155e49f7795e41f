/**
 * Log events of a delivery thread: deliveries, destinations, policies, and what could not be stored. In: what
 * happened. Out: log lines with an event name and fields. Called by `workers/delivery.ts` only.
 */
import { wireId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { ClaimedDelivery } from '../../store/model/command.ts'
import type { OperatorAlertRow } from '../../store/model/schema/alerts.ts'
import type { AttemptResult } from './outcome/attempt-result.ts'
import type { BreakerState } from './shaping/circuit-breaker.ts'
import type { PathKey } from './shaping/congestion-feedback.ts'
import type { WarmupSpent } from './shaping/warmup-budget.ts'
import type { StsFault } from './tls-policy/mta-sts-cache.ts'

export type DeliveryLog = ReturnType<typeof createDeliveryLog>

export function createDeliveryLog(log: Log) {
  return { ...deliveryLog(log), ...destinationLog(log), ...tlsLog(log), ...threadLog(log) }
}

function deliveryLog(log: Log) {
  return {
    attemptFinished(delivery: ClaimedDelivery, { kind, text, by }: AttemptResult) {
      const level = kind === 'delivered' ? 'debug' : 'info'
      if (!log.isLevelEnabled(level)) return
      const mxHost = by?.host ?? null
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
  }
}

function destinationLog(log: Log) {
  return {
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
    warmupGrantFailed(err: unknown) {
      log.error({ event: 'warmup_grant_failed', err }, 'Messages of a warm-up budget could not be granted')
    },
    rateLimitsReadFailed(err: unknown) {
      log.error({ event: 'rate_limits_read_failed', err }, 'Rate limits of destinations could not be read')
    },
    sourceNameInvalid(address: string, fault: string) {
      log.warn(
        { event: 'source_name_invalid', source_ip: address, reason: fault },
        `The name of source address ${address} is not valid: ${fault}`,
      )
    },
    sourceNameCheckFailed(err: unknown) {
      log.error({ event: 'source_name_check_failed', err }, 'Names of source addresses could not be checked')
    },
  }
}

function tlsLog(log: Log) {
  return {
    daneChanged(
      isOn: boolean,
      dns: { validatingResolver: string | null; signedName: string },
      reason: string,
    ) {
      const { validatingResolver: resolver, signedName } = dns
      if (isOn) log.info({ event: 'dane_enabled', resolver }, 'DANE is on')
      else
        log.error(
          { event: 'dane_disabled', resolver, signed_name: signedName, reason },
          `DANE is off: ${reason}`,
        )
    },
    stsPolicyUnavailable(domain: string, { type, fault }: StsFault) {
      log.info(
        { event: 'mta_sts_policy_unavailable', domain, type, reason: fault },
        `The MTA-STS policy of ${domain} could not be fetched`,
      )
    },
    stsPolicyUpdateFailed(err: unknown) {
      log.error({ event: 'mta_sts_policy_update_failed', err }, 'An MTA-STS policy could not be updated')
    },
    tlsResultsStoreFailed(err: unknown) {
      log.error({ event: 'tls_results_store_failed', err }, 'Results for TLS reports could not be stored')
    },
  }
}

function threadLog(log: Log) {
  return {
    fileNotRemoved(err: unknown) {
      log.warn({ event: 'file_not_removed', err }, 'The file of a local delivery could not be deleted')
    },
    leaseRenewalFailed(err: unknown) {
      log.warn({ event: 'lease_renewal_failed', err }, 'Delivery leases could not be renewed')
    },
    resultsNotStored(count: number) {
      log.error(
        { event: 'delivery_results_not_stored', count },
        `The results of ${count} delivery attempts could not be stored and are unknown at the next start`,
      )
    },
    stopFailed(err: unknown) {
      log.error({ event: 'delivery_worker_stop_failed', err }, 'The delivery worker did not stop cleanly')
    },
  }
}

function deliveryFields({ emailId, address, attempt }: ClaimedDelivery) {
  return { email_id: wireId('eml', emailId), recipient: address, attempt }
}

function pathFields({ destination, source }: PathKey) {
  return source === '' ? { destination } : { destination, source_ip: source }
}
