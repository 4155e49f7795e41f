/** Suggests a known name for a misspelled one. */

const EDIT_DISTANCE_MAX = 4

/** Returns `; did you mean "…"?`, or an empty string if no known name is close. */
export function nearest(name: string, known: Iterable<string>): string {
  let best = ''
  let distance = EDIT_DISTANCE_MAX + 1
  for (const candidate of known) {
    const found = editDistance(name, candidate)
    if (found < distance) [best, distance] = [candidate, found]
  }
  return best === '' ? '' : `; did you mean "${best}"?`
}

function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > EDIT_DISTANCE_MAX) return EDIT_DISTANCE_MAX + 1
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    row = next
  }
  return row[b.length]!
}
