/**
 * What a command of the program is: its usage, its options, and a function from its arguments to a result.
 */
import type { ParseArgsConfig } from 'node:util'
import type { Clock } from '../../lib/clock.ts'
import type { SourceReportOptions } from '../../pipeline/delivery/shaping/source-report.ts'
import type { PathView } from '../../pipeline/queue/paths.ts'
import type { DnsRecord } from '../../protocols/dns/wire.ts'
import type { Db } from '../../store/schema.ts'
import type { DoctorReport } from '../doctor/finding.ts'
import type { Change } from './control/operations.ts'
import type { CliResult } from './result.ts'

/** The installation that a command is about. */
export interface Installation {
  /** Reads the database as it is, whether the service runs or not. */
  db: Db
  /** Has whoever holds the data folder change something. @throws OperationRefused */
  change: Change
  /** How mail goes to these sites now, by the running service; none is known where there is none. */
  pathsTo(sites: readonly string[]): Promise<{ site: string; paths: PathView[] }[]>
  clock: Clock
}

export interface ProviderZone {
  mailHost: string
  records: DnsRecord[]
}

export type SourceSettings = Omit<SourceReportOptions, 'db'>

export interface CheckedSource {
  address: string
  /** EHLO name for connections from that address. */
  name: string
  /** What receivers would find wrong. */
  faults: readonly string[]
}

export interface CommandInput {
  values: Readonly<Record<string, string | boolean | undefined>>
  positionals: readonly string[]
  /**
   * To be called once the arguments are found good. @throws CommandError when there is none that can be used
   */
  open(): Promise<Installation>
  /** Looks up the names of the addresses in the configuration. @throws CommandError */
  checkSources(): Promise<CheckedSource[]>
  /**
   * Returns the provider zone by the configuration, without the keys of domains.
   *
   * @throws CommandError
   */
  /** @param mtaStsId of the policy that is published */
  zoneRecords(mtaStsId?: string): ProviderZone
  /**
   * Returns the source addresses of the configuration.
   *
   * @throws CommandError
   */
  sourceSettings(): SourceSettings
  /**
   * Looks at the installation from all sides.
   * @param db null where there is none yet @param dataDir in place of that in the configuration @throws
   * CommandError
   */
  examine(db: Db | null, dataDir: string | undefined): Promise<DoctorReport>
  /** Reads all of the standard input. */
  readInput(): Promise<string>
}

export interface CliCommand {
  /** Two words: what it is about, and what is done. */
  name: `${string} ${string}`
  /** What follows the name, as in `<address> [--operator]`. */
  usage: string
  /** A sentence without its full stop. */
  summary: string
  /** Additional lines of the help text of the command. */
  details?: string
  options?: ParseArgsConfig['options']
  /** How many words may follow the name. */
  positionals?: { least: number; most: number }
  /** @throws UsageError, CommandError, OperationRefused */
  run(input: CommandInput): Promise<CliResult>
}
