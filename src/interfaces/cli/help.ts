/** What the program says of itself. */
import type { CliCommand } from './command.ts'

const COMMON_OPTIONS = `  --json             Prints JSON, for programs.
  --data-dir <path>  The data folder, where it is not the configured one.
  -h, --help         Says how a command is used.`

export function overview(commands: readonly CliCommand[]): string {
  const all = [
    ...commands.map(({ name, summary }) => [name, summary]),
    ['help [command]', 'Says how a command is used'],
    ['version', 'Says which version this is'],
  ]
  const width = Math.max(...all.map(([name]) => name!.length))
  return [
    'Usage: mailhorn <command> [options]',
    '',
    ...all.map(([name, summary]) => `  ${name!.padEnd(width)}  ${summary}`),
    '',
    'Options of all commands:',
    COMMON_OPTIONS,
    '',
    'Exit codes: 0 done, 1 not done, 2 the command line is wrong.',
  ].join('\n')
}

export function helpFor({ name, usage, summary, details }: CliCommand): string {
  const lines = [`Usage: mailhorn ${name} ${usage}`.trimEnd(), '', `${summary}.`]
  return [...lines, ...(details ? ['', details] : [])].join('\n')
}
