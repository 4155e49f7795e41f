/** Line diff of two texts, by longest common subsequence. */

interface DiffLine {
  kind: 'same' | 'old' | 'new'
  text: string
}

/** If the table of the differing part is larger than this, all its lines count as different. */
const CELLS_MAX = 4_000_000

export function diffLines(older: string, newer: string): DiffLine[] {
  const [a, b] = [older.split('\n'), newer.split('\n')]
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++
  return [
    ...a.slice(0, head).map(same),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map(same),
  ]
}

function middle(a: readonly string[], b: readonly string[]): DiffLine[] {
  const wide = b.length + 1
  if ((a.length + 1) * wide > CELLS_MAX) return [...a.map(old), ...b.map(fresh)]
  const longest = new Uint32Array((a.length + 1) * wide)
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      longest[i * wide + j] =
        a[i] === b[j]
          ? longest[(i + 1) * wide + j + 1]! + 1
          : Math.max(longest[(i + 1) * wide + j]!, longest[i * wide + j + 1]!)
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length)
    if (a[i] === b[j]) {
      lines.push(same(a[i++]!))
      j++
    } else if (longest[(i + 1) * wide + j]! >= longest[i * wide + j + 1]!) lines.push(old(a[i++]!))
    else lines.push(fresh(b[j++]!))
  return [...lines, ...a.slice(i).map(old), ...b.slice(j).map(fresh)]
}

function same(text: string): DiffLine {
  return { kind: 'same', text }
}

function old(text: string): DiffLine {
  return { kind: 'old', text }
}

function fresh(text: string): DiffLine {
  return { kind: 'new', text }
}
