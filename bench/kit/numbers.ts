/** Medians and percentiles. */

export function median(values: readonly number[]): number {
  const sorted = ascending(values)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The smallest value that so large a part of all values does not exceed. */
export function percentile(values: readonly number[], part: number): number {
  return ascending(values)[Math.max(0, Math.ceil(values.length * part) - 1)]!
}

function ascending(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b)
}
