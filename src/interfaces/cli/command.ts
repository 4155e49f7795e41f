/** Types of commands: a command has a usage, options, and a function from its arguments to a result. */
import type { ParseArgsConfig } from 'node:util'
import type { Clock } from '../../lib/clock.ts'
import type { SourceReportOptions } from '../../pipeline/delivery/shaping/source-report.ts'
import type { PathsTo } from '../../pipeline/queue/paths.ts'
import type { DnsRecord } from '../../protocols/dns/wire.ts'
import type { S3Settings } from '../../store/backup/s3-address.ts'
import type { Db } from '../../store/model/schema.ts'
import type { DoctorReport } from '../doctor/finding.ts'
import type { Change } from './control/operations.ts'
import type { CliResult } from './control/result.ts'

/** Installation that a command works on. */
export interface Installation {
  /** Reads the database directly, whether the service runs or not. */
  db: Db
  /**
   * Runs a change in the process that holds the lock of the data folder.
   * @throws OperationRefused
   */
  change: Change
  /**
   * Returns the current delivery state of destinations from the running service; empty if the service does
   * not run.
   */
  pathsTo: PathsTo
  /** Tells whether a disk of the installation has no room for mail. */
  isDiskFull(): Promise<boolean>
  clock: Clock
}

interface ProviderZone {
  mailHost: string
  records: DnsRecord[]
}

export type SourceSettings = Omit<SourceReportOptions, 'db'>

export interface CheckedSource {
  address: string
  /** EHLO name for connections from that address. */
  name: string
  /** Problems that receivers would find. */
  faults: readonly string[]
}

export interface BackupSettings {
  dataDir: string
  databaseUrl: string
  /** `secret_key`; null when the key is in a file of the data folder. */
  secretKey: string | null
  /** Passphrase of the secret key in a backup; null when it is not set. */
  passphrase: string | null
  /** What is needed to reach backups in an S3-compatible store. */
  s3: S3Settings
  /** Version of the program. */
  version: string
  /** Entry file of the writer thread. */
  writerThread: URL
  clock: Clock
}

/** What imports from other services need of the surroundings. */
export interface ImportSettings {
  /** URL of the API of the service on this machine; null if it has none. */
  serviceUrl: string | null
  /** Returns an environment variable. */
  variable(name: string): string | undefined
  clock: Clock
}

/** Services that a command may use besides the database. */
export interface CommandHost {
  /**
   * Checks reverse DNS of the configured source addresses.
   * @throws CommandError
   */
  checkSources(): Promise<CheckedSource[]>
  /**
   * Returns the provider zone of the configuration, without the DKIM keys of domains.
   *
   * @param serial serial of the SOA record; the present time when the service has not run yet
   * @param mtaStsId id of the published MTA-STS policy
   * @throws CommandError
   */
  zoneRecords(serial?: number, mtaStsId?: string): ProviderZone
  /**
   * Returns the source addresses of the configuration.
   *
   * @throws CommandError
   */
  sourceSettings(): SourceSettings
  /**
   * Runs all diagnostics.
   * @param db null if there is no database yet
   * @param dataDir data folder instead of the configured one
   * @throws CommandError
   */
  examine(db: Db | null, dataDir: string | undefined): Promise<DoctorReport>
  /**
   * Checks a host on which the service does not run yet.
   * @param settings by the names of their environment variables; they count before the configuration
   * @param addresses public addresses of the host
   * @throws CommandError
   */
  examineHost(settings: Readonly<Record<string, string>>, addresses: readonly string[]): Promise<DoctorReport>
  /** Returns the addresses of the network interfaces, without loopback and link-local ones. */
  interfaceAddresses(): string[]
  /** Asks the user for a line. Returns null when there is no terminal. */
  ask(question: string): Promise<string | null>
  /** Prints a line before the result, on standard error. */
  say(text: string): void
  pause(ms: number): Promise<void>
  /**
   * Returns what backups need of the configuration.
   * @param dataDir data folder instead of the configured one
   * @throws CommandError
   */
  backupSettings(dataDir: string | undefined): BackupSettings
  /**
   * Returns what imports from other services need.
   * @throws CommandError
   */
  importSettings(): ImportSettings
  /** Reads standard input to its end. */
  readInput(): Promise<string>
}

export interface CommandInput extends CommandHost {
  values: Readonly<Record<string, string | boolean | undefined>>
  positionals: readonly string[]
  /**
   * Opens the installation. Commands call it after they have validated their arguments.
   * @throws CommandError if the installation cannot be used
   */
  open(): Promise<Installation>
}

export interface CliCommand {
  /** Two words, the subject and the action, or one. */
  name: string
  /** Arguments after the name, such as `<address> [--operator]`. */
  usage: string
  /** Sentence without its full stop. */
  summary: string
  /** Additional lines of the help text of the command. */
  details?: string
  options?: ParseArgsConfig['options']
  /** Minimum and maximum number of arguments. */
  positionals?: { min: number; max: number }
  /** @throws UsageError, CommandError, OperationRefused */
  run(input: CommandInput): Promise<CliResult>
}

/** Returns null if the option is absent. */
export function textOf(option: string | boolean | undefined): string | null {
  return typeof option === 'string' ? option : null
}
