/** Suggests a known name for a misspelled one. */
import { editDistance } from '../lib/edit-distance.ts'

const EDIT_DISTANCE_MAX = 4

/** Returns `; did you mean "…"?`, or an empty string if no known name is close. */
export function nearest(name: string, known: Iterable<string>): string {
  let best = ''
  let distance = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const found = editDistance(name, candidate, { max: EDIT_DISTANCE_MAX })
    if (found < distance) [best, distance] = [candidate, found]
  }
  return best === '' ? '' : `; did you mean "${best}"?`
}
