/** One attempt at one recipient: over an open session, or over new ones to the MX hosts in their order. */
import type { SecureContext } from 'node:tls'
import { isGlobalUnicast } from '../dns/address-safety.ts'
import { lookUpAddresses, type MxHost } from '../dns/mx-hosts.ts'
import type { Resolver } from '../dns/resolver.ts'
import type { Clock } from '../lib/clock.ts'
import { formatReply } from '../smtp/reply.ts'
import { openSession } from './client/open.ts'
import { DEFAULT_TIMEOUTS, type PhaseTimings, type TlsFacts, type Transaction } from './client/types.ts'
import { type Outcome, outcomeOf, outcomeOfFailure, outcomeOfHosts, outcomeWithoutHost } from './outcome.ts'
import type { PooledSession, SessionPool } from './session-pool.ts'

/** One host spoken to, for the record. */
export interface HostTrial {
  host: string
  ip: string
  phase: string | null
  reply: string
  /** Such as `TLSv1.3`; null for plain text. */
  tls: string | null
  /** Why it is plain text although TLS was offered. */
  tlsFallback: string | null
  timings: PhaseTimings
}

export interface AttemptResult {
  outcome: Outcome
  /** In the order of the attempt; the last one gave the outcome, unless nobody was reached. */
  trials: HostTrial[]
}

export interface AttemptOptions {
  clock: Clock
  resolver: Resolver
  pool: SessionPool
  secureContext: SecureContext
  random: () => number
  localName: string
  port: number
  allowPrivateAddresses: boolean
  sourceAddress?: string
}

/** Addresses tried and sessions opened in one attempt, at most. */
const MOST_ADDRESSES = 5
const MOST_SESSIONS = 2
const FAMILIES = ['ipv4', 'ipv6'] as const

/** @param transaction with one recipient */
export async function attempt(
  options: AttemptOptions,
  site: string,
  hosts: readonly MxHost[],
  transaction: Transaction,
): Promise<AttemptResult> {
  const trials: HostTrial[] = []
  const pooled = options.pool.take(site, transaction.recipients[0]!)
  if (pooled) {
    const outcome = await transact(options, site, pooled, transaction, trials)
    if (!outcome.hostTrouble) return { outcome, trials }
    if (isStale(outcome)) trials.pop()
  }
  const outcomes: Outcome[] = []
  let sessions = 0
  for await (const { host, address } of addressesOf(options, hosts, outcomes)) {
    const opened = await openSession(sessionOptions(options, host, address))
    if ('failure' in opened) {
      const outcome = outcomeOfFailure(opened.failure)
      const tlsFallback = opened.tlsFallback?.message ?? null
      trials.push({ host, ip: address, ...lastWord(outcome), tls: null, tlsFallback, timings: {} })
      outcomes.push(outcome)
      continue
    }
    const outcome = await transact(options, site, { session: opened, mxHost: host }, transaction, trials)
    if (!outcome.hostTrouble) return { outcome, trials }
    outcomes.push(outcome)
    if (++sessions >= MOST_SESSIONS) break
  }
  return { outcome: outcomeOfHosts(outcomes), trials }
}

/** The addresses to try, looked up host by host; what keeps a host from being tried goes to `outcomes`. */
async function* addressesOf(
  { resolver, random, allowPrivateAddresses }: AttemptOptions,
  hosts: readonly MxHost[],
  outcomes: Outcome[],
): AsyncGenerator<{ host: string; address: string }> {
  let left = MOST_ADDRESSES
  for (const { name: host } of hosts) {
    if (left === 0) return
    const found = await lookUpAddresses(resolver, host, { families: FAMILIES, limit: left, random })
    if (found.kind === 'failure')
      outcomes.push(
        outcomeWithoutHost('deferred', 'unknown', `the address of ${host} is not known: ${found.reason}`),
      )
    if (found.kind === 'none')
      outcomes.push(outcomeWithoutHost('bounced', 'no-route', `${host} has no address`))
    if (found.kind !== 'addresses') continue
    for (const address of found.addresses) {
      if (!allowPrivateAddresses && !isGlobalUnicast(address)) {
        outcomes.push(outcomeWithoutHost('bounced', 'no-route', `${host} has the private address ${address}`))
        continue
      }
      left--
      yield { host, address }
    }
  }
}

async function transact(
  { pool }: AttemptOptions,
  site: string,
  pooled: PooledSession,
  transaction: Transaction,
  trials: HostTrial[],
): Promise<Outcome> {
  const { session, mxHost } = pooled
  const { facts } = session
  const fresh = facts.transactionCount === 0
  const result = await session.send(transaction).catch(error => {
    pool.give(site, pooled, transaction.recipients[0]!) // nothing was sent
    throw error
  })
  if (result.reusable) pool.give(site, pooled, transaction.recipients[0]!)
  else session.destroy()
  const outcome = outcomeOf(result.recipients[0]!)
  trials.push({
    host: mxHost,
    ip: facts.peerAddress,
    ...lastWord(outcome),
    tls: facts.tls && tlsText(facts.tls),
    tlsFallback: facts.tlsFallback?.message ?? null,
    timings: fresh ? { ...facts.timings, ...result.timings } : result.timings,
  })
  return outcome
}

/** A kept connection that the peer had closed, or closes now with 421: a new one may do, and the host is well. */
function isStale({ phase, reply }: Outcome): boolean {
  return phase === 'mail' && (reply === null || reply.code === 421)
}

function lastWord({ phase, reply, text }: Outcome): { phase: string | null; reply: string } {
  return { phase, reply: reply ? formatReply(reply) : text }
}

function tlsText({ protocol, authorized }: TlsFacts): string {
  return authorized ? `${protocol} verified` : protocol
}

function sessionOptions(options: AttemptOptions, mxHost: string, address: string) {
  const { clock, port, localName, secureContext, sourceAddress } = options
  return {
    address,
    port,
    mxHost,
    localName,
    secureContext,
    clock,
    tls: 'opportunistic' as const,
    timeouts: DEFAULT_TIMEOUTS,
    ...(sourceAddress === undefined ? {} : { sourceAddress }),
  }
}
