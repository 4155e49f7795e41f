/** Pool of idle SMTP sessions, so that a connection carries several messages. */

import type { Clock, Timer } from '../../../lib/clock.ts'
import { domainOf } from '../../../protocols/smtp/address.ts'
import type { SmtpSession } from '../smtp-client/types.ts'
import { createHostFaults, type PolicyName } from '../tls-policy/host-tls-policy.ts'

/** A session with the MX host it is connected to. */
export interface PooledSession {
  session: SmtpSession
  mxHost: string
  /** The rule that its TLS policy comes from. */
  policy: PolicyName
  /** Why the session was opened in plain text. */
  brokenTls?: string | null
  /** Source address; undefined when the operating system chose it. */
  source?: string | undefined
  /** Name of the smart host. */
  smartHost?: string | undefined
  /** Recipient domains that the session has carried, for a peer that limits their number. */
  domains?: Set<string>
}

export interface SessionPool {
  /** A live session to the set of hosts that accepts mail for the address; undefined when there is none. */
  take(hostSet: string, address: string): PooledSession | undefined
  /**
   * Whether another message may be sent behind those in progress on the session.
   * @param userCount number of messages in progress, at least one
   */
  canPipeline(pooled: PooledSession, userCount: number): boolean
  /** Stops pipelining messages to the session's host for an hour. */
  disablePipelining(pooled: PooledSession): void
  /** Returns a session after a message to the address. A session that has reached a limit is closed. */
  give(hostSet: string, pooled: PooledSession, address: string): void
  /** Closes all sessions, and those that are returned later. */
  close(): Promise<void>
}

interface Idle extends PooledSession {
  /** Time at which the session became idle, in monotonic ms. */
  since: number
}

const IDLE_MS_MAX = 15_000
/** Interval at which idle sessions are checked. */
const SWEEP_INTERVAL_MS = 1_000
const AGE_MS_MAX = 300_000

interface SessionPoolOptions {
  /** Messages per session, by the name of the smart host or MX host. */
  messagesPerConnection(host: string): number
  /** Idle sessions, for all hosts together. */
  maxIdle?: number
}

export function createSessionPool(
  clock: Clock,
  { messagesPerConnection, maxIdle = 500 }: SessionPoolOptions,
): SessionPool {
  const idle = new Map<string, Idle[]>()
  const leaving = new Set<Promise<void>>()
  const unpipelined = createHostFaults(clock)
  let idleCount = 0
  let sweeping: Timer | undefined
  let closed = false

  const quit = ({ session }: PooledSession) => {
    const left = session.quit().finally(() => leaving.delete(left))
    leaving.add(left)
  }
  const hostOf = ({ mxHost, smartHost }: PooledSession) => smartHost ?? mxHost
  /** @param more messages that are in progress on the session */
  const isWorn = (pooled: PooledSession, more: number) => {
    const { transactionCount, openedAt, limits } = pooled.session.facts
    const most = Math.min(messagesPerConnection(hostOf(pooled)), limits.mails)
    return transactionCount + more >= most || clock.now() - openedAt >= AGE_MS_MAX
  }
  const sweep = () => {
    const before = clock.monotonic() - IDLE_MS_MAX
    for (const [hostSet, entries] of idle) {
      const kept = entries.findIndex(({ since }) => since > before)
      const old = entries.splice(0, kept < 0 ? entries.length : kept)
      idleCount -= old.length
      for (const entry of old) quit(entry)
      if (entries.length === 0) idle.delete(hostSet)
    }
    sweeping = idle.size > 0 ? clock.timer(SWEEP_INTERVAL_MS, sweep) : undefined
  }

  /** Closes the oldest session of the set of hosts that has held idle sessions longest. */
  const dropOldest = () => {
    const [hostSet, entries] = idle.entries().next().value!
    quit(entries.shift()!)
    idleCount--
    if (entries.length === 0) idle.delete(hostSet)
  }

  return {
    take(hostSet, address) {
      const entries = idle.get(hostSet)
      if (!entries) return undefined
      for (let at = entries.length - 1; at >= 0; at--) {
        const entry = entries[at]!
        if (entry.session.alive && !takes(entry, address)) continue
        entries.splice(at, 1)
        idleCount--
        if (entries.length === 0) idle.delete(hostSet)
        if (entry.session.alive) return entry
      }
      return undefined
    },
    canPipeline(pooled, userCount) {
      const { alive, facts } = pooled.session
      if (!alive || closed || facts.limits.domains !== Infinity) return false
      return !isWorn(pooled, userCount - 1) && unpipelined.get(hostOf(pooled)) === undefined
    },
    disablePipelining: pooled => unpipelined.set(hostOf(pooled), 'loses what is sent ahead'),
    give(hostSet, pooled, address) {
      const { session, mxHost, policy, brokenTls = null, source, smartHost } = pooled
      const { limits } = session.facts
      if (!session.alive) return
      if (closed || isWorn(pooled, 0)) return quit(pooled)
      const since = clock.monotonic()
      const entry: Idle = { session, mxHost, policy, brokenTls, source, smartHost, since }
      if (limits.domains !== Infinity)
        entry.domains = (pooled.domains ?? new Set()).add(domainOf(address).toLowerCase())
      sweeping ??= clock.timer(SWEEP_INTERVAL_MS, sweep)
      const entries = idle.get(hostSet)
      if (entries) entries.push(entry)
      else idle.set(hostSet, [entry])
      if (++idleCount > maxIdle) dropOldest()
    },
    async close() {
      closed = true
      sweeping?.cancel()
      for (const entries of idle.values()) for (const entry of entries) quit(entry)
      idle.clear()
      await Promise.all(leaving)
    },
  }
}

function takes({ session, domains }: PooledSession, address: string): boolean {
  return (
    domains === undefined ||
    domains.size < session.facts.limits.domains ||
    domains.has(domainOf(address).toLowerCase())
  )
}
