/** Chooses which connection or message to end when all slots are taken. */

export interface Candidate {
  /** The network of the client, by `netblockOf`. */
  netblock: string
  bytesPerSecond: number
  /** Monotonic ms: when the candidate last made progress. */
  since: number
}

/**
 * Returns the slowest candidate of the netblock with the most candidates; of several that are equally slow,
 * the one without progress for the longest time. A client whose netblock has few slow connections is thereby
 * safe from those who open many.
 */
export function slowestOfLargest<T extends Candidate>(candidates: readonly T[]): T | undefined {
  const counts = countByNetblock(candidates)
  let chosen: T | undefined
  for (const one of candidates) if (!chosen || goesBefore(one, chosen, counts)) chosen = one
  return chosen
}

export function countByNetblock(holders: Iterable<Pick<Candidate, 'netblock'>>): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { netblock } of holders) counts.set(netblock, (counts.get(netblock) ?? 0) + 1)
  return counts
}

function goesBefore(one: Candidate, other: Candidate, counts: Map<string, number>): boolean {
  const more = counts.get(one.netblock)! - counts.get(other.netblock)!
  if (more !== 0) return more > 0
  if (one.bytesPerSecond !== other.bytesPerSecond) return one.bytesPerSecond < other.bytesPerSecond
  return one.since < other.since
}
