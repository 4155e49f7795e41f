/** One attempt at one recipient: over an open session, or over new ones to the MX hosts in their order, or the smart host. */
import { isIP, isIPv4 } from 'node:net'
import { isGlobalUnicast } from '../dns/address-safety.ts'
import { type HostAddresses, lookUpAddresses } from '../dns/mx-hosts.ts'
import type { Resolver } from '../dns/resolver.ts'
import type { Clock } from '../lib/clock.ts'
import { openSession } from './client/open.ts'
import {
  DEFAULT_TIMEOUTS,
  type Session,
  type SessionFailure,
  type SessionOptions,
  type Transaction,
  type TransactionResult,
} from './client/types.ts'
import { NO_LINE, type Turn } from './line.ts'
import {
  type Outcome,
  outcomeOf,
  outcomeOfFailure,
  outcomeOfHosts,
  outcomeWithoutHost,
} from './outcome/outcome.ts'
import { relayed } from './outcome/relayed.ts'
import { type HostTrial, lastWord, type PhaseRecord, phaseRecords, tlsRecord } from './outcome/trial.ts'
import type { SourceIp } from './paths/source-ips.ts'
import type { HostTerms, TermsBook } from './policy/host-terms.ts'
import type { TlsResults } from './policy/tls-results.ts'
import type { Way } from './policy/way.ts'
import type { SessionPool } from './session-pool.ts'
import { SharedSession } from './shared-session.ts'
import type { SmartHost } from './smart-host.ts'

export interface AttemptResult {
  outcome: Outcome
  /** In the order of the attempt; the last one gave the outcome, unless nobody was reached. */
  trials: HostTrial[]
}

export interface AttemptOptions {
  clock: Clock
  resolver: Resolver
  pool: SessionPool
  terms: TermsBook
  /** Null where nobody is told of TLS. */
  tlsResults: TlsResults | null
  random: () => number
  localName: string
  port: number
  allowPrivateAddresses: boolean
}

/** Addresses tried and sessions opened in one attempt, at most. */
const MOST_ADDRESSES = 5
const MOST_SESSIONS = 2
const FAMILIES = ['ipv4', 'ipv6'] as const

/**
 * @param transaction with one recipient
 * @param sources at most one of each family; none: the system chooses
 * @throws TurnLost when it was not begun
 */
export async function attempt(
  options: AttemptOptions,
  way: Way,
  transaction: Transaction,
  sources: readonly SourceIp[] = [],
  turn: Turn = NO_LINE,
): Promise<AttemptResult> {
  const result = await attemptHosts(options, way, transaction, sources, turn)
  return way.smartHost ? { ...result, outcome: relayed(result.outcome) } : result
}

async function attemptHosts(
  options: AttemptOptions,
  way: Way,
  transaction: Transaction,
  sources: readonly SourceIp[],
  turn: Turn,
): Promise<AttemptResult> {
  const trials: HostTrial[] = []
  const outcomes: Outcome[] = []
  const unfit = new Set<string>()
  const known = await overKnownSession(options, sessionNames(way, sources), transaction, turn, trials)
  if (known) {
    const { outcome, mxHost } = known
    if (!outcome.hostTrouble && !outcome.unfitHost) return { outcome, trials }
    if (outcome.unfitHost) {
      outcomes.push(outcome)
      unfit.add(mxHost)
    }
  }
  let sessions = 0
  for await (const { host, address, terms } of addressesOf(options, way, sources, outcomes)) {
    if (unfit.has(host)) continue
    const source = sources.find(candidate => isIPv4(candidate.address) === isIPv4(address))
    const opened = await openSession({
      ...sessionOptions(options, host, address, source),
      ...terms.options,
      ...(way.smartHost && smartHostOptions(way.smartHost)),
    })
    noteTls(options.terms, host, opened)
    if (!way.smartHost) options.tlsResults?.note(way, terms, host, address, opened)
    if ('failure' in opened) {
      const outcome = outcomeOfOpening(opened, terms, host)
      const trial = trialInVain(host, address, opened, terms, outcome)
      trials.push({ ...trial, ...(source && { source: source.address }) })
      outcomes.push(outcome)
      continue
    }
    const fresh = {
      session: opened,
      mxHost: host,
      policy: terms.policy,
      brokenTls: terms.brokenTls,
      source: source?.address,
      smartHost: way.smartHost?.name,
    }
    const session = new SharedSession(options.pool, sessionsFrom(way, source?.address), fresh)
    const outcome = await transact(session, transaction, trials, turn)
    if (!outcome.hostTrouble && !outcome.unfitHost) return { outcome, trials }
    outcomes.push(outcome)
    if (outcome.unfitHost) unfit.add(host)
    else if (++sessions >= MOST_SESSIONS) break
  }
  return { outcome: outcomeOfHosts(outcomes), trials }
}

/** What went wrong with TLS at the host is remembered, so that the next session begins with what goes. */
function noteTls(terms: TermsBook, host: string, opened: Session | SessionFailure) {
  const { tlsFallback } = 'failure' in opened ? opened : opened.facts
  const brokenHandshake = 'failure' in opened ? null : opened.facts.brokenHandshake
  if (tlsFallback) terms.brokeTls(host, tlsFallback)
  if (brokenHandshake) terms.brokeHandshake(host, brokenHandshake)
}

/** Behind the delivery before it, or when that has ended, on a session that waits; undefined where there is none. */
async function overKnownSession(
  { pool }: AttemptOptions,
  names: readonly string[],
  transaction: Transaction,
  turn: Turn,
  trials: HostTrial[],
): Promise<{ outcome: Outcome; mxHost: string } | undefined> {
  const over = async (session: SharedSession) => {
    const outcome = await transact(session, transaction, trials, turn)
    if (isStale(outcome)) trials.pop()
    return { outcome, mxHost: session.pooled.mxHost }
  }
  const { ahead } = turn
  if (ahead?.isOpen && names.includes(ahead.hostSet)) {
    const behind = await over(ahead)
    if (!isStale(behind.outcome)) return behind
    if (behind.outcome.reply === null) ahead.wasSilent()
  }
  await turn.alone()
  for (const name of names) {
    const pooled = pool.take(name, transaction.recipients[0]!)
    if (pooled) return over(new SharedSession(pool, name, pooled))
  }
  return undefined
}

function sessionNames(way: Way, sources: readonly SourceIp[]): string[] {
  return sources.length === 0 ? [way.sessions] : sources.map(({ address }) => sessionsFrom(way, address))
}

/** Sessions are shared among deliveries from the same address. */
function sessionsFrom({ sessions }: Way, source: string | undefined): string {
  return source === undefined ? sessions : `${sessions} from ${source}`
}

/** The addresses to try, looked up host by host; what keeps a host from being tried goes to `outcomes`. */
async function* addressesOf(
  { resolver, random, allowPrivateAddresses, terms: termsBook, tlsResults }: AttemptOptions,
  way: Way,
  sources: readonly SourceIp[],
  outcomes: Outcome[],
): AsyncGenerator<{ host: string; address: string; terms: HostTerms }> {
  let left = MOST_ADDRESSES
  const families = familiesOf(sources)
  for (const { name: host } of way.hosts) {
    if (left === 0) return
    const terms = await termsBook.termsOf(way, host)
    if ('refusal' in terms) {
      const { refusal, policyType, result } = terms
      tlsResults?.noteFault(way.domain, policyType, result, refusal)
      outcomes.push(outcomeWithoutHost('deferred', 'policy', refusal))
      continue
    }
    const found =
      isIP(host) > 0 ? itself(host) : await lookUpAddresses(resolver, host, { families, limit: left, random })
    if (found.kind === 'failure') {
      const text = `the address of ${host} is not known: ${found.reason}`
      outcomes.push({ ...outcomeWithoutHost('deferred', 'unknown', text), hostTrouble: true })
    }
    if (found.kind === 'none')
      outcomes.push(
        outcomeWithoutHost(
          'bounced',
          'no-route',
          `${host} has no ${families.length === 1 ? `${families[0]} ` : ''}address`,
        ),
      )
    if (found.kind !== 'addresses') continue
    for (const address of found.addresses) {
      if (!allowPrivateAddresses && !way.smartHost && !isGlobalUnicast(address)) {
        outcomes.push(outcomeWithoutHost('bounced', 'no-route', `${host} has the private address ${address}`))
        continue
      }
      left--
      yield { host, address, terms }
    }
  }
}

/** Nobody is spoken to from an address that the operator did not name. */
function familiesOf(sources: readonly SourceIp[]) {
  if (sources.length === 0) return FAMILIES
  return FAMILIES.filter(family => sources.some(({ address }) => isIPv4(address) === (family === 'ipv4')))
}

/** Only a smart host is known by its address. */
function itself(address: string): HostAddresses {
  return { kind: 'addresses', addresses: [address] }
}

async function transact(
  shared: SharedSession,
  transaction: Transaction,
  trials: HostTrial[],
  turn: Turn,
): Promise<Outcome> {
  const { session, mxHost, policy, brokenTls = null, source } = shared.pooled
  const { facts } = session
  const fresh = facts.transactionCount === 0
  const result = await shared.send(transaction, () => turn.offer(shared))
  const outcome = outcomeOf(result.recipients[0]!, mxHost)
  trials.push({
    host: mxHost,
    ip: facts.peerAddress,
    ...(source !== undefined && { source }),
    ...lastWord(outcome),
    tls: facts.tls && tlsRecord(facts.tls),
    tlsFallback: facts.tlsFallback?.message ?? brokenTls,
    policy,
    phases: phasesOf(session, result, fresh),
  })
  return outcome
}

/** What a new session took to open belongs to its first transaction. */
function phasesOf(
  { facts }: Session,
  { timings, replies }: TransactionResult,
  fresh: boolean,
): PhaseRecord[] {
  const own = phaseRecords(timings, replies)
  return fresh ? [...phaseRecords(facts.timings, facts.replies), ...own] : own
}

function trialInVain(
  host: string,
  ip: string,
  { tlsFallback, timings, replies }: SessionFailure,
  { policy, brokenTls }: HostTerms,
  outcome: Outcome,
): HostTrial {
  const phases = phaseRecords(timings, replies)
  const why = tlsFallback?.message ?? brokenTls
  return { host, ip, ...lastWord(outcome), tls: null, tlsFallback: why, policy, phases }
}

/** A host that does not fulfil our terms is well: others may go there on theirs. */
function outcomeOfOpening({ failure }: SessionFailure, { policy }: HostTerms, mxHost: string): Outcome {
  const outcome = outcomeOfFailure(failure, mxHost)
  return policy !== 'none' && failure.kind === 'tls' ? { ...outcome, onOurTerms: true } : outcome
}

/** A kept connection that the peer had closed, or closes now with 421: a new one may do, and the host is well. */
function isStale({ phase, reply }: Outcome): boolean {
  return phase === 'mail' && (reply === null || reply.code === 421)
}

function sessionOptions(options: AttemptOptions, mxHost: string, address: string, source?: SourceIp) {
  const { clock, port, localName } = options
  return {
    address,
    port,
    mxHost,
    localName: source?.name ?? localName,
    clock,
    timeouts: DEFAULT_TIMEOUTS,
    ...(source && { sourceAddress: source.address }),
  }
}

/** Where its TLS may be missing, that is for the terms to say. */
function smartHostOptions({ port, tls, login }: SmartHost): Partial<SessionOptions> {
  return { port, ...(tls === 'implicit' && { tls }), ...(login && { login }) }
}
