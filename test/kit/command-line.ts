/** The operator's program as a process of its own, as it is typed. */

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { compiled } from './compiled.ts'
import { settingsFor } from './database.ts'

const program = fileURLToPath(new URL('../../bin/mailhorn', import.meta.url))
const guard = new URL('./guard.ts', import.meta.url).href

export interface CommandLineOptions {
  dataDir: string
  /** The standard input. */
  input?: string
  /** Environment variables beside the data folder. */
  env?: Record<string, string>
  cwd?: string
  /** Another copy of the program. */
  program?: string
  /** A file that is open, to which its output goes. */
  stdout?: number
  /** Called with the process once it runs, to kill it. */
  onStart?(child: ChildProcess): void
}

export interface CommandLineEnd {
  /** Null when a signal ended it. */
  code: number | null
  out: string
  err: string
}

/** The folder's database, where it is not a file in it. */
function databaseSetting(dataDir: string): Record<string, string> {
  const { DATABASE_URL: url } = settingsFor(dataDir)
  return url === undefined ? {} : { MAILHORN_DATABASE_URL: url }
}

export async function mailhornCommand(
  args: readonly string[],
  { dataDir, input = '', env = {}, cwd = '/', program: file = program, stdout, onStart }: CommandLineOptions,
): Promise<CommandLineEnd> {
  const child = spawn(file, args, {
    cwd,
    stdio: ['pipe', stdout ?? 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH ?? '',
      ...compiled(),
      NODE_OPTIONS: `--import ${guard}`,
      MAILHORN_DATA_DIR: dataDir,
      ...databaseSetting(dataDir),
      ...env,
    },
  })
  onStart?.(child)
  child.stdin!.on('error', () => {}) // it may end before it has read
  child.stdin!.end(input)
  const [out, err, code] = await Promise.all([
    child.stdout?.setEncoding('utf8').toArray() ?? [],
    child.stderr!.setEncoding('utf8').toArray(),
    new Promise<number | null>(resolve => child.once('close', resolve)),
  ])
  return { code, out: out.join(''), err: err.join('') }
}
