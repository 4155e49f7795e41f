/** The program `mailhorn`: parses the command line, runs the command and prints its result. */
import { parseArgs } from 'node:util'
import { isStartFault } from '../../lib/start-fault.ts'
import { RecordFault } from '../../protocols/dns/record-text.ts'
import { BackupFault } from '../../store/backup/backup-fault.ts'
import { StorageUnavailable } from '../../store/model/command.ts'
import { backupCliCommands } from './backup-commands.ts'
import { banCliCommands } from './ban-commands.ts'
import type { CliCommand, CommandHost, Installation } from './command.ts'
import { OperationFailed, OperationRefused } from './control/operation.ts'
import { type CliResult, CommandError, UsageError } from './control/result.ts'
import { destinationCliCommands } from './destination-commands.ts'
import { emailCommands } from './email-commands.ts'
import { emailTestCommand } from './email-test-command.ts'
import { importCliCommands } from './import-commands.ts'
import { initCommand } from './init-command.ts'
import { keyCliCommands } from './key-commands.ts'
import { modeCliCommands } from './mode-commands.ts'
import { queueCliCommands } from './queue-commands.ts'
import { restoreCliCommand } from './restore-command.ts'
import { setupCommands } from './setup-commands.ts'
import { userCliCommands } from './user-commands.ts'

const COMMON_OPTIONS = `  --json             Print JSON.
  --data-dir <path>  Use this data directory instead of the configured one.
  -h, --help         Show help for a command.`

interface ProgramDeps extends CommandHost {
  version: string
  /** @throws CommandError if the folder has no usable installation */
  openInstallation(dataDir: string | undefined): Promise<Installation & { close(): Promise<void> }>
  out(text: string): void
  err(text: string): void
}

const EXIT = { ok: 0, failure: 1, usage: 2 } as const

const COMMANDS: readonly CliCommand[] = [
  ...userCliCommands,
  ...keyCliCommands,
  ...queueCliCommands,
  ...emailCommands,
  emailTestCommand,
  ...modeCliCommands,
  ...banCliCommands,
  ...destinationCliCommands,
  initCommand,
  ...setupCommands,
  ...importCliCommands,
  ...backupCliCommands,
  restoreCliCommand,
]
/** `bin/mailhorn` runs the service itself, since it starts another program of the build. */
const SERVE_HELP = `Usage: mailhorn serve [--no-migrate]

Run the service in the foreground, with the settings of the environment, until it receives SIGTERM.

  --no-migrate  Do not migrate the database of an older version: the start fails and names the pending migrations.
                The same as MAILHORN_DATABASE_MIGRATE=false.`
/** Errors whose message is sufficient, without a stack. */
const EXPECTED = [BackupFault, CommandError, OperationRefused, OperationFailed, StorageUnavailable]
const COMMON = {
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  'data-dir': { type: 'string' },
} as const

/**
 * @param args arguments without the program name
 * @returns the exit code
 */
export async function runProgram(args: readonly string[], deps: ProgramDeps): Promise<number> {
  try {
    return await run(args, deps)
  } catch (error) {
    if (error instanceof UsageError) {
      deps.err(`mailhorn: ${error.message}\n`)
      return EXIT.usage
    }
    deps.err(`mailhorn: ${failureText(error as Error)}\n`)
    return EXIT.failure
  }
}

function failureText(error: Error): string | undefined {
  if (error instanceof RecordFault) return `the configuration is wrong: dns.records ${error.message}`
  const { message, stack } = error
  const isExpected = EXPECTED.some(kind => error instanceof kind) || isStartFault(error)
  return isExpected ? message : stack
}

async function run(line: readonly string[], deps: ProgramDeps): Promise<number> {
  const args = commandFirst(line)
  const [first, ...rest] = args
  if (first === undefined) throw new UsageError(`no command given\n\n${overview(COMMANDS)}`)
  if (first === 'help' || first === '--help' || first === '-h') return help(rest, deps)
  if (first === 'version' || first === '--version') return say(deps, { text: deps.version }, false)
  if (first === 'serve') return say(deps, { text: SERVE_HELP }, false)
  const command = commandOf(args)
  if (!command || isOtherSubcommand(command, args)) throw new UsageError(unknown(args))
  const { values, positionals } = readArguments(command, argumentsOf(command, args))
  if (values.help === true) return say(deps, { text: helpFor(command) }, false)
  let opened: (Installation & { close(): Promise<void> }) | undefined
  const open = async () => {
    opened = await deps.openInstallation(values['data-dir'] as string | undefined)
    return opened
  }
  try {
    const result = await command.run({ ...deps, values, positionals, open })
    return say(deps, result, values.json === true)
  } finally {
    await opened?.close()
  }
}

/** Moves global options that stand before the command behind it. */
function commandFirst(args: readonly string[]): readonly string[] {
  let at = 0
  while (/^--(?:json|data-dir)(?:=|$)/.test(args[at] ?? '')) at += args[at] === '--data-dir' ? 2 : 1
  return [...args.slice(at), ...args.slice(0, at)]
}

function help(words: readonly string[], deps: ProgramDeps): number {
  if (words.length === 0) return say(deps, { text: overview(COMMANDS) }, false)
  const topic = words.join(' ')
  if (topic === 'serve') return say(deps, { text: SERVE_HELP }, false)
  const meant = COMMANDS.filter(({ name }) => name === topic || name.startsWith(`${topic} `))
  if (meant.length === 0) throw new UsageError(unknown(words))
  return say(deps, { text: meant.map(helpFor).join('\n\n') }, false)
}

function say(
  { out }: ProgramDeps,
  { text, json, isBad = false }: { text: string } & Partial<CliResult>,
  asJson: boolean,
) {
  out(`${asJson ? JSON.stringify(json, null, 2) : text}\n`)
  return isBad ? EXIT.failure : EXIT.ok
}

/** `show` is the default action. */
function commandOf([first, second]: readonly string[]): CliCommand | undefined {
  const named = (name: string) => COMMANDS.find(command => command.name === name)
  return named(`${first} ${second}`) ?? named(`${first} show`) ?? named(first!)
}

function argumentsOf(command: CliCommand, args: readonly string[]): readonly string[] {
  const second = secondWord(command)
  return args.slice(second !== undefined && args[1] === second ? 2 : 1)
}

function secondWord({ name }: CliCommand): string | undefined {
  return name.split(' ')[1]
}

/** Whether the second word can be no argument of the command, but another command of its group is meant. */
function isOtherSubcommand({ name, positionals }: CliCommand, [first, second]: readonly string[]): boolean {
  if (second === undefined || second.startsWith('-') || positionals !== undefined) return false
  return name !== `${first} ${second}` && COMMANDS.some(other => other.name.startsWith(`${first} `))
}

function unknown(words: readonly string[]): string {
  const family = COMMANDS.filter(({ name }) => name.startsWith(`${words[0]} `))
  if (family.length === 0) return `unknown command "${words[0]}"; see mailhorn help`
  const [group, subcommand] = words
  if (subcommand === undefined || subcommand.startsWith('-'))
    return `${group} requires a subcommand\n\n${family.map(helpFor).join('\n\n')}`
  const known = family.map(command => secondWord(command)).join(', ')
  return `unknown subcommand "${subcommand}" of ${group}; known are ${known}. See mailhorn help ${group}`
}

/** @throws UsageError */
function readArguments(command: CliCommand, args: readonly string[]) {
  const { min, max } = command.positionals ?? { min: 0, max: 0 }
  let parsed: ReturnType<typeof parseArgs>
  try {
    parsed = parseArgs({
      args: [...args],
      options: { ...COMMON, ...command.options },
      allowPositionals: true,
      strict: true,
    })
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${helpFor(command)}`)
  }
  const values = parsed.values as Record<string, string | boolean | undefined>
  const { positionals } = parsed
  if (values.help !== true && (positionals.length < min || positionals.length > max))
    throw new UsageError(
      `${positionals.length < min ? 'missing argument' : `unexpected argument "${positionals[max]}"`}\n\n${helpFor(command)}`,
    )
  return { values, positionals }
}

function overview(commands: readonly CliCommand[]): string {
  const all = [
    ...commands.map(({ name, summary }) => [name, summary]),
    ['serve', 'Run the service in the foreground'],
    ['help [command]', 'Show help for a command'],
    ['version', 'Show the version'],
  ]
  const width = Math.max(...all.map(([name]) => name!.length))
  return [
    'Usage: mailhorn <command> [options]',
    '',
    ...all.map(([name, summary]) => `  ${name!.padEnd(width)}  ${summary}`),
    '',
    'Global options:',
    COMMON_OPTIONS,
    '',
    'Exit codes: 0 success, 1 failure, 2 usage error.',
  ].join('\n')
}

function helpFor({ name, usage, summary, details }: CliCommand): string {
  const lines = [`Usage: mailhorn ${name} ${usage}`.trimEnd(), '', `${summary}.`]
  return [...lines, ...(details ? ['', details] : [])].join('\n')
}
