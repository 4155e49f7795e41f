/** Results and errors of commands, and the formatting of their output. */

export interface CliResult {
  /** Output for `--json`: snake_case keys, ISO times. */
  json: unknown
  /** Output for people, without the final line break. */
  text: string
  /** Whether the command found a problem: exit code 1. */
  isBad?: boolean
}

/** Error in the command line: exit code 2. */
export class UsageError extends Error {}

/** Error of a command: exit code 1, printed without a stack. */
export class CommandError extends Error {}

/** Formats rows in aligned columns. Numbers are right-aligned. */
export function table(headings: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const texts = rows.map(row => row.map(String))
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...texts.map(row => row[column]!.length)),
  )
  const isNumber = headings.map((_, column) => rows.some(row => typeof row[column] === 'number'))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        isNumber[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .join('  ')
      .trimEnd()
  return [line(headings), ...texts.map(line)].join('\n')
}

/** Removes control characters, which text from remote servers may contain. */
export function printable(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
}

/** Formats a duration in its largest unit, such as `3 d`, `5 h`, `12 min` or `40 s`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`
  if (seconds < 2 * 86_400) return `${Math.round(seconds / 3_600)} h`
  return `${Math.round(seconds / 86_400)} d`
}
