/**
 * Turns the result of an attempt into the record of it: state of the delivery, event, next attempt and
 * suppression. Pure functions.
 *
 * In: the result and facts of an attempt. Out: the input of the writer's command `finish`. Called by the
 * delivery runner.
 */

import { idTime } from '../../../lib/ids.ts'
import { bounceType } from '../../../protocols/bounces/rules/bounce-class.ts'
import { deliveredData, packRecord } from '../../../resources/emails/attempt-record.ts'
import { type Cause, causeOfClass, storedCause } from '../../../resources/emails/explanation/cause.ts'
import { ON_SUPPRESSION_LIST, suppressedEvent } from '../../../resources/events/email-events.ts'
import type { ClaimedDelivery } from '../../../store/model/command.ts'
import type { DeliveryStatus } from '../../../store/model/schema.ts'
import { type MeasuredAttempt, SESSION_PHASES } from '../../queue/attempt-figures.ts'
import type { Finish } from '../../queue/commands.ts'
import { type CountedResult, type DestinationResult, replyFormOf } from '../../queue/destinations.ts'
import { nextAttemptAt } from '../../queue/retry-schedule.ts'
import { OTHERS, PROVIDERS } from '../destinations/providers.ts'
import { GENERAL_SMART_HOST } from '../destinations/smart-host.ts'
import { fingerprintOf } from '../message/signature-fingerprint.ts'
import type { StoredSignature } from '../message/signed-head.ts'
import { type AttemptResult, isBrokenOff } from './attempt-result.ts'
import { tlsText } from './host-attempt.ts'

export interface FinishFacts {
  startedAt: number
  finishedAt: number
  /** Facts of the message; null when none was built. */
  message: { dueAt: number; signedAt: number; signatures: readonly StoredSignature[] | null } | null
  /** Destination whose counters record the result; null when the attempt needed no connection. */
  destination: string | null
}

const HOUR_MS = 3_600_000

export function finishOf(
  delivery: ClaimedDelivery,
  result: AttemptResult,
  facts: FinishFacts,
  random: () => number,
): Finish {
  const finish = {
    ...uncountedFinish(delivery, result, facts, random),
    measured: measuredOf(facts.destination, result),
  }
  const counted = countersOf(facts.destination, result, finish.status)
  return counted ? { ...finish, counted } : finish
}

const COUNTED_RESULTS: Partial<Record<DeliveryStatus, DestinationResult>> = {
  delivered: 'delivered',
  delivery_delayed: 'deferred',
  bounced: 'bounced',
  failed: 'expired',
}

/** Returns what is counted at the destination; undefined when the result is not counted. */
function countersOf(
  destination: string | null,
  { class: why, text }: AttemptResult,
  status: DeliveryStatus,
): CountedResult | undefined {
  const result = COUNTED_RESULTS[status]
  if (destination === null || result === undefined) return undefined
  if (result === 'delivered') return { destination, result, class: null, replyForm: null }
  return { destination, result, class: why, replyForm: replyFormOf(text) }
}

const MX_PROVIDERS: ReadonlySet<string> = new Set(PROVIDERS.map(({ name }) => name))
const OPENING: ReadonlySet<string | null> = new Set(SESSION_PHASES)

/** Returns the attributes for the metrics. Small destinations are not told apart: they are too many. */
function measuredOf(
  destination: string | null,
  { kind, class: why, hostAttempts, simulated }: AttemptResult,
): MeasuredAttempt {
  const isNone = destination === null || simulated === true
  return {
    provider: isNone ? 'none' : providerLabel(destination),
    class: kind === 'delivered' ? 'none' : why,
    sessionErrors: hostAttempts.flatMap(({ phase }) => (phase !== null && OPENING.has(phase) ? [phase] : [])),
  }
}

function providerLabel(destination: string): string {
  if (MX_PROVIDERS.has(destination)) return destination
  return destination.split('-', 2).join('-') === GENERAL_SMART_HOST && !destination.includes('.')
    ? 'smart_host'
    : OTHERS
}

function uncountedFinish(
  delivery: ClaimedDelivery,
  result: AttemptResult,
  facts: FinishFacts,
  random: () => number,
): Finish {
  if (result.kind !== 'deferred') return finalFinish(delivery, result, facts)
  const nextAt = nextAttemptAt(
    {
      now: facts.finishedAt,
      attempts: delivery.attempt,
      expiresAt: delivery.expiresAt,
      isGreylisted: result.class === 'greylisted',
      ...(result.retryAfterMs === undefined ? {} : { wantedMs: result.retryAfterMs }),
      ...(result.hintMs === undefined ? {} : { hintMs: result.hintMs }),
    },
    random,
  )
  if (nextAt === undefined) return expired(delivery, result, facts)
  const delay = {
    attempt: delivery.attempt,
    next_attempt_at: new Date(nextAt).toISOString(),
    reply: result.text,
  }
  return {
    ...common(delivery, result, facts),
    signatures: facts.message?.signatures ? JSON.stringify(facts.message.signatures) : null,
    proof: null,
    status: 'delivery_delayed',
    outcome: 'deferred',
    nextAt,
    event: { type: 'email.delivery_delayed', data: { delay } },
    error: null,
    suppress: false,
  }
}

function finalFinish(delivery: ClaimedDelivery, result: AttemptResult, facts: FinishFacts): Finish {
  const base = { ...common(delivery, result, facts), ...proven(facts), nextAt: null, suppress: false }
  switch (result.kind) {
    case 'delivered':
      return {
        ...base,
        status: 'delivered',
        outcome: 'delivered',
        event: deliveredEvent(result, facts),
        error: null,
      }
    case 'bounced':
      return {
        ...base,
        status: 'bounced',
        outcome: 'bounced',
        event: { type: 'email.bounced', data: { bounce: bounceData(result) } },
        error: errorText(result),
        suppress: suppresses(result),
      }
    case 'suppressed':
      return {
        ...base,
        status: 'suppressed',
        outcome: 'bounced',
        event: suppressedEvent(ON_SUPPRESSION_LIST),
        error: ON_SUPPRESSION_LIST,
      }
    default:
      return {
        ...base,
        status: 'failed',
        outcome: 'bounced',
        event: { type: 'email.failed', data: { failed: { reason: result.text } } },
        error: result.text,
      }
  }
}

/** The attempt was deferred, and the delivery has reached its maximum lifetime. */
function expired(delivery: ClaimedDelivery, result: AttemptResult, facts: FinishFacts): Finish {
  const since = facts.message?.dueAt ?? idTime(delivery.emailId)
  const hours = Math.round((delivery.expiresAt - since) / HOUR_MS)
  const reason = `expired after ${hours} h: ${result.text}`
  return {
    ...common(delivery, result, facts),
    ...proven(facts),
    cause: storedCause({ code: 'expired', by: String(hours), last: causeOf(result) }),
    status: 'failed',
    outcome: 'deferred',
    nextAt: null,
    event: { type: 'email.failed', data: { failed: { reason } } },
    error: reason,
    suppress: false,
  }
}

/** A finished delivery keeps a fingerprint in place of its signatures. */
function proven({ message }: FinishFacts) {
  return { signatures: null, proof: message?.signatures ? fingerprintOf(message.signatures) : null }
}

function common(
  { accountId, emailId, ordinal, attempt, address, domain }: ClaimedDelivery,
  result: AttemptResult,
  facts: FinishFacts,
) {
  const { startedAt, finishedAt, message } = facts
  const replyRecord = replyFacts(result)
  return {
    accountId,
    emailId,
    ordinal,
    attempt,
    address,
    domain,
    startedAt,
    finishedAt,
    handedOverAt: message ? facts.startedAt : null,
    signedAt: message?.signedAt ?? null,
    cause: storedCause(causeOf(result)),
    record: {
      reply: replyRecord.reply,
      mxHost: replyRecord.mxHost,
      brokeOff: isBrokenOff(result) ? (1 as const) : null,
      packed: packRecord({
        ...replyRecord,
        phase: result.phase,
        transcript: result.hostAttempts.length > 0 ? JSON.stringify(result.hostAttempts) : null,
      }),
    },
  }
}

function deliveredEvent(result: AttemptResult, { startedAt, finishedAt }: FinishFacts) {
  const delivery = deliveredData({ ...replyFacts(result), startedAt, finishedAt })
  return { type: 'email.delivered' as const, data: { delivery } }
}

/** Returns why the message was not delivered; undefined when it was. */
function causeOf(result: AttemptResult): Cause | undefined {
  const { kind, class: bounceClass, text, by } = result
  if (kind === 'delivered') return undefined
  if (kind === 'suppressed') return { code: 'suppressed' }
  const host = by?.host
  const known =
    kind === 'failed'
      ? { code: 'not_sendable' as const, by: text }
      : causeOfClass(bounceClass, kind === 'bounced')
  return {
    ...(host !== undefined && { host }),
    ...(result.cause ?? known),
    ...(suppresses(result) && { suppresses: true }),
  }
}

function suppresses({ kind, blamesAddress }: AttemptResult): boolean {
  return kind === 'bounced' && blamesAddress === true
}

/** The reply, and the host that gave it. */
function replyFacts({ text, by }: AttemptResult) {
  return {
    reply: text,
    mxHost: by?.host ?? null,
    mxIp: by?.ip ?? null,
    tls: by?.tls ? tlsText(by.tls) : null,
  }
}

function bounceData({ class: bounceClass, reply, text, enhanced, by }: AttemptResult) {
  // A status of the other class than the code stays in the text (`replyOf`).
  const isTransient = reply !== null && /^4\.\d{1,3}\.\d{1,3}\b/.test(reply.text)
  const { type, subtype } = bounceType(bounceClass, isTransient)
  return {
    type,
    subtype,
    class: bounceClass,
    code: reply?.code ?? null,
    enhanced_code: reply?.enhanced ?? enhanced ?? null,
    message: text,
    mx_host: by?.host ?? null,
  }
}

/** `550 5.1.1 no such user (mx.there.example)` */
function errorText({ text, enhanced, reply, by }: AttemptResult): string {
  const message = reply || enhanced === undefined ? text : `${enhanced} ${text}`
  return by ? `${message} (${by.host})` : message
}
