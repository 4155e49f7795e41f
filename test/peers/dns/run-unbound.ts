/**
 * Runs unbound from Debian with a configuration of the test's own: on a free port of loopback, or on port
 * 53 of addresses in a network namespace.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from '../../kit/suite.ts'
import { missing } from './tools.ts'

export interface RunningUnbound {
  /** `127.0.0.1:port`, or the first address in a namespace. */
  server: string
  log: string[]
}

export interface Place {
  /** Command that enters a network namespace. */
  enter: readonly string[]
  addresses: readonly string[]
}

/** @param configOf what follows the settings that every instance needs, for a folder that is its own */
export async function runUnbound(
  t: TestContext,
  configOf: (folder: string) => string | Promise<string>,
  { enter, addresses }: Place = { enter: [], addresses: ['127.0.0.1'] },
): Promise<RunningUnbound> {
  const folder = await mkdtemp(join(tmpdir(), 'unbound-'))
  t.after(() => rm(folder, { recursive: true }))
  const port = enter.length > 0 ? 53 : await freePort()
  const file = join(folder, 'unbound.conf')
  await writeFile(file, commonConfig(folder, addresses, port) + (await configOf(folder)))
  const [program, ...args] = [...enter, 'unbound', '-d', '-p', '-c', file]
  const child = spawn(program!, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const log: string[] = []
  const ended = new Promise(done => child.once('close', done))
  t.after(() => {
    child.kill()
    return ended
  })
  await started(child, log)
  return { server: `${addresses[0]}:${port}`, log }
}

function commonConfig(folder: string, addresses: readonly string[], port: number): string {
  return `
server:
  directory: "${folder}"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  logfile: ""
  verbosity: 2
  num-threads: 1
${addresses.map(address => `  interface: ${address}`).join('\n')}
  access-control: 0.0.0.0/0 allow
  port: ${port}
  do-ip6: no
  do-not-query-localhost: no
`
}

async function freePort(): Promise<number> {
  const probe = net.createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as net.AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

function started(child: ChildProcess, log: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    child.on('error', error => reject(missing('unbound', error)))
    child.on('exit', code => reject(new Error(`unbound ended with ${code}:\n${log.join('')}`)))
    child.stderr!.setEncoding('utf8').on('data', chunk => {
      log.push(chunk)
      if (log.join('').includes('start of service')) resolve()
    })
  })
}
