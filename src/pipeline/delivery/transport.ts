/**
 * Transmits one message along its route: over SMTP, into a local inbox or to the simulator.
 *
 * In: a route, a claimed delivery and its message. Out: the result of the attempt, and a congestion signal
 * for the egress path. Called by the delivery runner.
 */
import { wireId } from '../../lib/ids.ts'
import { needsSmtpUtf8 } from '../../protocols/smtp/address.ts'
import type { ClaimedDelivery } from '../../store/model/command.ts'
import { type AttemptOptions, attempt, type SmtpAttemptResult } from './attempt.ts'
import type { SmartHostOf } from './destinations/smart-host.ts'
import type { DeliverLocally } from './local-delivery.ts'
import type { OutgoingMessage } from './message/message.ts'
import type { AttemptResult } from './outcome/finish.ts'
import type { Outcome } from './outcome/outcome.ts'
import type { DeliveryRoute } from './route.ts'
import { NOT_PIPELINED, type PipelineSlot } from './sessions/pipeline.ts'
import type { CongestionSignal } from './shaping/congestion-feedback.ts'
import type { EgressSource, SourceIps } from './shaping/source-ips.ts'
import type { Transaction } from './smtp-client/types.ts'
import { nextHopOver, nextHopTo } from './tls-policy/next-hop.ts'
import type { Undeliverable } from './undeliverable.ts'

export interface TransmitResult {
  result: AttemptResult
  signal: CongestionSignal
}

export interface TransmitOptions extends AttemptOptions {
  smartHostOf: SmartHostOf
  sourceIps: SourceIps
  /** Result of mail to a simulator address. */
  simulate(delivery: ClaimedDelivery): AttemptResult
  /** Stores mail for a hosted domain. */
  deliverLocally: DeliverLocally
  undeliverable: Undeliverable
}

export async function transmit(
  options: TransmitOptions,
  { target }: DeliveryRoute,
  delivery: ClaimedDelivery,
  message: OutgoingMessage,
  { ips }: EgressSource,
  slot: PipelineSlot = NOT_PIPELINED,
): Promise<TransmitResult> {
  switch (target.kind) {
    case 'simulator':
      return { result: options.simulate(delivery), signal: 'neutral' }
    case 'hosted': {
      const result = await options.deliverLocally(delivery, target.domain, message, options.clock.now())
      return { result, signal: 'ok' }
    }
    case 'undeliverable':
      return { result: await options.undeliverable(delivery, target), signal: 'neutral' }
    case 'unknown':
      return {
        result: { ...withoutReply('deferred', 'unknown', target.reason), brokeOff: true },
        signal: 'congested',
      }
    case 'smart-host': {
      const nextHop = nextHopOver(options.smartHostOf(delivery.domain)!, delivery.domain, message.tls)
      return resultOf(await attempt(options, nextHop, transactionOf(delivery, message), ips, slot))
    }
    case 'hosts': {
      const { hosts, hostSet, security } = target
      const nextHop = nextHopTo({ domain: delivery.domain, hosts, hostSet, security }, message.tls)
      if ('reason' in nextHop) {
        const { kind, reason, enhanced } = nextHop
        return { result: { ...withoutReply(kind, 'policy', reason), enhanced }, signal: 'neutral' }
      }
      const attempted = await attempt(options, nextHop, transactionOf(delivery, message), ips, slot)
      return resultFromSource(options.sourceIps, delivery.domain, attempted)
    }
  }
}

/**
 * When the source address has a bad reputation at the domain and there are others, the next attempt uses
 * another address, even after a permanent refusal. With several addresses, the refusal counts against this
 * path only.
 */
function resultFromSource(
  sourceIps: SourceIps,
  domain: string,
  attempted: SmtpAttemptResult,
): TransmitResult {
  const { outcome, hostAttempts } = attempted
  const source = hostAttempts.at(-1)?.source
  const isUnwanted = source !== undefined && outcome.meaning?.pressure === 'reputation'
  if (!isUnwanted || sourceIps.sources.length === 1) return resultOf(attempted)
  const { result } = resultOf(attempted)
  const isElsewhere = sourceIps.coolOff(source, domain)
  return { result: isElsewhere ? { ...result, kind: 'deferred' } : result, signal: 'congested' }
}

function signalOf({ hostUnavailable, isLocalCause = false, reply, meaning }: Outcome): CongestionSignal {
  if (hostUnavailable) return isLocalCause ? 'neutral' : 'congested'
  if (meaning?.pressure === 'congestion') return 'congested'
  return reply ? 'ok' : 'neutral'
}

/** The email could not be made into a message, so nothing was transferred. */
export function failedBeforeTransfer(reason: string): TransmitResult {
  return { result: withoutReply('failed', 'unknown', reason), signal: 'neutral' }
}

/** An internal error defers the delivery. */
export function brokenInside(): TransmitResult {
  return { result: withoutReply('deferred', 'unknown', 'an internal error'), signal: 'neutral' }
}

function resultOf({ outcome, hostAttempts }: SmtpAttemptResult): TransmitResult {
  const { verdict, phase, reply, text, enhanced, meaning, alert = meaning?.alert } = outcome
  const bounceClass = verdict.kind === 'delivered' ? 'unknown' : verdict.class
  const signal = signalOf(outcome)
  return {
    result: {
      kind: verdict.kind,
      class: bounceClass,
      phase,
      reply,
      text,
      hostAttempts,
      ...(verdict.kind === 'bounced' && enhanced !== undefined && { enhanced }),
      ...(meaning?.blamesAddress && { blamesAddress: true }),
      ...(meaning?.hintMs === undefined ? {} : { hintMs: meaning.hintMs }),
      ...(alert && { alert }),
      ...(signal === 'congested' && { brokeOff: true }),
    },
    signal,
  }
}

function transactionOf(
  { address, emailId }: ClaimedDelivery,
  { mailFrom, bytes, sizeBytes, smtpUtf8, tls, originalRecipient }: OutgoingMessage,
): Transaction {
  return {
    mailFrom,
    recipients: [address],
    message: bytes,
    size: sizeBytes,
    smtpUtf8: smtpUtf8 || needsSmtpUtf8(address),
    requireTls: tls === 'required',
    envelopeId: () => wireId('eml', emailId),
    originalRecipient,
  }
}

function withoutReply(
  kind: AttemptResult['kind'],
  bounceClass: AttemptResult['class'],
  text: string,
): AttemptResult {
  return { kind, class: bounceClass, phase: 'dns', reply: null, text, hostAttempts: [] }
}
