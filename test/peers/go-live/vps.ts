/**
 * A server as it is rented: an empty Debian on the small internet. What this machine cannot act is done by
 * stand-ins, which ask the test and wait for its answer: systemd as the first process, and the package
 * manager apt.
 */
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningMta } from '../../kit/debian-root.ts'
import type { TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { type EmptyRoot, openEmptyRoot } from '../packages/empty-root.ts'
import type { Host } from './internet.ts'
import { RESOLVER_OF_PROVIDER } from './world.ts'

const UNIT = 'usr/lib/systemd/system/mailhorn.service'
/** A stand-in leaves its arguments in a file, and ends once the file has gone. */
const STAND_IN = `#!/bin/sh
echo "\${0##*/} $*" > /run/asked.new
mv /run/asked.new /run/asked
while [ -e /run/asked ]; do sleep 0.05; done
`

export interface Vps {
  root: EmptyRoot
  /** Runs commands as root types them. Resolves to what they print, and how the last one ended. */
  type(text: string): Promise<{ code: number | null; output: string }>
  /** Log of the service. */
  log(): string
}

/** @param authorities certificates that everybody trusts */
export async function rentVps(t: TestContext, host: Host, authorities: string): Promise<Vps> {
  const root = await t.using(openEmptyRoot(host.enter))
  const write = (path: string, text: string) => writeFileSync(join(root.path, path), text)
  write('etc/resolv.conf', `nameserver ${RESOLVER_OF_PROVIDER}\n`)
  write('etc/authorities.pem', authorities)
  for (const program of ['apt', 'systemctl']) {
    write(`usr/bin/${program}`, STAND_IN)
    chmodSync(join(root.path, 'usr/bin', program), 0o755)
  }
  // AmbientCapabilities of the unit
  host.run('sh', '-c', 'echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start')
  let service: RunningMta | undefined
  t.after(() => service?.end('SIGKILL'))

  const answer = async (asked: string) => {
    const [program, ...args] = asked.trim().split(' ')
    if (program === 'apt') return void root.installPackage(join(root.path, 'root', args.at(-1)!))
    if (args.join(' ') !== 'enable --now mailhorn') throw new Error(`the test cannot act ${asked}`)
    service = startUnit(root)
    await until(() => service!.log().includes('"event":"ready"') || service!.hasEnded())
    if (service.hasEnded()) throw new Error(service.log())
  }
  return {
    root,
    log: () => service?.log() ?? '',
    async type(text) {
      const shell = root.start('root', ENVIRONMENT, '/bin/sh', '-euc', `cd /root; ${text}`)
      const asked = join(root.path, 'run/asked')
      while (!shell.hasEnded()) {
        await until(() => shell.hasEnded() || existsSync(asked))
        if (!existsSync(asked)) continue
        await answer(readFileSync(asked, 'utf8'))
        rmSync(asked)
      }
      return { code: shell.code(), output: shell.log() }
    },
  }
}

const ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', NODE_EXTRA_CA_CERTS: '/etc/authorities.pem' }

/** Starts the service with the user, the folders and the environment of its unit. */
function startUnit(root: EmptyRoot): RunningMta {
  const unit = readFileSync(join(root.path, UNIT), 'utf8')
  const all = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value!)
  const [user] = all('User')
  const [, uid, gid] = new RegExp(`^${user}:[^:]*:(\\d+):(\\d+):`, 'm').exec(
    readFileSync(join(root.path, 'etc/passwd'), 'utf8'),
  )!
  for (const folder of [`var/lib/${all('StateDirectory')[0]}`, `var/cache/${all('CacheDirectory')[0]}`]) {
    mkdirSync(join(root.path, folder), { recursive: true })
    chmodSync(join(root.path, folder), 0o700)
    chownSync(join(root.path, folder), Number(uid), Number(gid))
  }
  const settings = readFileSync(join(root.path, 'etc/mailhorn.env'), 'utf8').split('\n')
  const pairs = [...all('Environment'), ...settings.filter(line => /^\w+=/.test(line))].map(line => {
    const at = line.indexOf('=')
    return [line.slice(0, at), line.slice(at + 1)]
  })
  const [program, ...args] = all('ExecStart')[0]!.split(' ')
  return root.start(user!, { ...ENVIRONMENT, ...Object.fromEntries(pairs) }, program!, ...args)
}
