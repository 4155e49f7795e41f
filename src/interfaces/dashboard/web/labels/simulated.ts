/** Metrics of real email only, without email to the simulator. */
import type { Metrics } from '../api/types.ts'

const SIMULATED = 'simulated_'

/** Rates in API replies already exclude simulated email. */
export function realMetrics(metrics: Metrics): Metrics {
  const { totals, data } = metrics
  return { ...metrics, totals: realCounts(totals), ...(data && { data: data.map(realCounts) }) }
}

/** Subtracts simulated email from the counts and keeps all other fields. */
function realCounts<T extends Readonly<Record<string, unknown>>>(counts: T): T {
  const real = Object.entries(counts).map(([name, value]) => {
    const simulated = counts[`${SIMULATED}${name}`]
    return [name, typeof simulated === 'number' ? Number(value) - simulated : value]
  })
  return Object.fromEntries(real) as T
}
