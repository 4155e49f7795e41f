/** A private network and mount namespace for one benchmark run: loopback, many addresses, a resolver on port 53. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startProcess } from './process.ts'

/** Addresses that all lead to this machine: the MX hosts of the destination domains. */
const MX_NETWORK = '198.18.0.0/16'

/** Runs this program again inside the namespaces; does not return outside. */
export function enterNamespace(): void {
  if (process.env.BENCH_INSIDE) return
  const args = ['-n', '-m', process.execPath, ...process.argv.slice(1)]
  const { status } = spawnSync('unshare', args, {
    stdio: 'inherit',
    env: { ...process.env, BENCH_INSIDE: '1' },
  })
  process.exit(status ?? 1)
}

/** `one.test` and `d0001.test` … each with an MX host of its own address; answers come from unbound on 127.0.0.1:53. */
export async function prepareNetwork(folder: string, domainCount: number) {
  run('ip', 'link', 'set', 'lo', 'up')
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
    ...domain('one.test', '198.18.0.1'),
    ...Array.from({ length: domainCount }, (_, i) =>
      domain(destination(i + 1), `198.18.${1 + Math.floor(i / 250)}.${1 + (i % 250)}`),
    ).flat(),
    'remote-control:',
    'control-enable: no',
    '',
  ].join('\n')
}

function run(command: string, ...args: string[]) {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
}
