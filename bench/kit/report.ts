/** Reports the results of a scenario: as a table for people, as JSON for programs. */
import { cpus, release, totalmem } from 'node:os'
import { median } from './numbers.ts'

/** One contender in one round. */
export interface Measurement {
  contender: string
  figures: Readonly<Record<string, number>>
}

export interface Column {
  figure: string
  title: string
  digits: number
  /** Shown with its least and largest value, and as a multiple of the contenders named. */
  against?: readonly string[]
}

export interface Findings {
  columns: readonly Column[]
  measurements: readonly Measurement[]
}

/** Medians by contender, as Markdown. */
export function table({ columns, measurements }: Findings): string {
  const names = namesOf(measurements)
  const head = [
    '',
    ...columns.flatMap(({ title, against = [] }) => [title, ...against.map(peer => `÷ ${peer}`)]),
  ]
  const rows = names.map(name => [name, ...columns.flatMap(column => cells(measurements, name, column))])
  return [head, head.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n')
}

function cells(measurements: readonly Measurement[], name: string, column: Column): string[] {
  const { figure, digits, against } = column
  const values = valuesOf(measurements, name, figure)
  if (values.length === 0) return ['–', ...(against ?? []).map(() => '–')]
  const middle = median(values)
  if (!against) return [middle.toFixed(digits)]
  const range =
    values.length > 1
      ? ` (${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)})`
      : ''
  const ratios = against.map(peer => {
    const others = valuesOf(measurements, peer, figure)
    return others.length > 0 ? (middle / median(others)).toFixed(2) : '–'
  })
  return [middle.toFixed(digits) + range, ...ratios]
}

const SPLIT = 'CPU s/1,000 of '
const SHOWN_MIN = 0.005

/**
 * Returns the CPU time of each thread by its name, as figures of a measurement.
 * @param total s, with that of threads and processes that have ended
 */
export function cpuSplit(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  { total, count }: { total: number; count: number },
): Readonly<Record<string, number>> {
  const living = [...after].map(
    ([name, seconds]) => [name, Math.max(0, seconds - (before.get(name) ?? 0))] as const,
  )
  const ended = total - living.reduce((sum, [, seconds]) => sum + seconds, 0)
  const figures = [...living, ['threads that ended', ended] as const].map(
    ([name, seconds]) => [SPLIT + name, (seconds * 1_000) / count] as const,
  )
  return Object.fromEntries(figures.filter(([, seconds]) => seconds >= SHOWN_MIN))
}

/** Returns lines with the median CPU time by thread for each contender; empty if it was not measured. */
export function splitLines({ measurements }: Findings): string[] {
  return namesOf(measurements).flatMap(name => {
    const own = measurements.filter(({ contender }) => contender === name)
    const figures = new Set(own.flatMap(measurement => Object.keys(measurement.figures)))
    const parts = [...figures]
      .filter(figure => figure.startsWith(SPLIT))
      .map(figure => [figure.slice(SPLIT.length), median(valuesOf(own, name, figure))] as const)
      .sort(([, one], [, other]) => other - one)
      .map(([thread, seconds]) => `${thread} ${seconds.toFixed(2)}`)
    return parts.length > 0 ? [`${SPLIT}${name}: ${parts.join(', ')}`] : []
  })
}

/** Everything there is to know of a run: the machine, each round, the medians. */
export function record(scenario: string, options: object, { columns, measurements }: Findings): object {
  const medians = namesOf(measurements).map(name => [
    name,
    Object.fromEntries(
      columns
        .map(({ figure }) => [figure, valuesOf(measurements, name, figure)] as const)
        .filter(([, values]) => values.length > 0)
        .map(([figure, values]) => [figure, median(values)]),
    ),
  ])
  return {
    scenario,
    options,
    finishedAt: new Date().toISOString(),
    machine: machine(),
    medians: Object.fromEntries(medians),
    measurements,
  }
}

export function machine() {
  const cores = cpus()
  return {
    cpu: cores[0]!.model,
    coreCount: cores.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
  }
}

function namesOf(measurements: readonly Measurement[]): string[] {
  return [...new Set(measurements.map(({ contender }) => contender))]
}

function valuesOf(measurements: readonly Measurement[], name: string, figure: string): number[] {
  return measurements
    .filter(({ contender }) => contender === name)
    .map(({ figures }) => figures[figure])
    .filter(value => value !== undefined)
}
