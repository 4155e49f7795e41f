/**
 * The real program as a process of its own, as `npm start` runs it: to read what it prints, to stop it, to
 * kill it.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { builtFile } from './built.ts'
import { compiled } from './compiled.ts'
import { settingsFor } from './database.ts'
import { freePort } from './free-port.ts'
import { type ApiAnswer, type DnsRecordView, zoneText } from './mailhorn.ts'
import { until } from './until.ts'
import type { ScriptedZone } from './zone.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const guard = new URL('./guard.ts', import.meta.url).href
const START_LIMIT_MS = 60_000
/** A resolver that is not there. */
const NOBODY = '127.0.0.1:9'

export interface ProgramOptions {
  dataDir: string
  /** Settings, as environment variables without their `MAILHORN_`. */
  settings?: Record<string, string>
  /** The entry of another build of the program. */
  entry?: string
  /** Starts the program through a shell, with the command line of `npm start`. */
  byScript?: boolean
  /** Maximum number of open files. */
  fileLimit?: number
  /** A module that the main thread and every worker thread load before the program, to plant a fault. */
  preload?: URL
  /** No file may grow beyond so many blocks of 512 octets, which is to the program what a full disk is. */
  fileSizeLimit?: number
}

export interface Program {
  baseUrl: string
  /** Port of the DNS server, if there is one. */
  dnsPort: number
  pid: number
  /** Everything printed so far, on both streams. */
  readonly output: string
  /** Log lines that it printed. */
  readonly logs: Record<string, unknown>[]
  /** An API call; with a bearer token, when there is one. */
  call(method: string, path: string, options?: { token?: string; body?: unknown }): Promise<ApiAnswer>
  /** Sends the signal and resolves with how the process ended. */
  end(signal: 'SIGTERM' | 'SIGKILL' | 'SIGINT'): Promise<ProgramEnd>
  /** Resolves when the process ends by itself. */
  ended: Promise<ProgramEnd>
  close(): Promise<unknown>
}

export interface ProgramEnd {
  code: number | null
  signal: NodeJS.Signals | null
  output: string
}

/**
 * Starts the program and resolves once it says that it is ready. @throws with its output when it ends before
 */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const run = launch(options)
  const limit = setTimeout(() => run.child.kill('SIGKILL'), START_LIMIT_MS)
  const ready = await Promise.race([readyLine(run), run.ended])
  clearTimeout(limit)
  if ('code' in ready) throw new Error(`the program ended (${ready.code ?? ready.signal}):\n${ready.output}`)
  await callApi(ready.baseUrl as string, 'GET', '/healthz', {}) // it listens to signals from its next turn on
  return {
    baseUrl: ready.baseUrl as string,
    dnsPort: (ready.dns as { port: number } | null)?.port ?? 0,
    pid: run.child.pid!,
    get output() {
      return run.output()
    },
    get logs() {
      return logLines(run.output())
    },
    call: (method, path, options = {}) => callApi(ready.baseUrl as string, method, path, options),
    ended: run.ended,
    end(signal) {
      run.child.kill(signal)
      return run.ended
    },
    async close() {
      run.child.kill('SIGKILL')
      await run.ended
    },
  }
}

/** A program whose output nobody sees, at an address that was chosen for it. */
export interface SilentProgram extends Pick<Program, 'baseUrl' | 'pid' | 'call' | 'end' | 'ended' | 'close'> {
  /** Its output while that is a pipe, from which nothing is read before somebody listens. */
  stdout: Readable | null
}

/**
 * Starts the program with its output led elsewhere, and resolves once it serves. @param stdout a file that is
 * open, or a pipe that is not read @throws when the program ends before
 */
export async function startSilently(
  options: ProgramOptions,
  stdout: number | 'pipe',
): Promise<SilentProgram> {
  const port = await freePort()
  const settings = { ...options.settings, HTTP_LISTEN: `127.0.0.1:${port}` }
  const { child, ended } = launch({ ...options, settings }, stdout)
  const baseUrl = `http://127.0.0.1:${port}`
  let end: ProgramEnd | undefined
  void ended.then(early => {
    end = early
  })
  await until(async () => {
    const answer = await callApi(baseUrl, 'GET', '/readyz', {}).catch(() => undefined)
    return end !== undefined || answer?.status === 200
  })
  if (end) throw new Error(`the program ended (${end.code ?? end.signal}):\n${end.output}`)
  const close = async () => {
    child.kill('SIGKILL')
    child.stdout?.resume()
    await ended
  }
  return {
    baseUrl,
    pid: child.pid!,
    call: (method, path, options = {}) => callApi(baseUrl, method, path, options),
    stdout: child.stdout,
    ended,
    end(signal) {
      child.kill(signal)
      child.stdout?.resume()
      return ended
    },
    close,
  }
}

/** The API key that the program's first start printed. */
export function printedApiKey({ output }: { output: string }): string {
  const key = /API key +(\S+)/.exec(output)?.[1]
  if (key === undefined) throw new Error(`no API key was printed:\n${output}`)
  return key
}

/** Signs the admin in and has a domain verified against the scripted DNS. */
export async function verifyDomain(
  program: Program,
  zone: ScriptedZone,
  { name, password }: { name: string; password: string },
): Promise<void> {
  zone.forward('mailhorn.test', `127.0.0.1:${program.dnsPort}`)
  const login = { email: 'admin@mailhorn.test', password }
  const token = (await program.call('POST', '/auth/login', { body: login })).body.token as string
  const { body: domain } = await program.call('POST', '/domains', { token, body: { name } })
  zone.add(zoneText(domain.records as DnsRecordView[]))
  const { body } = await program.call('POST', `/domains/${domain.id}/verify`, { token })
  if (body.status !== 'verified') throw new Error(`${name} is not verified: ${JSON.stringify(body)}`)
}

/** Runs the program to its own end: for starts that must fail. */
export async function runProgram(options: ProgramOptions): Promise<ProgramEnd> {
  const { child, ended } = launch(options)
  const limit = setTimeout(() => child.kill('SIGKILL'), START_LIMIT_MS)
  const end = await ended
  clearTimeout(limit)
  return end
}

async function callApi(
  baseUrl: string,
  method: string,
  path: string,
  { token, body }: { token?: string; body?: unknown },
): Promise<ApiAnswer> {
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

interface Launched {
  child: ChildProcess
  output(): string
  ended: Promise<ProgramEnd>
}

function launch(options: ProgramOptions, stdout: number | 'pipe' | 'read' = 'read'): Launched {
  const { dataDir, settings = {}, byScript = false } = options
  const env: Record<string, string> = {
    PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH ?? ''}`,
    ...compiled(),
    MAILHORN_DATA_DIR: dataDir,
    MAILHORN_HTTP_LISTEN: '127.0.0.1:0',
    MAILHORN_DNS_LISTEN: '127.0.0.1:0',
    MAILHORN_SMTP_INBOUND_LISTEN: '127.0.0.1:0',
    MAILHORN_SMTP_INBOUND_MTA_STS: 'off',
    MAILHORN_SMTP_SUBMISSION_LISTEN: '',
    MAILHORN_SMTP_SUBMISSION_TLS_LISTEN: '',
    MAILHORN_DNS_RESOLVERS: NOBODY,
    MAILHORN_DELIVERY_ALLOW_PRIVATE_ADDRESSES: 'true',
  }
  for (const [name, value] of Object.entries({ ...settingsFor(dataDir), ...settings }))
    env[`MAILHORN_${name}`] = value
  const preloads = [guard, ...(options.preload ? [options.preload.href] : [])].flatMap(url => [
    '--import',
    url,
  ])
  const line = byScript ? byShell() : [process.execPath, ...preloads, options.entry ?? builtFile('main')]
  const limits = limitsOf(options)
  const [program, ...args] = limits === '' ? line : ['sh', '-c', `${limits} exec "$0" "$@"`, ...line]
  const child = spawn(program!, args, {
    cwd: root,
    env,
    stdio: ['ignore', stdout === 'read' ? 'pipe' : stdout, 'pipe'],
  })
  let output = ''
  for (const stream of stdout === 'read' ? [child.stdout!, child.stderr!] : [child.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, output }) as ProgramEnd)
  return { child, output: () => output, ended }
}

/** Returns the shell commands that set resource limits before the program starts. */
function limitsOf({ fileLimit, fileSizeLimit }: ProgramOptions): string {
  const files = fileLimit === undefined ? '' : `ulimit -n ${fileLimit};`
  // without the trap the system would end the program by a signal
  const sizes = fileSizeLimit === undefined ? '' : `trap '' XFSZ; ulimit -f ${fileSizeLimit};`
  return files + sizes
}

function byShell(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return ['sh', '-c', scripts.start]
}

function readyLine({ child, output }: Launched): Promise<Record<string, unknown>> {
  return new Promise(resolve => {
    child.stdout!.on('data', () => {
      const ready = logLines(output()).find(({ msg }) => msg === 'ready')
      if (ready) resolve(ready)
    })
  })
}

function logLines(output: string): Record<string, unknown>[] {
  return output
    .split('\n')
    .slice(0, -1)
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as Record<string, unknown>)
}
