/**
 * Postfix, alone or with OpenDKIM as a milter on a unix socket: a private instance, stock limits, real MX
 * look-ups.
 */
import { type SpawnSyncOptions, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Contender } from './contender.ts'
import { type EitherFeedOptions, feedByEither } from './feed-smtp-source.ts'
import { SENDER_DOMAIN } from './message.ts'
import { type RunningProcess, startProcess, weigh } from './process.ts'
import { syncTracer } from './sync-trace.ts'
import { epochNow } from './time.ts'

const PORT = 2610

/** Suffix of the contender's name. */
export const BY_SMTP_SOURCE = ', fed by smtp-source'

/** Options for feeding a contender over SMTP. */
export type FedHow = Pick<EitherFeedOptions, 'to' | 'perConnection' | 'isDistinct' | 'bySmtpSource'>

interface PostfixOptions extends FedHow {
  signing: boolean
}

export function postfix(folder: string, { signing, ...how }: PostfixOptions): Contender {
  const root = join(folder, signing ? 'postfix-dkim' : 'postfix')
  let milter: RunningProcess | undefined
  let masterPid = 0
  const roots = () => (milter ? [masterPid, milter.pid] : [masterPid])
  const command = (words: readonly string[]) => {
    const [program, ...args] = words
    const options: SpawnSyncOptions = { stdio: ['ignore', 'ignore', 'ignore'] } // its daemons would keep a pipe open
    if (spawnSync(program!, args, options).status !== 0) throw new Error(`${words.join(' ')} failed`)
  }
  const etc = join(root, 'etc')
  return {
    name: `Postfix${signing ? ' + OpenDKIM' : ''}${how.bySmtpSource ? BY_SMTP_SOURCE : ''}`,
    roots,
    weigh: () => weigh(roots()),
    async start({ held, syncTrace }) {
      rmSync(root, { recursive: true, force: true })
      for (const part of ['etc', 'spool', 'data']) mkdirSync(join(root, part), { recursive: true })
      chownSync(join(root, 'data'), idOf('postfix'), 0)
      if (signing) milter = await startOpenDkim(folder)
      writeFileSync(
        join(root, 'etc/main.cf'),
        mainConfig(root, { held, milter: signing && socketOf(folder) }),
      )
      writeFileSync(join(root, 'etc/master.cf'), masterConfig())
      command([...syncTracer(syncTrace), 'postfix', '-c', etc, 'start'])
      const pidFile = join(root, 'spool/pid/master.pid')
      while (!existsSync(pidFile)) await new Promise(resolve => setTimeout(resolve, 20))
      masterPid = Number(readFileSync(pidFile, 'utf8'))
    },
    feed: options => feedByEither({ ...options, ...how, port: PORT, folder }),
    queuedCount: () => readdirSync(join(root, 'spool/hold')).length,
    async release() {
      const release = { at: epochNow(), cpuSeconds: weigh(roots()).cpuSeconds }
      command(['postsuper', '-c', etc, '-H', 'ALL'])
      command(['postqueue', '-c', etc, '-f'])
      return release
    },
    async flush() {
      const release = { at: epochNow(), cpuSeconds: weigh(roots()).cpuSeconds }
      command(['postqueue', '-c', etc, '-f'])
      return release
    },
    async stop() {
      command(['postfix', '-c', etc, 'stop'])
      await milter?.end()
      milter = undefined
    },
  }
}

function mainConfig(root: string, { held, milter }: { held: boolean; milter: string | false }): string {
  const settings: Record<string, string> = {
    compatibility_level: '3.6',
    queue_directory: `${root}/spool`,
    data_directory: `${root}/data`,
    command_directory: '/usr/sbin',
    daemon_directory: '/usr/lib/postfix/sbin',
    mail_owner: 'postfix',
    setgid_group: 'postdrop',
    myhostname: `mail.${SENDER_DOMAIN}`,
    mydestination: '',
    alias_maps: '',
    alias_database: '',
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    mynetworks: '127.0.0.0/8',
    smtpd_relay_restrictions: 'permit_mynetworks, reject',
    smtp_tls_security_level: 'may',
    maillog_file: `${root}/maillog`,
    maillog_file_prefixes: root,
  }
  if (held) settings.smtpd_client_restrictions = 'check_client_access static:HOLD'
  if (milter) settings.smtpd_milters = `unix:${milter}`
  return Object.entries(settings)
    .map(([key, value]) => `${key} = ${value}\n`)
    .join('')
}

/** Debian's services with chroot off, and the listener on a port of its own. */
function masterConfig(): string {
  const service = (name: string, isPrivate: boolean, processes: string, program: string) =>
    `${name} unix ${isPrivate ? '-' : 'n'} - n - ${processes} ${program}`
  return [
    `127.0.0.1:${PORT} inet n - n - - smtpd`,
    'pickup unix n - n 60 1 pickup',
    'qmgr unix n - n 300 1 qmgr',
    'postlog unix-dgram n - n - 1 postlogd',
    service('cleanup', false, '0', 'cleanup'),
    service('flush', false, '0', 'flush'),
    service('showq', false, '-', 'showq'),
    service('rewrite', true, '-', 'trivial-rewrite'),
    ...['bounce', 'defer', 'trace'].map(name => service(name, true, '0', 'bounce')),
    service('verify', true, '1', 'verify'),
    service('smtp', true, '-', 'smtp'),
    service('relay', true, '-', 'smtp'),
    service('error', true, '-', 'error'),
    service('retry', true, '-', 'error'),
    service('proxymap', true, '-', 'proxymap'),
    ...['anvil', 'scache', 'tlsmgr'].map(name => service(name, true, '1', name)),
    '',
  ].join('\n')
}

async function startOpenDkim(folder: string): Promise<RunningProcess> {
  const key = join(folder, 'dkim.pem')
  if (!existsSync(key)) spawnSync('openssl', ['genrsa', '-traditional', '-out', key, '2048'])
  chownSync(key, idOf('opendkim'), 0)
  chmodSync(key, 0o600)
  const socket = socketOf(folder)
  rmSync(join(folder, 'milter'), { recursive: true, force: true })
  mkdirSync(join(folder, 'milter'))
  chownSync(join(folder, 'milter'), idOf('opendkim'), 0)
  const config = join(folder, 'opendkim.conf')
  const settings = {
    Background: 'no',
    Syslog: 'no',
    Mode: 's',
    Canonicalization: 'relaxed/relaxed',
    Domain: SENDER_DOMAIN,
    Selector: 'bench',
    KeyFile: key,
    Socket: `local:${socket}`,
    UMask: '000',
    RequireSafeKeys: 'no',
    UserID: 'opendkim',
    OversignHeaders: 'From',
  }
  writeFileSync(
    config,
    Object.entries(settings)
      .map(([name, value]) => `${name} ${value}\n`)
      .join(''),
  )
  const running = await startProcess('opendkim', ['-f', '-x', config])
  while (!existsSync(socket)) await new Promise(resolve => setTimeout(resolve, 20))
  return running
}

function socketOf(folder: string): string {
  return join(folder, 'milter/socket')
}

function idOf(user: string): number {
  return Number(spawnSync('id', ['-u', user], { encoding: 'utf8' }).stdout)
}
