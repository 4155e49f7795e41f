/** Rate limits that the operator has set for destinations, cached by each delivery thread. */
import type { DestinationCapRow } from '../../../store/model/schema.ts'

interface CapRegistry {
  /** Messages per second; null when there is no limit. */
  capOf(destination: string): number | null
  /** Reads the limits again. @returns the destinations whose limit has changed */
  read(): Promise<string[]>
}

const SECONDS_PER_MINUTE = 60

export function createCapRegistry(list: () => Promise<readonly DestinationCapRow[]>): CapRegistry {
  let known = new Map<string, number>()
  return {
    capOf: destination => known.get(destination) ?? null,
    async read() {
      const former = known
      known = new Map(
        (await list()).map(({ destination, perMinute }) => [destination, perMinute / SECONDS_PER_MINUTE]),
      )
      return [...new Set([...former.keys(), ...known.keys()])].filter(
        destination => former.get(destination) !== known.get(destination),
      )
    },
  }
}
