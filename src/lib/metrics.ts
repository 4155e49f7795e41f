/** Metrics of this process in the Prometheus text format (version 0.0.4). */
import { droppedLogLines } from './log-output.ts'

/**
 * Labels of a counter. Each combination of values is kept as long as the process runs, so each label must
 * have few values.
 */
export type Labels = Readonly<Record<string, string>>

export interface Counter {
  add(labels?: Labels): void
}

export interface Metrics {
  /**
   * @returns the counter of this name, which is created by the first call
   * @param name without `mailhorn_` and `_total`
   */
  counter(name: string, help: string): Counter
  /** @param read returns the value; it is called for every report */
  gauge(name: string, help: string, read: () => number): void
  /**
   * Registers a counter whose value is kept elsewhere.
   * @param name without `mailhorn_` and `_total`
   * @param read returns the value; it is called for every report
   */
  total(name: string, help: string, read: () => number): void
  text(): string
}

interface Kept extends Counter {
  help: string
  values: Map<string, number>
}

/** Creates the metrics of a process, including memory, uptime, CPU time and dropped log lines. */
export function createProcessMetrics(): Metrics {
  const metrics = createMetrics()
  metrics.gauge('resident_memory_bytes', 'Memory that the process holds.', () => process.memoryUsage.rss())
  metrics.gauge('up_seconds', 'How long the process has been up.', () => process.uptime())
  metrics.gauge('cpu_seconds', 'CPU time of all threads of the process.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  metrics.total('log_lines_dropped', 'Log lines that could not be written to stdout.', droppedLogLines)
  return metrics
}

export function createMetrics(): Metrics {
  const counters = new Map<string, Kept>()
  const readings = new Map<string, { help: string; type: MetricType; read: () => number }>()
  return {
    counter(name, help) {
      const full = `mailhorn_${name}_total`
      const kept = counters.get(full) ?? createCounter(help)
      counters.set(full, kept)
      return kept
    },
    gauge(name, help, read) {
      readings.set(`mailhorn_${name}`, { help, type: 'gauge', read })
    },
    total(name, help, read) {
      readings.set(`mailhorn_${name}_total`, { help, type: 'counter', read })
    },
    text() {
      const lines: string[] = []
      for (const [name, { help, values }] of counters) {
        lines.push(...head(name, help, 'counter'))
        for (const [labels, value] of values) lines.push(`${name}${labels} ${value}`)
      }
      for (const [name, { help, type, read }] of readings)
        lines.push(...head(name, help, type), `${name} ${read()}`)
      return `${lines.join('\n')}\n`
    },
  }
}

function createCounter(help: string): Kept {
  const values = new Map<string, number>()
  return {
    help,
    values,
    add(labels = {}) {
      const key = written(labels)
      values.set(key, (values.get(key) ?? 0) + 1)
    },
  }
}

type MetricType = 'counter' | 'gauge'

function head(name: string, help: string, type: MetricType): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
}

function written(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replace(SPECIAL, escaped)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const SPECIAL = /[\\"\n]/g

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`
}
