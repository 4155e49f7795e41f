/**
 * A private Postfix as the MX of a domain: configuration, queue and mailboxes in a folder of its own, nothing
 * of the system's touched. It takes mail for the mailboxes named and refuses everybody else.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'
import { listens } from './listens.ts'
import { type Maildirs, openMaildirs } from './maildir.ts'
import { until } from './until.ts'

export interface PostfixOptions {
  /** The loopback address it listens on. */
  host: string
  domain: string
  /** Local parts that have a mailbox. */
  mailboxes: string[]
  /** Lines of main.cf on top of ours. */
  settings?: string[]
  /** More domains, with the same mailboxes. */
  moreDomains?: readonly string[]
  /** More addresses it listens on, at the same port, each with settings of its own. */
  moreListeners?: readonly { host: string; settings: readonly string[] }[]
}

export interface Postfix extends Maildirs {
  readonly host: string
  readonly port: number
  /** Its mail log. */
  log(): string
  stop(): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

const NOBODY = 65_534
const PRIVATE_SERVICES = [
  'rewrite unix - - n - - trivial-rewrite',
  'bounce unix - - n - 0 bounce',
  'defer unix - - n - 0 bounce',
  'trace unix - - n - 0 bounce',
  'error unix - - n - - error',
  'retry unix - - n - - error',
  'virtual unix - n n - - virtual',
  'smtp unix - - n - - smtp',
  'proxymap unix - - n - - proxymap',
  'anvil unix - - n - 1 anvil',
  'tlsmgr unix - - n 1000? 1 tlsmgr',
]
const PUBLIC_SERVICES = [
  'pickup unix n - n 60 1 pickup',
  'cleanup unix n - n - 0 cleanup',
  'qmgr unix n - n 300 1 qmgr',
  'flush unix n - n 1000? 0 flush',
  'showq unix n - n - - showq',
  'postlog unix-dgram n - n - 1 postlogd',
]

/** @throws when Postfix is not installed or may not be started */
export async function startPostfix(options: PostfixOptions): Promise<Postfix> {
  if (process.getuid?.() !== 0) throw new Error('Postfix can be started by root alone')
  const folder = mkdtempSync(join(tmpdir(), 'postfix-'))
  chmodSync(folder, 0o755)
  const port = await freePort(options.host)
  await configure(folder, port, options)
  const postfix = (command: string) => run('postfix', ['-c', join(folder, 'etc'), command])
  const start = async () => {
    await postfix('start')
    await until(() => listens(options.host, port))
  }
  await start()
  return {
    host: options.host,
    port,
    ...openMaildirs(join(folder, 'mail')),
    log: () => readFileSync(join(folder, 'maillog'), 'utf8'),
    start,
    async stop() {
      await postfix('stop')
    },
    async close() {
      await postfix('abort').catch(() => undefined) // it may have been stopped already
      rmSync(folder, { recursive: true })
    },
  }
}

async function configure(
  folder: string,
  port: number,
  { host, domain, mailboxes, settings = [], moreDomains = [], moreListeners = [] }: PostfixOptions,
) {
  const domains = [domain, ...moreDomains]
  for (const name of ['etc', 'spool', 'data', 'mail']) mkdirSync(join(folder, name))
  chownSync(join(folder, 'data'), await idOf('postfix'), 0)
  chownSync(join(folder, 'mail'), NOBODY, NOBODY)
  const certificates = fileURLToPath(new URL('./certs/', import.meta.url))
  const places = domains.flatMap(at => mailboxes.map(name => `${name}@${at} ${name}/\n`))
  writeFileSync(join(folder, 'mailboxes'), places.join(''))
  const main = [
    'compatibility_level = 3.6',
    `queue_directory = ${folder}/spool`,
    `data_directory = ${folder}/data`,
    'command_directory = /usr/sbin',
    'daemon_directory = /usr/lib/postfix/sbin',
    'mail_owner = postfix',
    'setgid_group = postdrop',
    `maillog_file = ${folder}/maillog`,
    `maillog_file_prefixes = ${tmpdir()}, /var`,
    `myhostname = mx.${domain}`,
    'mydestination =',
    'mynetworks =',
    'alias_maps =',
    'alias_database =',
    'inet_interfaces = 127.0.0.1',
    'inet_protocols = ipv4',
    'smtp_dns_support_level = disabled',
    'smtpd_peername_lookup = no',
    'smtpd_relay_restrictions = reject_unauth_destination',
    `virtual_mailbox_domains = ${domains.join(' ')}`,
    `virtual_mailbox_base = ${folder}/mail`,
    `virtual_mailbox_maps = texthash:${folder}/mailboxes`,
    `virtual_uid_maps = static:${NOBODY}`,
    `virtual_gid_maps = static:${NOBODY}`,
    'smtpd_tls_security_level = may',
    'smtpd_tls_received_header = yes',
    `smtpd_tls_cert_file = ${certificates}good.pem`,
    `smtpd_tls_key_file = ${certificates}key.pem`,
    ...settings,
  ]
  const listeners = [{ host, settings: [] }, ...moreListeners].map(listener =>
    [`${listener.host}:${port} inet n - n - - smtpd`, ...listener.settings.map(set => `-o {${set}}`)].join(
      ' ',
    ),
  )
  const master = [...listeners, ...PUBLIC_SERVICES, ...PRIVATE_SERVICES]
  writeFileSync(join(folder, 'etc/main.cf'), `${lastOfEach(main).join('\n')}\n`)
  writeFileSync(join(folder, 'etc/master.cf'), `${master.join('\n')}\n`)
}

/**
 * Postfix warns of what is set twice; its logger, too, which may then wait for ever for itself to read that.
 */
function lastOfEach(settings: readonly string[]): string[] {
  return [...new Map(settings.map(setting => [setting.split('=', 1)[0]!.trim(), setting])).values()]
}

async function idOf(user: string): Promise<number> {
  return Number(await run('id', ['-u', user]))
}

async function run(command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      output += chunk
    })
  const [code] = await once(child, 'close').catch(error => {
    throw new Error(`${command} cannot be run: install the Debian package postfix`, { cause: error })
  })
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${output}`)
  return output
}
