/** Programs under measurement: started, waited for, weighed, ended. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export interface RunningProcess {
  pid: number
  child: ChildProcess
  end(signal?: NodeJS.Signals): Promise<void>
}

interface ProcessOptions {
  env?: Record<string, string>
  /** File for its output; thrown away when absent. */
  output?: string
  readyPort?: { host: string; port: number }
  cwd?: string
}

export async function startProcess(
  command: string,
  args: readonly string[],
  { env, output, readyPort, cwd }: ProcessOptions = {},
): Promise<RunningProcess> {
  const file = output === undefined ? undefined : openSync(output, 'a')
  const child = spawn(command, args, {
    stdio: ['ignore', file ?? 'ignore', file ?? 'ignore'],
    env: { ...process.env, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  })
  if (file !== undefined) closeSync(file)
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  if (readyPort) await portOpen(readyPort, child)
  return {
    pid: child.pid!,
    child,
    async end(signal = 'SIGTERM') {
      child.kill(signal)
      await ended
    },
  }
}

async function portOpen({ host, port }: { host: string; port: number }, child: ChildProcess) {
  for (let tries = 0; tries < 600; tries++) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${child.exitCode}`)
    const open = await new Promise<boolean>(resolve => {
      const socket = connect({ host, port })
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('close', () => socket.destroy())
      setTimeout(() => socket.destroy(), 500).unref()
    })
    if (open) return
    await pause(50)
  }
  throw new Error(`${child.spawnfile} does not listen on ${host}:${port}`)
}

export interface Weight {
  /** User and system time with that of ended children, s. */
  cpuSeconds: number
  rssBytes: number
}

/** The processes with these roots and all below them, as of now. */
export function weigh(roots: readonly number[]): Weight {
  const weight: Weight = { cpuSeconds: 0, rssBytes: 0 }
  for (const { cpuSeconds, rssBytes } of processesUnder(roots).values()) {
    weight.cpuSeconds += cpuSeconds
    weight.rssBytes += rssBytes
  }
  return weight
}

/** CPU that their threads have used, s, by the names of threads, which in Postfix are those of processes. */
export function weighThreads(roots: readonly number[]): ReadonlyMap<string, number> {
  const byName = new Map<string, number>()
  for (const pid of processesUnder(roots).keys())
    for (const [name, seconds] of threadsOf(pid)) byName.set(name, (byName.get(name) ?? 0) + seconds)
  return byName
}

function processesUnder(roots: readonly number[]): ReadonlyMap<number, Weight> {
  const processes = new Map<number, { parent: number } & Weight>()
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    const stat = Number.isInteger(pid) ? statOf(pid) : undefined
    if (stat) processes.set(pid, stat)
  }
  const todo = [...roots]
  const under = new Map<number, Weight>()
  for (let pid = todo.pop(); pid !== undefined; pid = todo.pop()) {
    const found = processes.get(pid)
    if (!found || under.has(pid)) continue
    under.set(pid, found)
    for (const [child, { parent }] of processes) if (parent === pid) todo.push(child)
  }
  return under
}

const TICKS_PER_SECOND = 100
const PAGE_BYTES = 4096

/**
 * Threads that live are counted in nanoseconds, since ticks of 10 ms lose much over many short-lived slices.
 */
function statOf(pid: number): ({ parent: number } & Weight) | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    const number = (index: number) => Number(fields[index])
    const ticks = (number(11) + number(12)) / TICKS_PER_SECOND
    const seconds = threadsOf(pid).reduce((sum, [, ofThread]) => sum + ofThread, 0)
    const children = (number(13) + number(14)) / TICKS_PER_SECOND
    return {
      parent: number(1),
      cpuSeconds: Math.max(ticks, seconds) + children,
      rssBytes: number(21) * PAGE_BYTES,
    }
  } catch {
    return undefined // the process has ended meanwhile
  }
}

/** Name and CPU seconds of each. */
function threadsOf(pid: number): [name: string, seconds: number][] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(thread => {
      const read = (file: string) => readFileSync(`/proc/${pid}/task/${thread}/${file}`, 'utf8')
      return [read('comm').trim(), Number(read('schedstat').split(' ')[0]) / 1e9]
    })
  } catch {
    return [] // it has ended meanwhile
  }
}

/** The largest sum of RSS between now and `stop()`. */
export function watchPeakRss(roots: () => readonly number[]): { stop(): number } {
  let peak = 0
  const check = () => {
    peak = Math.max(peak, weigh(roots()).rssBytes)
  }
  const timer = setInterval(check, 250)
  return {
    stop() {
      clearInterval(timer)
      check()
      return peak
    },
  }
}
