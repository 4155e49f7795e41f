/**
 * Runs knotd from Debian as the name server of zones whose lines a test writes; without privileges on
 * loopback, or in a network namespace.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../kit/free-port.ts'
import type { TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { askServer } from '../../kit/zone-client.ts'
import { missing, run } from './tools.ts'

export interface RunningKnot {
  host: string
  port: number
  /** Puts other lines, in the form of zone files, into a zone; resolves when they are served. */
  put(zone: string, lines: readonly string[]): Promise<void>
}

/**
 * Each zone has a SOA record, and one name server `ns1` at the address of this one.
 * @param enter command that enters a network namespace, where port 53 is free; none for loopback
 */
export async function runKnot(
  t: TestContext,
  host: string,
  zones: readonly string[],
  enter: readonly string[] = [],
): Promise<RunningKnot> {
  const folder = await mkdtemp(join(tmpdir(), 'knot-'))
  t.after(() => rm(folder, { recursive: true }))
  const port = enter.length > 0 ? 53 : await freePort(host)
  const serials = new Map(zones.map(zone => [zone, 0]))
  const fileOf = (zone: string) => join(folder, `${zone}.zone`)
  const write = (zone: string, lines: readonly string[]) => {
    const serial = serials.get(zone)! + 1
    serials.set(zone, serial)
    const head = [
      '$TTL 300',
      `@ SOA ns1.${zone}. hostmaster.${zone}. ${serial} 3600 600 86400 60`,
      `@ NS ns1.${zone}.`,
      `ns1 A ${host}`,
    ]
    return writeFile(fileOf(zone), `$ORIGIN ${zone}.\n${[...head, ...lines].join('\n')}\n`)
  }
  const isServed = async (zone: string) => {
    if (enter.length > 0) return (await serialIn(enter, host, zone)) === serials.get(zone)
    const reply = await askServer(`${host}:${port}`, zone, 'SOA').catch(() => undefined)
    const [soa] = reply?.answers ?? []
    return soa?.type === 'SOA' && soa.serial === serials.get(zone)
  }

  for (const zone of zones) await write(zone, [])
  const config = join(folder, 'knot.conf')
  await writeFile(config, configOf(folder, { host, port, zones, fileOf }))
  const path = `${process.env.PATH}:/usr/sbin`
  const [program, ...args] = [...enter, 'knotd', '-c', config]
  const child = spawn(program!, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: path },
  })
  let log = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', chunk => {
      log += chunk
    })
  let failure: Error | undefined
  child.on('error', error => {
    failure = missing('knotd', error)
  })
  child.on('exit', code => {
    failure ??= new Error(`knotd ended with ${code}:\n${log}`)
  })
  const ended = new Promise(done => child.once('close', done))
  t.after(() => {
    child.kill()
    return ended
  })
  const served = (zone: string) =>
    until(() => {
      if (failure) throw failure
      return isServed(zone)
    })
  for (const zone of zones) await served(zone)
  return {
    host,
    port,
    async put(zone, lines) {
      await write(zone, lines)
      child.kill('SIGHUP')
      await served(zone)
    },
  }
}

/** The test itself does not reach a server in a namespace. */
async function serialIn(enter: readonly string[], host: string, zone: string): Promise<number> {
  const [program, ...args] = [...enter, 'kdig', '+short', '+retry=0', '+timeout=1', `@${host}`, zone, 'SOA']
  return Number((await run(program!, args)).split(' ')[2])
}

function configOf(
  folder: string,
  {
    host,
    port,
    zones,
    fileOf,
  }: { host: string; port: number; zones: readonly string[]; fileOf(zone: string): string },
): string {
  return `
server:
    rundir: "${folder}"
    listen: ${host}@${port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
control:
    listen: "${folder}/knot.sock"
log:
  - target: stderr
    any: info
database:
    storage: "${folder}"
zone:
${zones.map(zone => `  - domain: ${zone}\n    file: "${fileOf(zone)}"\n    journal-content: none\n    zonefile-load: whole\n    zonefile-sync: -1\n    semantic-checks: on`).join('\n')}
`
}
