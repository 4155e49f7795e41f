/**
 * One attempt to deliver to one recipient, along its route: over SMTP to the MX hosts in order or to the
 * smart host, into a local inbox, or to the simulator.
 *
 * In: a route, a claimed delivery and its message. Out: the result, with a record of each host that was
 * tried. Called by the delivery runner.
 */
import { wireId } from '../../lib/ids.ts'
import type { EnvelopeFacts } from '../../protocols/bounces/sentence/clauses.ts'
import { addressesIn } from '../../protocols/bounces/text/addresses.ts'
import { readHead } from '../../protocols/mime/read/head.ts'
import { needsSmtpUtf8 } from '../../protocols/smtp/address.ts'
import type { ClaimedDelivery } from '../../store/model/command.ts'
import { addressesOf, type HostAddressOptions } from './addresses.ts'
import type { SmartHostOf } from './destinations/smart-host.ts'
import {
  type AttemptContext,
  type HostSessionOptions,
  overKnownSession,
  overNewSession,
} from './host-session.ts'
import type { DeliverLocally } from './local-delivery.ts'
import type { OutgoingMessage } from './message/message.ts'
import type { MayReturn } from './missing-domain.ts'
import { type AttemptResult, isDecided, relayed, resultOfHosts } from './outcome/attempt-result.ts'
import type { HostAttempt } from './outcome/host-attempt.ts'
import {
  lookupFailed,
  NO_DOMAIN,
  resultOfInbox,
  resultOfSimulation,
  resultOfSkipped,
  resultWithoutNextHop,
  resultWithoutRoute,
  type SimulatedReply,
  type SkippedHost,
} from './outcome/result-without-host.ts'
import type { DeliveryRoute } from './route.ts'
import { NOT_PIPELINED, type PipelineSlot } from './sessions/pipeline.ts'
import type { EgressSource, SourceIp, SourceIps } from './shaping/source-ips.ts'
import type { Transaction } from './smtp-client/types.ts'
import { withoutPipelining } from './tls-policy/host-tls-policy.ts'
import { type NextHop, nextHopOver, nextHopTo } from './tls-policy/next-hop.ts'

/** What an attempt over SMTP needs. */
export interface SmtpOptions extends HostAddressOptions, HostSessionOptions {}

export interface AttemptOptions extends SmtpOptions {
  smartHostOf: SmartHostOf
  sourceIps: SourceIps
  /** Returns the reply to mail to a simulator address. */
  simulate(delivery: ClaimedDelivery): SimulatedReply
  /** Stores mail for a hosted domain. */
  deliverLocally: DeliverLocally
  mayReturn: MayReturn
}

/** @throws PipelineSlotLost when the attempt must not start */
export async function attempt(
  options: AttemptOptions,
  { target }: DeliveryRoute,
  delivery: ClaimedDelivery,
  message: OutgoingMessage,
  { ips }: EgressSource,
  slot: PipelineSlot = NOT_PIPELINED,
): Promise<AttemptResult> {
  switch (target.kind) {
    case 'simulator':
      return resultOfSimulation(options.simulate(delivery))
    case 'hosted':
      return resultOfInbox(
        await options.deliverLocally(delivery, target.domain, message, options.clock.now()),
      )
    case 'undeliverable': {
      const mayReturn = target.enhanced === NO_DOMAIN && (await options.mayReturn(delivery, target.reason))
      return resultWithoutRoute(target, mayReturn)
    }
    case 'unknown':
      return lookupFailed(target.reason)
    case 'smart-host': {
      const nextHop = nextHopOver(options.smartHostOf(delivery.domain)!, delivery.domain, message.tls)
      return relayed(await attemptHosts(options, nextHop, transactionOf(delivery, message), ips, slot))
    }
    case 'hosts': {
      const { hosts, hostSet, security } = target
      const nextHop = nextHopTo({ domain: delivery.domain, hosts, hostSet, security }, message.tls)
      if ('reason' in nextHop) {
        const by = security?.bogus && message.tls !== 'required' ? 'DNSSEC' : 'The sender'
        return resultWithoutNextHop(nextHop, by)
      }
      const result = await attemptHosts(options, nextHop, transactionOf(delivery, message), ips, slot)
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
  const source = result.by?.source
  if (source === undefined || result.pressure !== 'reputation' || sourceIps.sources.length === 1)
    return result
  const isElsewhere = sourceIps.coolOff(source, domain)
  return { ...result, unwantedSource: true, ...(isElsewhere && { kind: 'deferred' }) }
}

/** Limit of new sessions per attempt. */
const SESSIONS_MAX = 2

/**
 * Attempts a delivery over an open session if there is one, otherwise over new sessions to the hosts in
 * order.
 * @param transaction has one recipient
 * @param sources at most one address of each family; none when the operating system chooses
 * @throws PipelineSlotLost when the attempt must not start
 */
export async function attemptHosts(
  options: SmtpOptions,
  nextHop: NextHop,
  transaction: Transaction,
  sources: readonly SourceIp[] = [],
  slot: PipelineSlot = NOT_PIPELINED,
): Promise<AttemptResult> {
  const hostAttempts: HostAttempt[] = []
  const facts = () => partiesOf(transaction, options, sources)
  const context: AttemptContext = { transaction, slot, hostAttempts, facts }
  const ended = (result: AttemptResult) => ({ ...result, hostAttempts })
  const ofLastHost = (result: AttemptResult) => {
    const by = hostAttempts.at(-1)
    return by ? { ...result, by } : result
  }
  const results: AttemptResult[] = []
  const skip = (skipped: SkippedHost) => {
    // hosts beyond the limit give the result only if no other one is a deferral
    if (skipped.why === 'limit') results.unshift(resultOfSkipped(skipped))
    else results.push(resultOfSkipped(skipped))
  }
  const unfit = new Set<string>()
  const known = await overKnownSession(options, nextHop, sources, context)
  if (known && isDecided(known.result)) return ended(ofLastHost(known.result))
  if (known?.result.unfitHost) {
    results.push(ofLastHost(known.result))
    unfit.add(known.mxHost)
  }
  let sessions = 0
  for await (const candidate of addressesOf(options, nextHop, sources, { skip, unfit })) {
    context.isEnvelopeLost = false
    let { result, opened } = await overNewSession(options, nextHop, candidate, context)
    if (context.isEnvelopeLost && candidate.tlsPolicy.pipelining !== false) {
      const cautious = { ...candidate, tlsPolicy: withoutPipelining(candidate.tlsPolicy) }
      ;({ result, opened } = await overNewSession(options, nextHop, cautious, context))
    }
    if (opened && isDecided(result)) return ended(ofLastHost(result))
    results.push(ofLastHost(result))
    if (result.unfitHost) unfit.add(candidate.host)
    else if (opened && ++sessions >= SESSIONS_MAX) break
  }
  return ended(resultOfHosts(results))
}

/** Header fields that hold addresses of our side. */
const OUR_FIELDS = ['from', 'sender', 'reply-to']

/** Returns whom a refusal can name: the recipient, and our addresses and host names. */
function partiesOf(
  { mailFrom, recipients, message }: Transaction,
  { localName }: SmtpOptions,
  sources: readonly SourceIp[],
): EnvelopeFacts {
  const { head } = readHead(message[0]!)
  const shown = OUR_FIELDS.flatMap(field => addressesIn(head.text(field) ?? ''))
  const names = sources.flatMap(({ name }) => name ?? [])
  return { recipient: recipients[0], ours: [mailFrom, ...shown, localName, ...names] }
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
