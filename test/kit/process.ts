/** The real program as a process of its own, as `npm start` runs it: to read what it prints, to stop it, to kill it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const guard = new URL('./guard.ts', import.meta.url).href
const START_LIMIT_MS = 60_000

export interface ProgramOptions {
  dataDir: string
  /** Settings, as environment variables without their `POSTHORN_`. */
  settings?: Record<string, string>
}

export interface Program {
  baseUrl: string
  /** Of the name server, when there is one. */
  dnsPort: number
  pid: number
  /** Everything printed so far, on both streams. */
  readonly output: string
  /** What it printed as logs, line by line. */
  readonly logs: Record<string, unknown>[]
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

/** Starts the program and resolves once it says that it is ready. @throws with its output when it ends before */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const run = launch(options)
  const limit = setTimeout(() => run.child.kill('SIGKILL'), START_LIMIT_MS)
  const ready = await Promise.race([readyLine(run), run.ended])
  clearTimeout(limit)
  if ('code' in ready) throw new Error(`the program ended (${ready.code ?? ready.signal}):\n${ready.output}`)
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

/** Runs the program to its own end: for starts that must fail. */
export async function runProgram(options: ProgramOptions): Promise<ProgramEnd> {
  const { child, ended } = launch(options)
  const limit = setTimeout(() => child.kill('SIGKILL'), START_LIMIT_MS)
  const end = await ended
  clearTimeout(limit)
  return end
}

interface Launched {
  child: ChildProcess
  output(): string
  ended: Promise<ProgramEnd>
}

function launch({ dataDir, settings = {} }: ProgramOptions): Launched {
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    POSTHORN_DATA_DIR: dataDir,
    POSTHORN_HTTP_LISTEN: '127.0.0.1:0',
    POSTHORN_DNS_LISTEN: '127.0.0.1:0',
    POSTHORN_DELIVERY_ALLOW_PRIVATE_ADDRESSES: 'true',
  }
  for (const [name, value] of Object.entries(settings)) env[`POSTHORN_${name}`] = value
  const child = spawn(process.execPath, ['--import', guard, 'src/main.ts'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, output }) as ProgramEnd)
  return { child, output: () => output, ended }
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
