/** Runs one authentication check within its limits of time and DNS look-ups. It always returns a result. */

import { type Clock, within } from '../../../lib/clock.ts'
import { printableAscii } from '../../../lib/printable-ascii.ts'
import { type BudgetedResolver, createDnsBudget, type DnsBudget } from './dns-budget.ts'
import type { CheckFinding } from './verdict.ts'

export interface BoundedCheckOptions {
  resolver: BudgetedResolver
  clock: Clock
}

interface Limits {
  ms: number
  /** Maximum number of DNS look-ups. */
  lookups: number
}

/** @returns the result of `work`, or a temporary error with the reason */
export async function runBoundedCheck<T extends CheckFinding>(
  { resolver, clock }: BoundedCheckOptions,
  limits: Limits,
  work: (dns: DnsBudget) => Promise<T>,
  failed: (fault: CheckFinding) => T,
): Promise<T> {
  const dns = createDnsBudget(resolver, limits.lookups)
  try {
    const found = await within(clock, limits.ms, work(dns))
    return found ?? failed({ result: 'temperror', reason: `not known within ${limits.ms / 1_000} s` })
  } catch (error) {
    return failed({ result: 'temperror', reason: `could not be checked: ${messageOf(error)}` })
  } finally {
    dns.end()
  }
}

export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 200)
}

const RESULTS = ['pass', 'fail', 'softfail', 'neutral', 'none', 'policy', 'temperror', 'permerror'] as const

/** Checks a result name of mailauth, whose types are wider than its results. */
export function resultOf(text: string): CheckFinding['result'] {
  const known = RESULTS.find(result => result === text)
  if (known === undefined) throw new Error(`there is no result "${text}"`)
  return known
}

/** Comment of mailauth reduced to at most 300 printable ASCII characters. */
export function plainText(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  return printableAscii(text, 300)
}
