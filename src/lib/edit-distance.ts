/** Edit distance of two texts, to suggest what a misspelled one means. */

interface EditOptions {
  /** Larger distances are reported as infinite. */
  max: number
  /** Whether an exchange of two neighbouring characters counts as one edit, not as two. */
  swaps?: boolean
}

/** @returns number of insertions, deletions and substitutions that turn one text into the other */
export function editDistance(one: string, other: string, { max, swaps = false }: EditOptions): number {
  if (Math.abs(one.length - other.length) > max) return Number.POSITIVE_INFINITY
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, i) => i)
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1]
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1))
      const isSwapped = swaps && i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      if (isSwapped) row[j] = Math.min(row[j]!, beforeLast[j - 2]! + 1)
    }
    beforeLast = last
    last = row
  }
  const distance = last[other.length]!
  return distance > max ? Number.POSITIVE_INFINITY : distance
}
