/** How much sites get by the operator's order, as a thread knows it. */
import type { SiteCapRow } from '../../../store/schema.ts'

interface CapRegistry {
  /** Messages a second; any number when null. */
  capOf(site: string): number | null
  /** Looks again. @returns sites that get another number than before */
  read(): Promise<string[]>
}

const SECONDS_PER_MINUTE = 60

export function createCapRegistry(list: () => Promise<readonly SiteCapRow[]>): CapRegistry {
  let known = new Map<string, number>()
  return {
    capOf: site => known.get(site) ?? null,
    async read() {
      const former = known
      known = new Map((await list()).map(({ site, perMinute }) => [site, perMinute / SECONDS_PER_MINUTE]))
      return [...new Set([...former.keys(), ...known.keys()])].filter(
        site => former.get(site) !== known.get(site),
      )
    },
  }
}
