/**
 * Warm-up plan of source addresses: how many messages per UTC day an address may send to each mailbox
 * provider while it is new to them.
 */
import { OTHERS, PROVIDERS } from '../destinations/providers.ts'

export interface WarmupPlan {
  /** Messages to one provider on the first, second and later days. There is no limit after the last one. */
  caps: readonly number[]
  /** Start of the first day by address, in ms since the epoch. */
  starts: ReadonlyMap<string, number>
}

/** Position of an address in the plan. */
export interface WarmupDay {
  /** Number of the day. The first day is 1, as is any day before the start. */
  number: number
  /** Messages to one provider on that day. */
  cap: number
}

const DAY_MS = 86_400_000
const PROVIDER_NAMES = new Set(PROVIDERS.map(({ name }) => name))

/**
 * @param at in ms since the epoch
 * @returns undefined for an address that is not being warmed up
 */
export function warmupDay({ caps, starts }: WarmupPlan, address: string, at: number): WarmupDay | undefined {
  const start = starts.get(address)
  if (start === undefined) return undefined
  const number = Math.max(0, Math.floor((at - start) / DAY_MS)) + 1
  const cap = caps[number - 1]
  return cap === undefined ? undefined : { number, cap }
}

/**
 * Returns the name under which messages to a destination are counted. Undefined for destinations without
 * warm-up: smart hosts, and those that need no connection.
 */
export function warmedProvider(destination: string): string | undefined {
  if (PROVIDER_NAMES.has(destination)) return destination
  return destination.includes('.') && !destination.startsWith('!') ? OTHERS : undefined
}
