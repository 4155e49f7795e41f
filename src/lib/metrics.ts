/** Metrics of this process in the Prometheus text format (version 0.0.4). */
import type { HistogramReading } from './histogram.ts'
import { droppedLogLines } from './log-output.ts'

/**
 * Labels of a counter. Each combination of values is kept as long as the process runs, so each label must
 * have few values.
 */
export type Labels = Readonly<Record<string, string>>

export interface Counter {
  add(labels?: Labels): void
}

/** One value, or a value for each combination of labels. */
export type Reading = number | readonly (readonly [Labels, number])[]

export interface Metrics {
  /**
   * @returns the counter of this name, which is created by the first call
   * @param name without `mailhorn_` and `_total`
   * @param known labels that are reported from the start, with 0; `[{}]` for a counter without labels
   */
  counter(name: string, help: string, known?: readonly Labels[]): Counter
  /** @param read returns the value; it is called for every report */
  gauge(name: string, help: string, read: () => Reading): void
  /**
   * Registers a counter whose value is kept elsewhere.
   * @param name without `mailhorn_` and `_total`
   * @param read returns the value; it is called for every report
   */
  total(name: string, help: string, read: () => Reading): void
  /** @param name without `mailhorn_` */
  histogram(name: string, help: string, read: () => HistogramReading): void
  /**
   * Registers a metric that all programs report by the same name.
   * @param name whole name, such as `process_cpu_seconds_total`
   */
  standard(name: string, type: 'counter' | 'gauge', help: string, read: () => Reading): void
  text(): string
}

interface RegisteredCounter extends Counter {
  values: Map<string, number>
}

/** Creates the metrics of a process, including memory, start, CPU time and dropped log lines. */
export function createProcessMetrics(): Metrics {
  const metrics = createMetrics()
  metrics.standard('process_resident_memory_bytes', 'gauge', 'Resident memory size in bytes.', () =>
    process.memoryUsage.rss(),
  )
  metrics.standard(
    'process_cpu_seconds_total',
    'counter',
    'Total user and system CPU time of all threads in seconds.',
    () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1e6
    },
  )
  const startedAt = Math.round(performance.timeOrigin) / 1_000
  metrics.standard(
    'process_start_time_seconds',
    'gauge',
    'Start time of the process since the Unix epoch in seconds.',
    () => startedAt,
  )
  metrics.total('log_lines_dropped', 'Log lines that could not be written to stdout.', droppedLogLines)
  return metrics
}

export function createMetrics(): Metrics {
  const counters = new Map<string, RegisteredCounter>()
  /** Functions that write the lines of a metric, by its name. */
  const written = new Map<string, () => string[]>()
  const register = (name: string, help: string, type: MetricType, lines: () => string[]) =>
    written.set(name, () => [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines()])
  const registerReading = (name: string, help: string, type: MetricType, read: () => Reading) =>
    register(name, help, type, () => readingLines(name, read()))

  return {
    counter(name, help, known = []) {
      const full = `mailhorn_${name}_total`
      const registered = counters.get(full) ?? createCounter()
      for (const labels of known) {
        const key = labelText(labels)
        if (!registered.values.has(key)) registered.values.set(key, 0)
      }
      if (!counters.has(full))
        register(full, help, 'counter', () =>
          [...registered.values].map(([key, value]) => `${full}${key} ${value}`),
        )
      counters.set(full, registered)
      return registered
    },
    gauge: (name, help, read) => registerReading(`mailhorn_${name}`, help, 'gauge', read),
    total: (name, help, read) => registerReading(`mailhorn_${name}_total`, help, 'counter', read),
    histogram: (name, help, read) =>
      register(`mailhorn_${name}`, help, 'histogram', () => histogramLines(`mailhorn_${name}`, read())),
    standard: (name, type, help, read) => registerReading(name, help, type, read),
    text: () => `${[...written.values()].flatMap(lines => lines()).join('\n')}\n`,
  }
}

function createCounter(): RegisteredCounter {
  const values = new Map<string, number>()
  return {
    values,
    add(labels = {}) {
      const key = labelText(labels)
      values.set(key, (values.get(key) ?? 0) + 1)
    },
  }
}

type MetricType = 'counter' | 'gauge' | 'histogram'

function readingLines(name: string, reading: Reading): string[] {
  return typeof reading === 'number'
    ? [`${name} ${reading}`]
    : reading.map(([labels, value]) => `${name}${labelText(labels)} ${value}`)
}

function histogramLines(name: string, { bounds, counts, sum }: HistogramReading): string[] {
  let total = 0
  const buckets = counts.map((count, i) => {
    total += count
    return `${name}_bucket{le="${bounds[i] ?? '+Inf'}"} ${total}`
  })
  return [...buckets, `${name}_sum ${sum}`, `${name}_count ${total}`]
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replace(SPECIAL, escaped)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const SPECIAL = /[\\"\n]/g

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`
}
