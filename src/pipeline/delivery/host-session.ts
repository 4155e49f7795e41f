/**
 * One message over one session: an open one, or a new one to one address of a host.
 *
 * In: a next hop, an address and a transaction, from `attempt.ts`. Out: the result, with a record of the
 * host.
 */
import type { Clock } from '../../lib/clock.ts'
import type { EnvelopeFacts } from '../../protocols/bounces/sentence/clauses.ts'
import { formatReply } from '../../protocols/smtp/reply.ts'
import type { HostAddress } from './addresses.ts'
import {
  type AttemptResult,
  requiresTls,
  resultOf,
  resultOfOpening,
  waitingForTls,
} from './outcome/attempt-result.ts'
import { type HostAttempt, type PhaseRecord, phaseRecords, tlsRecord } from './outcome/host-attempt.ts'
import type { PipelineSlot } from './sessions/pipeline.ts'
import type { SessionPool } from './sessions/session-pool.ts'
import { SharedSession } from './sessions/shared-session.ts'
import type { SourceIp } from './shaping/source-ips.ts'
import { openSession } from './smtp-client/open.ts'
import {
  DEFAULT_TIMEOUTS,
  type SessionFailure,
  type SessionOptions,
  type SmtpSession,
  type Transaction,
  type TransactionResult,
} from './smtp-client/types.ts'
import type { HostTlsPolicies, HostTlsPolicy } from './tls-policy/host-tls-policy.ts'
import type { NextHop } from './tls-policy/next-hop.ts'
import type { TlsResults } from './tls-policy/tls-results.ts'

export interface HostSessionOptions {
  clock: Clock
  pool: SessionPool
  tlsPolicies: HostTlsPolicies
  /** Null when no TLS results are counted. */
  tlsResults: TlsResults | null
  /** Host name for EHLO, unless the source address has one. */
  localName: string
  port: number
}

/** What every step of the attempt needs. The host attempts are added to as the attempt proceeds. */
export interface AttemptContext {
  transaction: Transaction
  slot: PipelineSlot
  hostAttempts: HostAttempt[]
  /** The parties of the delivery, for the meaning of refusals. */
  facts: () => EnvelopeFacts
  /** Whether the host answered MAIL but nothing that was sent together with it. */
  isEnvelopeLost?: boolean
}

/** Sends the message over a new session to the address. */
export async function overNewSession(
  options: HostSessionOptions,
  nextHop: NextHop,
  candidate: HostAddress,
  context: AttemptContext,
): Promise<{ result: AttemptResult; opened: boolean }> {
  const { host, address, tlsPolicy, source } = candidate
  const opened = await openSession(sessionOptions(options, nextHop, candidate, context.slot))
  recordTlsFailures(options.tlsPolicies, host, opened)
  if (!nextHop.smartHost) options.tlsResults?.count(nextHop, tlsPolicy, host, address, opened)
  if ('failure' in opened) {
    const result = resultOfOpening(opened.failure, tlsPolicy.policy, host)
    const hostAttempt = failedHostAttempt(host, address, opened, tlsPolicy, result)
    context.hostAttempts.push({ ...hostAttempt, ...(source && { source: source.address }) })
    return { result, opened: false }
  }
  const fresh = {
    session: opened,
    mxHost: host,
    policy: tlsPolicy.policy,
    brokenTls: tlsPolicy.brokenTls,
    source: source?.address,
    smartHost: nextHop.smartHost?.name,
  }
  const session = new SharedSession(options.pool, sessionsFrom(nextHop, source?.address), fresh)
  return { result: await transact(options.tlsPolicies, session, context), opened: true }
}

/** Remembers TLS failures of the host, so that the next session starts with what works. */
function recordTlsFailures(tlsPolicies: HostTlsPolicies, host: string, opened: SmtpSession | SessionFailure) {
  const { tlsFallback } = 'failure' in opened ? opened : opened.facts
  const brokenHandshake = 'failure' in opened ? null : opened.facts.brokenHandshake
  if (tlsFallback) tlsPolicies.recordTlsFailure(host, tlsFallback)
  if (brokenHandshake) tlsPolicies.recordHandshakeFailure(host, brokenHandshake)
}

/**
 * Sends the message pipelined behind the previous delivery, or over an idle session once that delivery has
 * ended. @returns undefined when there is no open session
 */
export async function overKnownSession(
  { pool, tlsPolicies }: HostSessionOptions,
  nextHop: NextHop,
  sources: readonly SourceIp[],
  context: AttemptContext,
): Promise<{ result: AttemptResult; mxHost: string } | undefined> {
  const { transaction, slot } = context
  const names = sessionNames(nextHop, sources)
  const over = async (session: SharedSession) => {
    const result = await transact(tlsPolicies, session, context)
    if (isStale(result)) context.hostAttempts.pop()
    return { result, mxHost: session.pooled.mxHost }
  }
  const { ahead } = slot
  if (ahead?.isOpen && names.includes(ahead.hostSet)) {
    const behind = await over(ahead)
    if (!isStale(behind.result)) return behind
    if (behind.result.reply === null) ahead.envelopeUnanswered()
  }
  await slot.previousEnded()
  for (const name of names) {
    const pooled = pool.take(name, transaction.recipients[0]!)
    if (pooled) return over(new SharedSession(pool, name, pooled))
  }
  return undefined
}

function sessionNames(nextHop: NextHop, sources: readonly SourceIp[]): string[] {
  return sources.length === 0
    ? [nextHop.sessions]
    : sources.map(({ address }) => sessionsFrom(nextHop, address))
}

/** Sessions are shared only among deliveries from the same source address. */
function sessionsFrom({ sessions }: NextHop, source: string | undefined): string {
  return source === undefined ? sessions : `${sessions} from ${source}`
}

async function transact(
  tlsPolicies: HostTlsPolicies,
  shared: SharedSession,
  context: AttemptContext,
): Promise<AttemptResult> {
  const { transaction, slot, hostAttempts, facts: parties } = context
  const { session, mxHost, policy, brokenTls = null, source } = shared.pooled
  const { facts } = session
  const fresh = facts.transactionCount === 0
  const patient = { ...transaction, mayWaitOn: () => slot.mayWaitOn() }
  const sent = await shared.send(patient, () => slot.offer(shared))
  const replied = resultOf(sent.recipients[0]!, mxHost, parties)
  const tlsFallback = facts.tlsFallback?.message ?? brokenTls
  const result = tlsFallback !== null && requiresTls(replied) ? waitingForTls(replied) : replied
  if (result !== replied) {
    tlsPolicies.recordTlsRequired(mxHost)
    void session.quit()
  }
  context.isEnvelopeLost = isLostEnvelope(session, sent)
  if (context.isEnvelopeLost) tlsPolicies.recordPipeliningFailure(mxHost)
  hostAttempts.push({
    host: mxHost,
    ip: facts.peerAddress,
    ...(source !== undefined && { source }),
    ...lastReplyOf(result),
    tls: facts.tls && tlsRecord(facts.tls),
    tlsFallback,
    policy,
    phases: phasesOf(session, sent, fresh),
  })
  return result
}

/** Whether the peer answered MAIL but nothing that was sent together with it. */
function isLostEnvelope({ facts }: SmtpSession, { recipients, replies }: TransactionResult): boolean {
  const [recipient] = recipients
  if (!facts.extensions.has('PIPELINING') || recipient?.kind !== 'failed' || !replies.mail) return false
  const { kind, phase } = recipient.failure
  return kind === 'timeout' && (phase === 'rcpt' || phase === 'data')
}

/** The time it took to open a session is recorded with its first transaction. */
function phasesOf(
  { facts }: SmtpSession,
  { timings, replies }: TransactionResult,
  fresh: boolean,
): PhaseRecord[] {
  const own = phaseRecords(timings, replies)
  return fresh ? [...phaseRecords(facts.timings, facts.replies), ...own] : own
}

function failedHostAttempt(
  host: string,
  ip: string,
  { tlsFallback, timings, replies }: SessionFailure,
  { policy, brokenTls }: HostTlsPolicy,
  result: AttemptResult,
): HostAttempt {
  const phases = phaseRecords(timings, replies)
  const why = tlsFallback?.message ?? brokenTls
  return { host, ip, ...lastReplyOf(result), tls: null, tlsFallback: why, policy, phases }
}

function lastReplyOf({ phase, reply, text }: AttemptResult): Pick<HostAttempt, 'phase' | 'reply'> {
  return { phase, reply: reply ? formatReply(reply) : text }
}

/**
 * Whether a reused connection turned out to be closed, or is closed now with 421. A new connection may work,
 * and the host is not to blame.
 */
function isStale({ phase, reply }: AttemptResult): boolean {
  return phase === 'mail' && (reply === null || reply.code === 421)
}

/** Whether the session may do without TLS is decided by the host's TLS policy. */
function sessionOptions(
  { clock, port, localName }: HostSessionOptions,
  { smartHost }: NextHop,
  { host, address, source, tlsPolicy }: HostAddress,
  slot: PipelineSlot,
): SessionOptions {
  const { tls, pipelining } = tlsPolicy
  return {
    address,
    port: smartHost?.port ?? port,
    mxHost: host,
    localName: source?.name ?? localName,
    ...(source && { sourceAddress: source.address }),
    tls: smartHost?.tls === 'implicit' ? { ...tls, mode: 'implicit' } : tls,
    ...(smartHost?.login && { login: smartHost.login }),
    ...(pipelining !== undefined && { pipelining }),
    timeouts: DEFAULT_TIMEOUTS,
    mayWaitOn: () => slot.mayWaitOn(),
    clock,
  }
}
