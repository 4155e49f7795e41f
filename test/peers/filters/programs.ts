/**
 * Debian's filters, each as a program of its own on loopback, unpacked by `scripts/fetch-mtas.ts`; none is
 * installed.
 */
import { chmodSync, cpSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDebianRoot, packageFolder, type RunningMta, startMta } from '../../kit/debian-root.ts'
import { freePort } from '../../kit/free-port.ts'
import { listens } from '../../kit/listens.ts'
import { until } from '../../kit/until.ts'

const HOST = '127.0.0.1'
/** Test virus of our signature database; other scanners do not know it. */
export const VIRUS = 'MAILHORN-TEST-OF-VIRUS-SCANNERS-NOT-A-VIRUS'
export const VIRUS_NAME = 'Mailhorn.Test.String.UNOFFICIAL'
/** Its limit for a stream. */
export const CLAMD_STREAM_BYTES = 2 * 1024 * 1024

export interface RunningFilter {
  host: string
  port: number
  log(): string
  close(): Promise<void>
}

/** Starts clamd with a database of one signature, `VIRUS`. */
export async function startClamd(): Promise<RunningFilter & { path: string }> {
  const root = packageFolder('clamav-daemon')
  const folder = mkdtempSync(join(tmpdir(), 'clamd-'))
  const port = await freePort()
  const path = join(folder, 'clamd.sock')
  mkdirSync(join(folder, 'db'))
  const hex = Buffer.from(VIRUS).toString('hex')
  writeFileSync(join(folder, 'db', 'mailhorn.ndb'), `Mailhorn.Test.String:0:*:${hex}\n`)
  writeFileSync(
    join(folder, 'clamd.conf'),
    [
      ...['Foreground yes', `LocalSocket ${path}`, `TCPSocket ${port}`, `TCPAddr ${HOST}`],
      ...[`DatabaseDirectory ${join(folder, 'db')}`, `StreamMaxLength ${CLAMD_STREAM_BYTES}`, ''],
    ].join('\n'),
  )
  const libraries = globSync(join(root, 'usr/lib/*-linux-gnu')).join(':')
  const program = [join(root, 'usr/sbin/clamd'), '-c', join(folder, 'clamd.conf')]
  const running = startMta('env', [`LD_LIBRARY_PATH=${libraries}`, ...program])
  return { ...(await started('clamd', running, port, () => rmSync(folder, { recursive: true }))), path }
}

/**
 * Starts spamd with the rules of the package and without a network. `settings` are lines of a `local.cf` in
 * place of these; they must name a DNS server.
 */
export async function startSpamd(settings?: readonly string[]): Promise<RunningFilter> {
  const root = packageFolder('spamd')
  const folder = mkdtempSync(join(tmpdir(), 'spamd-'))
  chmodSync(folder, 0o777)
  const site = settings ? join(folder, 'site') : join(root, 'etc/spamassassin')
  if (settings) {
    cpSync(join(root, 'etc/spamassassin'), site, { recursive: true })
    writeFileSync(join(site, 'local.cf'), `${settings.join('\n')}\n`)
  }
  const port = await freePort()
  const modules = [join(root, 'usr/share/perl5'), ...globSync(join(root, 'usr/lib/*/perl5/*'))]
  const running = startMta('/usr/bin/perl', [
    ...['-T', ...modules.map(module => `-I${module}`), join(root, 'usr/sbin/spamd')],
    ...(settings ? [] : ['--local']),
    ...['--nouser-config', '--username=nobody', `--helper-home-dir=${folder}`, '--syslog=stderr'],
    ...[`--configpath=${join(root, 'usr/share/spamassassin')}`, `--siteconfigpath=${site}`],
    ...[`--listen=${HOST}:${port}`, '--max-children=2'],
  ])
  const filter = await started('spamd', running, port, () => rmSync(folder, { recursive: true }))
  // It listens before it has read its rules.
  await until(() => /child states: I/.test(filter.log()))
  return filter
}

/**
 * Starts rspamd with those rules of the package that do not need Redis.
 * @param nameServer `host:port`
 * @param dnsTimeoutS limit of each look-up; short for a server that does not answer
 */
export async function startRspamd(nameServer: string, dnsTimeoutS = 0.5): Promise<RunningFilter> {
  const port = await freePort()
  const root = openDebianRoot({
    package: 'rspamd',
    programs: ['/usr/bin/rspamd', '/usr/lib/rspamd/librspamd-server.so', '/bin/sh'],
    users: ['_rspamd'],
  })
  const local = (name: string, text: string) => root.write(`/etc/rspamd/local.d/${name}`, text)
  // It compiles them for half a minute.
  root.write('/usr/share/rspamd/effective_tld_names.dat', 'test\n')
  root.write('/etc/hosts', '127.0.0.1 localhost\n')
  local('worker-normal.inc', `bind_socket = "${HOST}:${port}";\ncount = 1;\n`)
  local('worker-controller.inc', 'enabled = false;\n')
  local('worker-proxy.inc', 'enabled = false;\n')
  local('worker-fuzzy.inc', 'enabled = false;\n')
  local('logging.inc', 'type = "console";\nlevel = "warning";\n')
  local(
    'options.inc',
    `dns { nameserver = ["${nameServer}"]; timeout = ${dnsTimeoutS}s; retransmits = 1; }\nenable_test_patterns = true;\n`,
  )
  for (const folder of ['/var/lib/rspamd', '/var/log/rspamd', '/run/rspamd', '/tmp'])
    root.folder(folder, { user: '_rspamd' })
  const running = root.start(
    '/usr/bin/rspamd',
    '-f',
    '-u',
    '_rspamd',
    '-g',
    '_rspamd',
    '-c',
    '/etc/rspamd/rspamd.conf',
  )
  return started('rspamd', running, port, () => root.close())
}

async function started(
  name: string,
  running: RunningMta,
  port: number,
  clean: () => void,
): Promise<RunningFilter> {
  const close = async () => {
    await running.end()
    clean()
  }
  try {
    await until(async () => {
      if (running.hasEnded()) throw new Error(`${name} does not start: ${running.log()}`)
      return listens(HOST, port)
    })
  } catch (error) {
    await close()
    throw error
  }
  return { host: HOST, port, log: running.log, close }
}
