/**
 * How much an address that is new to receivers may send: so many messages a UTC day to each mailbox provider,
 * for some weeks.
 */
import { OTHERS, PROVIDERS } from '../providers.ts'

export interface WarmupPlan {
  /** On the first, second, … day, to one provider. Afterwards any number. */
  caps: readonly number[]
  /** When the first day begins, epoch ms, by address. */
  starts: ReadonlyMap<string, number>
}

/** Where an address is on its way. */
export interface WarmupDay {
  /** From 1; before the start it is the first. */
  number: number
  /** To one provider. */
  cap: number
}

const DAY_MS = 86_400_000
const PROVIDER_NAMES = new Set(PROVIDERS.map(({ name }) => name))

/** @param at epoch ms. @returns undefined for an address that is warm */
export function warmupDay({ caps, starts }: WarmupPlan, address: string, at: number): WarmupDay | undefined {
  const start = starts.get(address)
  if (start === undefined) return undefined
  const number = Math.max(0, Math.floor((at - start) / DAY_MS)) + 1
  const cap = caps[number - 1]
  return cap === undefined ? undefined : { number, cap }
}

/**
 * Under which name messages to a destination are counted; undefined where they are not: at smart hosts, and
 * where nobody is spoken to.
 */
export function warmedProvider(destination: string): string | undefined {
  if (PROVIDER_NAMES.has(destination)) return destination
  return destination.includes('.') && !destination.startsWith('!') ? OTHERS : undefined
}
