/**
 * A small internet for one test: hosts in network namespaces of their own, on one bridge, with addresses of
 * the public internet that lead nowhere else. Everything vanishes with the processes that hold the
 * namespaces.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from '../../kit/suite.ts'

export interface Host {
  /** Command that enters its namespaces; the program to run follows. */
  enter: readonly string[]
  /** Runs a program there to its end. @throws with what it printed when it fails */
  run(...command: string[]): string
}

export class Internet {
  readonly #t: TestContext
  readonly #bridge: Host
  #hostCount = 0

  private constructor(t: TestContext, bridge: Host) {
    this.#t = t
    this.#bridge = bridge
  }

  static async open(t: TestContext): Promise<Internet> {
    const bridge = await openNamespace(t)
    // without a delay, new ports forward at once
    bridge.run('ip', 'link', 'add', 'bridge', 'type', 'bridge', 'forward_delay', '0', 'mcast_snooping', '0')
    bridge.run('ip', 'link', 'set', 'bridge', 'up')
    return new Internet(t, bridge)
  }

  /** Every other host is on the same link, so that a host may have any addresses. */
  async host(...addresses: string[]): Promise<Host> {
    const host = await openNamespace(this.#t)
    const port = `host${++this.#hostCount}`
    this.#bridge.run(
      ...['ip', 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', `${host.pid}`],
    )
    this.#bridge.run('ip', 'link', 'set', port, 'master', 'bridge', 'up')
    host.run('ip', 'link', 'set', 'lo', 'up')
    for (const address of addresses) host.run('ip', 'address', 'add', `${address}/32`, 'dev', 'eth0')
    host.run('ip', 'link', 'set', 'eth0', 'up')
    host.run('ip', 'route', 'add', 'default', 'dev', 'eth0')
    return host
  }
}

async function openNamespace(t: TestContext): Promise<Host & { pid: number }> {
  const holder = spawn('unshare', ['--net', '--mount', 'sh', '-c', 'echo there; exec sleep infinity'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => ended(holder))
  await Promise.race([once(holder.stdout, 'data'), failure(holder)])
  const pid = holder.pid!
  const enter = ['nsenter', '--target', `${pid}`, '--net', '--mount']
  return { pid, enter, run: (...command) => finish([...enter, ...command]) }
}

async function failure(holder: ChildProcess): Promise<never> {
  const [code] = await once(holder, 'exit')
  throw new Error(`a network namespace cannot be made (${code}): this takes root and util-linux`)
}

async function ended(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill()
  await once(child, 'close')
}

/** Runs a program to its end. @throws with what it printed when it fails */
export function finish([program, ...args]: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program!, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}: ${stdout}${stderr}`)
  return stdout + stderr
}
