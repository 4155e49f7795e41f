/** Debian's dnsperf: asks our name server, as fast as it answers or at a steady rate, from one address. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface DnsperfOptions {
  folder: string
  server: { host: string; port: number }
  /** `name type`, asked in turn. */
  queries: readonly string[]
  seconds: number
  /** Queries a second whatever comes back; as many as are answered when absent. */
  rate?: number
}

export interface Dnsperf {
  /** Resolves when its time is over. */
  result: Promise<DnsperfResult>
  end(): void
}

export interface DnsperfResult {
  sentPerSecond: number
  answeredPerSecond: number
}

/** Enough for a server that is busy, too few to fill a socket's buffer. */
const OUTSTANDING = 100
/**
 * Options for a flood. Unanswered queries are dropped after the timeout, so that they do not delay further
 * ones.
 */
const FLOOD = ['-c', '4', '-q', '60000', '-t', '1', '-O', 'suppress=timeout']

export function startDnsperf({ folder, server, queries, seconds, rate }: DnsperfOptions): Dnsperf {
  const file = join(folder, 'queries.txt')
  writeFileSync(file, `${queries.join('\n')}\n`)
  const pace = rate === undefined ? ['-q', `${OUTSTANDING}`] : [...FLOOD, '-Q', `${rate}`]
  const where = [
    '-s',
    server.host,
    '-p',
    `${server.port}`,
    '-d',
    file,
    '-l',
    `${seconds}`,
    '-e',
    '-b',
    '4096',
  ]
  const child = spawn('dnsperf', [...where, ...pace], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      output += chunk
    })
  return { result: once(child, 'close').then(() => resultIn(output)), end: () => child.kill('SIGINT') }
}

/** @throws when it has failed */
function resultIn(output: string): DnsperfResult {
  const figure = (name: string) => Number(new RegExp(`${name}:\\s+([\\d.]+)`).exec(output)?.[1])
  const [sent, answered, seconds] = ['Queries sent', 'Queries completed', 'Run time \\(s\\)'].map(figure)
  if (!sent || !seconds || answered === undefined) throw new Error(`dnsperf failed:\n${output}`)
  return { sentPerSecond: sent / seconds, answeredPerSecond: answered / seconds }
}
