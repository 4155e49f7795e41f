/** Metrics of real email only, without email to the simulator. */
import type { Metrics } from '../api/types.ts'

const SIMULATED = 'simulated_'

/** Rates are of real mail as they come. */
export function realMetrics(metrics: Metrics): Metrics {
  const { totals, data } = metrics
  return { ...metrics, totals: realCounts(totals), ...(data && { data: data.map(realCounts) }) }
}

/** Keeps what is no figure, and the figures of simulated mail. */
export function realCounts<T extends Readonly<Record<string, unknown>>>(counts: T): T {
  const real = Object.entries(counts).map(([name, value]) => {
    const simulated = counts[`${SIMULATED}${name}`]
    return [name, typeof simulated === 'number' ? Number(value) - simulated : value]
  })
  return Object.fromEntries(real) as T
}
