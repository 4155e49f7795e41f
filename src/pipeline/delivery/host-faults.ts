/** Hosts at which something went wrong that is better left out for a while: of TLS, or of sending ahead. */
import type { Clock } from '../../lib/clock.ts'
import { createExpiringMap, type ExpiringMap } from '../../lib/expiring-map.ts'

/** Why, by host. */
export type HostFaults = ExpiringMap<string>

export function createHostFaults(clock: Clock): HostFaults {
  return createExpiringMap(clock, { keptMs: 3_600_000, most: 5_000 })
}
