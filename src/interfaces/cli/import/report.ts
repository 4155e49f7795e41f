/** Report of an import: what was made, what was there already, and what could not be made and why. */
import type { Clock } from '../../../lib/clock.ts'
import { type CliResult, printable, table } from '../control/result.ts'
import type { Api } from './api.ts'
import { KINDS, type Kind } from './shapes.ts'

/** What writers of all kinds need. */
export interface WriterOptions {
  service: Api
  report: ImportReport
  isDryRun: boolean
  /** Name of the provider, which begins the aliases of templates that have none. */
  provider: string
  clock: Clock
}

interface Unmade {
  name: string
  reason: string
}

/** Record that a domain still needs in its DNS. */
interface DnsChange {
  type: string
  host: string
  value: string
  priority: number | null
}

export interface KindReport {
  /** Names of single things; long lists are only counted. */
  made: string[]
  existing: string[]
  madeCount: number
  existingCount: number
  /** The first ones. */
  unmade: Unmade[]
  unmadeCount: number
  notes: string[]
  /** Why the rest of the kind is missing; null if it is complete. */
  failure: string | null
}

const UNMADE_MAX = 100
/** Number of things that a note names. */
export const NAMED_MAX = 50

/** Returns the first names of a list, for a note. */
export function firstNames(names: readonly string[]): string {
  return names.slice(0, NAMED_MAX).join(', ') + (names.length > NAMED_MAX ? ', …' : '')
}

export class ImportReport {
  readonly kinds = new Map<Kind, KindReport>()
  readonly dns: DnsChange[] = []
  readonly notes: string[] = []
  readonly title: string
  readonly isDryRun: boolean

  constructor(title: string, isDryRun: boolean) {
    this.title = title
    this.isDryRun = isDryRun
  }

  /** Returns the report of a kind, which is empty at first. */
  of(kind: Kind): KindReport {
    let report = this.kinds.get(kind)
    if (!report) {
      report = {
        made: [],
        existing: [],
        madeCount: 0,
        existingCount: 0,
        unmade: [],
        unmadeCount: 0,
        notes: [],
        failure: null,
      }
      this.kinds.set(kind, report)
    }
    return report
  }

  made(kind: Kind, name: string): void {
    const report = this.of(kind)
    report.made.push(name)
    report.madeCount++
  }

  exists(kind: Kind, name: string): void {
    const report = this.of(kind)
    report.existing.push(name)
    report.existingCount++
  }

  unmade(kind: Kind, name: string, reason: string): void {
    const report = this.of(kind)
    report.unmadeCount++
    if (report.unmade.length < UNMADE_MAX) report.unmade.push({ name, reason })
  }

  result(): CliResult {
    const isBad = [...this.kinds.values()].some(({ failure }) => failure !== null)
    return { json: this.#json(), text: this.#text(), isBad }
  }

  #json(): object {
    return {
      source: this.title,
      dry_run: this.isDryRun,
      ...Object.fromEntries(
        [...this.kinds].map(([kind, report]) => [
          kind,
          {
            made: report.madeCount,
            existing: report.existingCount,
            not_made: report.unmadeCount,
            names: { made: report.made, existing: report.existing },
            not_made_reasons: report.unmade,
            notes: report.notes,
            error: report.failure,
          },
        ]),
      ),
      dns_records: this.dns,
      notes: this.notes,
    }
  }

  #text(): string {
    const kinds = KINDS.filter(kind => this.kinds.has(kind))
    const made = this.isDryRun ? 'TO BE MADE' : 'MADE'
    const parts = [
      `Import from ${this.title}${this.isDryRun ? ' (dry run: nothing was changed)' : ''}`,
      table(
        ['', made, 'EXIST ALREADY', 'NOT MADE'],
        kinds.map(kind => {
          const { madeCount, existingCount, unmadeCount, failure } = this.of(kind)
          return [failure === null ? kind : `${kind} (incomplete)`, madeCount, existingCount, unmadeCount]
        }),
      ),
      ...kinds.flatMap(kind => this.#section(kind)),
    ]
    if (this.dns.length > 0)
      parts.push(
        `DNS records still to add\n${table(
          ['TYPE', 'HOST', 'VALUE'],
          this.dns.map(({ type, host, value, priority }) => [
            type,
            host,
            priority === null ? value : `${priority} ${value}`,
          ]),
        )}`,
      )
    if (this.notes.length > 0) parts.push(`Not imported\n${indented(this.notes)}`)
    return parts.join('\n\n')
  }

  #section(kind: Kind): string[] {
    const { made, existing, unmade, unmadeCount, notes, failure } = this.of(kind)
    const lines = [
      ...(failure === null
        ? []
        : [`incomplete: ${failure.replace(/\.$/, '')}. Run the command again to continue.`]),
      ...made.map(name => `${this.isDryRun ? 'would be made' : 'made'}: ${name}`),
      ...existing.map(name => `exists already: ${name}`),
      ...unmade.map(({ name, reason }) => `not made: ${name}: ${reason}`),
      ...(unmadeCount > unmade.length ? [`not made: ${unmadeCount - unmade.length} more`] : []),
      ...notes,
    ]
    return lines.length === 0 ? [] : [`${kind[0]!.toUpperCase()}${kind.slice(1)}\n${indented(lines)}`]
  }
}

function indented(lines: readonly string[]): string {
  return lines.map(line => `  ${printable(line)}`).join('\n')
}
