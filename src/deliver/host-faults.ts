/** Hosts at which something went wrong that is better left out for a while: of TLS, or of sending ahead. */
import type { Clock } from '../lib/clock.ts'

export interface HostFaults {
  /** Why it is not tried with the host now; undefined where it is. */
  reasonOf(host: string): string | undefined
  remember(host: string, reason: string): void
}

const KEPT_MS = 3_600_000
const MOST_KEPT = 5_000

export function createHostFaults(clock: Clock): HostFaults {
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
