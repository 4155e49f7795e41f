/**
 * Figures of the writer thread for the metrics of the process. In: committed groups. Out: totals since the
 * start, which the thread sends to the main thread about once a second.
 */
import { createHistogram, DURATION_BOUNDS_SECONDS, type HistogramReading } from '../../lib/histogram.ts'

export interface WriterFigures {
  /** Sums of what commands have tallied, by name. */
  tallies: Readonly<Record<string, number>>
  /** Durations of groups with their commits, in seconds. */
  durations: HistogramReading
  /** Numbers of commands of groups. */
  sizes: HistogramReading
  /** Number of commands in all groups. */
  commandCount: number
}

interface FiguresSource {
  /** Adds a group that has ended. */
  add(group: { seconds: number; commandCount: number; tallies: ReadonlyMap<string, number> }): void
  /** @returns undefined if nothing has changed since the last call */
  take(): WriterFigures | undefined
}

const SIZE_BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000]

export const NO_FIGURES: WriterFigures = {
  tallies: {},
  durations: createHistogram(DURATION_BOUNDS_SECONDS).read(),
  sizes: createHistogram(SIZE_BOUNDS).read(),
  commandCount: 0,
}

export function createFigures(): FiguresSource {
  const sums = new Map<string, number>()
  const durations = createHistogram(DURATION_BOUNDS_SECONDS)
  const sizes = createHistogram(SIZE_BOUNDS)
  let commandCount = 0
  let isChanged = false
  return {
    add(group) {
      durations.observe(group.seconds)
      sizes.observe(group.commandCount)
      commandCount += group.commandCount
      for (const [name, count] of group.tallies) sums.set(name, (sums.get(name) ?? 0) + count)
      isChanged = true
    },
    take() {
      if (!isChanged) return undefined
      isChanged = false
      return {
        tallies: Object.fromEntries(sums),
        durations: durations.read(),
        sizes: sizes.read(),
        commandCount,
      }
    },
  }
}
