/**
 * A PostgreSQL server of a test's own: a fresh cluster in a folder of its own, on a loopback port and a Unix
 * socket, run by an unprivileged user, which can be stopped in the middle of everything and started again.
 */
import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'
import { type CertificateName, testCertificate } from './tls.ts'

export interface Cluster {
  /**
   * Returns the URL of a database whose user may create others.
   * @param by the port or the socket; the socket works across network namespaces
   */
  url(by?: 'port' | 'socket'): string
  /** Returns the process id of the server's main process. */
  pid(): number
  /** Runs a statement as its administrator. */
  sql(statement: string): void
  /** Runs one of PostgreSQL's own programs as its administrator, and resolves with what it prints. */
  tool(program: 'pg_dump' | 'psql', args: readonly string[], input?: string): string
  start(): Promise<void>
  /** `fast` ends every connection first, `immediate` is a crash. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
  close(): Promise<void>
}

interface ClusterOptions {
  /** False loses what was committed when the machine dies, and is quick. */
  fsync: boolean
  port?: number
  /** Certificate for clients that request TLS; the server does not offer TLS when absent. */
  certificate?: CertificateName
  /** Access rules, in the form of `pg_hba.conf`; everybody is admitted when absent. */
  access?: string
}

const USER = 'postgres'
const run = promisify(execFile)

/** @throws when PostgreSQL is not installed */
export async function startCluster(wanted: ClusterOptions): Promise<Cluster> {
  const { fsync, port, certificate, access } = wanted
  const folder = mkdtempSync(join(tmpdir(), 'mailhorn-postgres-'))
  const own = ownUser()
  if (own) chownSync(folder, own.uid, own.gid)
  chmodSync(folder, 0o711) // the socket is there for all
  const data = join(folder, 'data')
  const command = (program: string, ...args: string[]) =>
    run(join(binaries(), program), args, {
      cwd: folder,
      ...own,
      env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' },
    })
  const listenPort = port ?? (await freePort())
  await command('initdb', '-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--no-sync')
  const settings = {
    port: listenPort,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    max_connections: 300,
    ...(fsync ? {} : { fsync: 'off', full_page_writes: 'off', autovacuum: 'off' }),
    ...(certificate && { ssl: 'on', ssl_cert_file: 'server.pem', ssl_key_file: 'server.key' }),
  }
  const put = (name: string, text: string) => {
    writeFileSync(join(data, name), text, { mode: 0o600 })
    if (own) chownSync(join(data, name), own.uid, own.gid)
  }
  if (access !== undefined) put('pg_hba.conf', access)
  if (certificate) {
    const { key, cert } = testCertificate(certificate)
    put('server.key', key)
    put('server.pem', cert)
  }
  const options = Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
  const start = async () => {
    await command('pg_ctl', '-D', data, '-w', '-l', join(folder, 'log'), '-o', options, 'start')
  }
  const stop = async (mode: 'fast' | 'immediate') => {
    await command('pg_ctl', '-D', data, '-w', '-m', mode, 'stop')
  }
  const tool: Cluster['tool'] = (program, args, input = '') => {
    const { status, stdout, stderr } = spawnSync(
      join(binaries(), program),
      ['-h', folder, '-p', String(listenPort), '-U', USER, ...args],
      { encoding: 'utf8', input, maxBuffer: 256 * 1024 * 1024 },
    )
    if (status !== 0) throw new Error(stderr)
    return stdout
  }
  await start()
  return {
    url(by = 'port') {
      const base = `postgres://${USER}@127.0.0.1:${listenPort}/postgres`
      return by === 'port' ? base : `${base}?host=${folder}`
    },
    sql: statement => void tool('psql', ['-X', '-q', '-c', statement, 'postgres']),
    tool,
    pid: () => Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10),
    start,
    stop,
    async close() {
      await stop('immediate').catch(() => {}) // it may be stopped already
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The server refuses to run as root. */
function ownUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout)
  return { uid: id('-u'), gid: id('-g') }
}

function binaries(): string {
  const found = globSync('/usr/lib/postgresql/*/bin').sort().at(-1)
  if (found === undefined) throw new Error('PostgreSQL is not installed (Debian: apt-get install postgresql)')
  return found
}
