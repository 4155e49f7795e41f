/**
 * Namespaces of its own for one benchmark run: a network of loopback, many addresses and a resolver on port
 * 53; and processes that all end with the run, however it ends.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProcess } from './process.ts'

/** Addresses that all lead to this machine: the MX hosts of the destination domains. */
const MX_NETWORK = '198.18.0.0/16'

/**
 * Runs this program again inside the namespaces, whose only network is loopback; does not return outside.
 * @param keep leaves the folder when the run is over
 * @returns a folder for everything the run writes
 */
export async function enterNamespaces(keep: boolean): Promise<string> {
  const input = process.env.BENCH_FOLDER
  if (input !== undefined) {
    run('ip', 'link', 'set', 'lo', 'up')
    return input
  }
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  chmodSync(folder, 0o755)
  // a shell is the first process inside: it clears up after processes whose parents have ended
  const inside = [
    'sh',
    '-c',
    '"$@"; exit $?',
    'sh',
    process.execPath,
    ...process.execArgv,
    ...process.argv.slice(1),
  ]
  const inner = spawn('unshare', ['-n', '-m', '-p', '-f', '--mount-proc', '--kill-child', ...inside], {
    stdio: 'inherit',
    env: { ...process.env, BENCH_FOLDER: folder },
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => inner.kill('SIGKILL'))
  const [status] = await once(inner, 'exit')
  if (keep) console.log(`kept: ${folder}`)
  else rmSync(folder, { recursive: true, force: true })
  process.exit(status ?? 1)
}

/**
 * `one.test` and `d0001.test` … each with an MX host of its own address; answers come from unbound on
 * 127.0.0.1:53.
 */
export async function prepareNetwork(folder: string, domainCount: number) {
  run('ip', 'route', 'add', 'local', MX_NETWORK, 'dev', 'lo')
  const resolv = join(folder, 'resolv.conf')
  writeFileSync(resolv, 'nameserver 127.0.0.1\n')
  run('mount', '--bind', resolv, '/etc/resolv.conf')
  const unbound = join(folder, 'unbound.conf')
  writeFileSync(unbound, unboundConfig(folder, domainCount))
  return startProcess('unbound', ['-d', '-c', unbound], { readyPort: { host: '127.0.0.1', port: 53 } })
}

export function destination(index: number): string {
  return `d${String(index).padStart(4, '0')}.test`
}

/** Address of the MX host of `one.test`. */
export const ONE_ADDRESS = '198.18.0.1'

/** Returns the address of the MX host of a destination; the first index is 1. */
export function addressOf(index: number): string {
  const place = index - 1
  return `198.18.${1 + Math.floor(place / 250)}.${1 + (place % 250)}`
}

function unboundConfig(folder: string, domainCount: number): string {
  const record = (data: string) => `local-data: "${data}"`
  const domain = (name: string, address: string) => [
    record(`${name}. 300 IN MX 10 mx.${name}.`),
    record(`mx.${name}. 300 IN A ${address}`),
  ]
  return [
    'server:',
    'interface: 127.0.0.1',
    'do-daemonize: no',
    'username: ""',
    'chroot: ""',
    'pidfile: ""',
    'use-syslog: no',
    `logfile: "${folder}/unbound.log"`,
    'module-config: "iterator"',
    'do-not-query-localhost: no',
    'local-zone: "." static',
    'local-zone: "test." static',
    record('1.0.0.127.in-addr.arpa. PTR localhost.'),
    ...domain('one.test', ONE_ADDRESS),
    ...Array.from({ length: domainCount }, (_, i) => domain(destination(i + 1), addressOf(i + 1))).flat(),
    'remote-control:',
    'control-enable: no',
    '',
  ].join('\n')
}

function run(command: string, ...args: string[]) {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
}
