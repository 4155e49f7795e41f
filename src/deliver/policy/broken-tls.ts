/** Hosts whose TLS broke: for a time they are spoken to in plain text at once, where no policy forbids it. */
import type { Clock } from '../../lib/clock.ts'

export interface BrokenTls {
  /** Why TLS with the host is not tried now; undefined where it is. */
  reasonOf(host: string): string | undefined
  remember(host: string, reason: string): void
}

const KEPT_MS = 3_600_000
const MOST_KEPT = 5_000

export function createBrokenTls(clock: Clock): BrokenTls {
  const hosts = new Map<string, { reason: string; until: number }>()
  return {
    reasonOf(host) {
      const known = hosts.get(host)
      if (!known) return undefined
      if (known.until > clock.monotonic()) return known.reason
      hosts.delete(host)
      return undefined
    },
    remember(host, reason) {
      hosts.delete(host)
      if (hosts.size >= MOST_KEPT) hosts.delete(hosts.keys().next().value!)
      hosts.set(host, { reason, until: clock.monotonic() + KEPT_MS })
    },
  }
}
