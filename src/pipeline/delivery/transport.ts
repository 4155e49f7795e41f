/**
 * Transmits one message along its route: over SMTP, into a local inbox or to the simulator.
 *
 * In: a route, a claimed delivery and its message. Out: the result of the attempt. Called by the delivery
 * runner.
 */
import { wireId } from '../../lib/ids.ts'
import { needsSmtpUtf8 } from '../../protocols/smtp/address.ts'
import type { ClaimedDelivery } from '../../store/model/command.ts'
import { type AttemptOptions, attempt } from './attempt.ts'
import type { SmartHostOf } from './destinations/smart-host.ts'
import type { DeliverLocally } from './local-delivery.ts'
import type { OutgoingMessage } from './message/message.ts'
import { type AttemptResult, resultWithoutHost } from './outcome/attempt-result.ts'
import type { DeliveryRoute } from './route.ts'
import { NOT_PIPELINED, type PipelineSlot } from './sessions/pipeline.ts'
import type { EgressSource, SourceIps } from './shaping/source-ips.ts'
import type { Transaction } from './smtp-client/types.ts'
import { nextHopOver, nextHopTo } from './tls-policy/next-hop.ts'
import type { Undeliverable } from './undeliverable.ts'

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
): Promise<AttemptResult> {
  switch (target.kind) {
    case 'simulator':
      return options.simulate(delivery)
    case 'hosted':
      return options.deliverLocally(delivery, target.domain, message, options.clock.now())
    case 'undeliverable':
      return options.undeliverable(delivery, target)
    case 'unknown':
      return {
        ...resultWithoutHost('deferred', 'unknown', target.reason, { code: 'dns_failed' }),
        hostUnavailable: true,
      }
    case 'smart-host': {
      const nextHop = nextHopOver(options.smartHostOf(delivery.domain)!, delivery.domain, message.tls)
      return attempt(options, nextHop, transactionOf(delivery, message), ips, slot)
    }
    case 'hosts': {
      const { hosts, hostSet, security } = target
      const nextHop = nextHopTo({ domain: delivery.domain, hosts, hostSet, security }, message.tls)
      if ('reason' in nextHop) {
        const { kind, reason, enhanced } = nextHop
        const by = security?.bogus && message.tls !== 'required' ? 'DNSSEC' : 'The sender'
        return { ...resultWithoutHost(kind, 'policy', reason, { code: 'tls_policy', by }), enhanced }
      }
      const result = await attempt(options, nextHop, transactionOf(delivery, message), ips, slot)
      return resultFromSource(options.sourceIps, delivery.domain, result)
    }
  }
}

/**
 * When the source address has a bad reputation at the domain and there are others, the next attempt uses
 * another address, even after a permanent refusal. With several addresses, the refusal counts against this
 * path only.
 */
function resultFromSource(sourceIps: SourceIps, domain: string, result: AttemptResult): AttemptResult {
  const source = result.hostAttempts.at(-1)?.source
  if (source === undefined || result.pressure !== 'reputation' || sourceIps.sources.length === 1)
    return result
  const isElsewhere = sourceIps.coolOff(source, domain)
  return { ...result, unwantedSource: true, ...(isElsewhere && { kind: 'deferred' }) }
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
