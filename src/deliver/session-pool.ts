/** Sessions that wait for their next message: a connection is reused for a while and a number of messages. */
import type { Clock, Timer } from '../lib/clock.ts'
import type { Session } from './client/types.ts'

/** A session and the MX host it leads to. */
export interface PooledSession {
  session: Session
  mxHost: string
}

export interface SessionPool {
  /** A live session of the site, or undefined. */
  take(site: string): PooledSession | undefined
  /** Takes a session back, or leave of it when it has served enough. */
  give(site: string, pooled: PooledSession): void
  /** Takes leave of all, and at once of those that are given back later. */
  close(): Promise<void>
}

interface Idle extends PooledSession {
  /** Monotonic ms. */
  since: number
}

const IDLE_MS = 15_000
/** How often idle sessions are looked at. */
const SWEEP_MS = 1_000
const MOST_MESSAGES = 100
const MOST_AGE_MS = 300_000

export function createSessionPool(clock: Clock): SessionPool {
  const idle = new Map<string, Idle[]>()
  const leaving = new Set<Promise<void>>()
  let sweeping: Timer | undefined
  let closed = false

  const quit = ({ session }: PooledSession) => {
    const left = session.quit().finally(() => leaving.delete(left))
    leaving.add(left)
  }
  const sweep = () => {
    const before = clock.monotonic() - IDLE_MS
    for (const [site, entries] of idle) {
      const kept = entries.findIndex(({ since }) => since > before)
      for (const entry of entries.splice(0, kept < 0 ? entries.length : kept)) quit(entry)
      if (entries.length === 0) idle.delete(site)
    }
    sweeping = idle.size > 0 ? clock.timer(SWEEP_MS, sweep) : undefined
  }

  return {
    take(site) {
      const entries = idle.get(site)
      for (let entry = entries?.pop(); entry; entry = entries?.pop()) {
        if (entries!.length === 0) idle.delete(site)
        if (entry.session.alive) return entry
      }
      return undefined
    },
    give(site, pooled) {
      const { session, mxHost } = pooled
      const { transactionCount, openedAt } = session.facts
      if (!session.alive) return
      const isWorn = transactionCount >= MOST_MESSAGES || clock.now() - openedAt >= MOST_AGE_MS
      if (closed || isWorn) return quit(pooled)
      const entry = { session, mxHost, since: clock.monotonic() }
      sweeping ??= clock.timer(SWEEP_MS, sweep)
      const entries = idle.get(site)
      if (entries) entries.push(entry)
      else idle.set(site, [entry])
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
