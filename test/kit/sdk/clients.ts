/**
 * Runs programs of others as `scripts/fetch-clients.ts` has installed them, with the service in place of
 * Resend.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../../../node_modules/.cache/clients/', import.meta.url))

/** Path of a file of an installed package. @throws when the clients are not installed */
export function clientFile(path: string): string {
  const file = `${folder}node_modules/${path}`
  if (!existsSync(file)) throw new Error(`${path} is not installed; run: node scripts/fetch-clients.ts`)
  return file
}

export interface Ran {
  code: number | null
  output: string
  errors: string
}

export async function runClient(
  path: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<Ran> {
  return ranOf(startClient(path, args, env))
}

/** Runs a module that may import the installed packages. */
export async function runCode(code: string, env: Record<string, string>): Promise<Ran> {
  clientFile('resend')
  return ranOf(start(['--input-type=module', '--eval', code], env))
}

async function ranOf(child: ReturnType<typeof start>): Promise<Ran> {
  child.stdin.end()
  const closed = new Promise<number | null>(done => child.on('close', done))
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), closed])
  return { code, output, errors }
}

export function startClient(path: string, args: readonly string[], env: Record<string, string>) {
  return start([clientFile(path), ...args], env)
}

/** Starts a program with pipes as its standard streams, and only PATH from the environment. */
function start(args: readonly string[], env: Record<string, string>) {
  return spawn(process.execPath, args, {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH ?? '', ...env },
  })
}
