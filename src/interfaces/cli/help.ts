/** Formats the help texts. */
import type { CliCommand } from './command.ts'

const COMMON_OPTIONS = `  --json             Print JSON.
  --data-dir <path>  Use this data directory instead of the configured one.
  -h, --help         Show help for a command.`

export function overview(commands: readonly CliCommand[]): string {
  const all = [
    ...commands.map(({ name, summary }) => [name, summary]),
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

export function helpFor({ name, usage, summary, details }: CliCommand): string {
  const lines = [`Usage: mailhorn ${name} ${usage}`.trimEnd(), '', `${summary}.`]
  return [...lines, ...(details ? ['', details] : [])].join('\n')
}
