/** Slows guessing at passwords: failures are counted per pair of client address and account, and cost growing waits. */
import type { Clock } from '../lib/clock.ts'

export interface SignInGuard {
  /** Ms this pair must still wait; 0 when it may try. */
  waitMs(clientAddress: string, email: string): number
  failed(clientAddress: string, email: string): void
  succeeded(clientAddress: string, email: string): void
}

interface Failures {
  count: number
  /** Monotonic ms. */
  until: number
}

const FREE_FAILURES = 5
const FIRST_WAIT_MS = 60_000
const LONGEST_WAIT_MS = 15 * 60_000
/** Pairs remembered; the oldest are forgotten first. */
const REMEMBERED = 10_000

export function createSignInGuard(clock: Clock): SignInGuard {
  const pairs = new Map<string, Failures>()
  const keyOf = (clientAddress: string, email: string) => `${clientAddress} ${email}`
  return {
    waitMs(clientAddress, email) {
      const known = pairs.get(keyOf(clientAddress, email))
      return known ? Math.max(0, known.until - clock.monotonic()) : 0
    },
    failed(clientAddress, email) {
      const key = keyOf(clientAddress, email)
      const count = (pairs.get(key)?.count ?? 0) + 1
      const wait = count < FREE_FAILURES ? 0 : FIRST_WAIT_MS * 2 ** (count - FREE_FAILURES)
      pairs.delete(key)
      pairs.set(key, { count, until: clock.monotonic() + Math.min(wait, LONGEST_WAIT_MS) })
      if (pairs.size > REMEMBERED) pairs.delete(pairs.keys().next().value!)
    },
    succeeded: (clientAddress, email) => void pairs.delete(keyOf(clientAddress, email)),
  }
}
