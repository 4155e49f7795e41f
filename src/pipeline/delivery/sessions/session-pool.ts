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
  const leaving = new Set<Promise<void>>()
  const unpipelined = createHostFaults(clock)
  let closed = false

  const quit = ({ session }: PooledSession) => {
    const left = session.quit().finally(() => leaving.delete(left))
    leaving.add(left)
  }
  const idle = new IdleSessions(clock, maxIdle, quit)
  const hostOf = ({ mxHost, smartHost }: PooledSession) => smartHost ?? mxHost
  /** @param more messages that are in progress on the session */
  const isWorn = (pooled: PooledSession, more: number) => {
    const { transactionCount, openedAt, limits } = pooled.session.facts
    const max = Math.min(messagesPerConnection(hostOf(pooled)), limits.mails)
    return transactionCount + more >= max || clock.now() - openedAt >= AGE_MS_MAX
  }

  return {
    take: (hostSet, address) => idle.take(hostSet, address),
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
      idle.put(hostSet, entry)
    },
    async close() {
      closed = true
      idle.close()
      await Promise.all(leaving)
    },
  }
}

/** Idle sessions by set of hosts. Old ones, and the oldest of too many, are closed. */
class IdleSessions {
  readonly #clock: Clock
  readonly #max: number
  readonly #quit: (pooled: PooledSession) => void
  /** The sets that have held idle sessions longest come first, as do the oldest sessions of each. */
  readonly #byHostSet = new Map<string, Idle[]>()
  #count = 0
  #sweeping: Timer | undefined

  constructor(clock: Clock, max: number, quit: (pooled: PooledSession) => void) {
    this.#clock = clock
    this.#max = max
    this.#quit = quit
  }

  take(hostSet: string, address: string): PooledSession | undefined {
    const entries = this.#byHostSet.get(hostSet)
    if (!entries) return undefined
    for (let at = entries.length - 1; at >= 0; at--) {
      const entry = entries[at]!
      if (entry.session.alive && !takes(entry, address)) continue
      entries.splice(at, 1)
      this.#count--
      if (entries.length === 0) this.#byHostSet.delete(hostSet)
      if (entry.session.alive) return entry
    }
    return undefined
  }

  put(hostSet: string, entry: Idle): void {
    this.#sweeping ??= this.#clock.timer(SWEEP_INTERVAL_MS, this.#sweep)
    const entries = this.#byHostSet.get(hostSet)
    if (entries) entries.push(entry)
    else this.#byHostSet.set(hostSet, [entry])
    if (++this.#count > this.#max) this.#dropOldest()
  }

  close(): void {
    this.#sweeping?.cancel()
    for (const entries of this.#byHostSet.values()) for (const entry of entries) this.#quit(entry)
    this.#byHostSet.clear()
  }

  readonly #sweep = () => {
    const before = this.#clock.monotonic() - IDLE_MS_MAX
    for (const [hostSet, entries] of this.#byHostSet) {
      const firstRecent = entries.findIndex(({ since }) => since > before)
      const old = entries.splice(0, firstRecent < 0 ? entries.length : firstRecent)
      this.#count -= old.length
      for (const entry of old) this.#quit(entry)
      if (entries.length === 0) this.#byHostSet.delete(hostSet)
    }
    this.#sweeping = this.#byHostSet.size > 0 ? this.#clock.timer(SWEEP_INTERVAL_MS, this.#sweep) : undefined
  }

  /** Closes the oldest session of the set of hosts that has held idle sessions longest. */
  #dropOldest(): void {
    const [hostSet, entries] = this.#byHostSet.entries().next().value!
    this.#quit(entries.shift()!)
    this.#count--
    if (entries.length === 0) this.#byHostSet.delete(hostSet)
  }
}

function takes({ session, domains }: PooledSession, address: string): boolean {
  return (
    domains === undefined ||
    domains.size < session.facts.limits.domains ||
    domains.has(domainOf(address).toLowerCase())
  )
}
