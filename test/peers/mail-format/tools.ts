/**
 * Shares helpers between the peer tests of this folder: a folder of messages, and Debian's Python with our
 * scripts.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestContext } from '../../kit/suite.ts'

/** Debian's own: another Python on the path would not see Debian's modules. */
const PYTHON = '/usr/bin/python3'
/** Errors of Python, Perl, Ruby and Java about a missing library. */
const MISSING_LIBRARY = /ModuleNotFoundError|Can't locate|cannot load such file|package .* does not exist/

/** A folder that is removed when the test ends. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mailhorn-mail-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

/** Writes messages as `0.eml`, `1.eml`, … in their order. */
export async function writeMessages(
  folder: string,
  messages: Iterable<Buffer> | AsyncIterable<Buffer>,
): Promise<void> {
  let position = 0
  for await (const message of messages) await writeFile(join(folder, `${position++}.eml`), message)
}

/**
 * Runs a Python script of this folder and returns the JSON that it prints.
 * @throws when Python, or a module from one of the Debian packages, is missing
 */
export async function runPython(script: string, args: readonly string[], packages: string): Promise<unknown> {
  return runScript([PYTHON], script, args, packages)
}

/**
 * Runs a script of this folder and returns the JSON that it prints.
 * @param interpreter program and its arguments, to which the script is appended
 * @throws when the interpreter, or a library from one of the Debian packages, is missing
 */
export async function runScript(
  interpreter: readonly string[],
  script: string,
  args: readonly string[],
  packages: string,
): Promise<unknown> {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const { code, stdout, stderr } = await run(
    interpreter[0]!,
    [...interpreter.slice(1), path, ...args],
    packages,
  )
  if (MISSING_LIBRARY.test(stderr)) throw missing(script, packages, stderr)
  if (code !== 0) throw new Error(`${script} ended with ${code}: ${stderr}`)
  return JSON.parse(stdout)
}

function run(command: string, args: readonly string[], packages: string) {
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.on('error', error => reject(missing(command, packages, `${error}`)))
    child.on('close', code => resolve({ code, stdout, stderr }))
  })
}

export function missing(what: string, packages: string, cause: string): Error {
  return new Error(`${what} cannot be run: install the Debian packages ${packages}`, { cause })
}
