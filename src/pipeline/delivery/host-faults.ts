/**
 * Remembers for an hour which hosts failed at TLS or at pipelining, so that it is not tried there again
 * meanwhile.
 */
import type { Clock } from '../../lib/clock.ts'
import { createExpiringMap, type ExpiringMap } from '../../lib/expiring-map.ts'

/** The reason of the failure, by host. */
export type HostFaults = ExpiringMap<string>

export function createHostFaults(clock: Clock): HostFaults {
  return createExpiringMap(clock, { keptMs: 3_600_000, most: 5_000 })
}
