/** Mailhorn as users run it: the program in a process of its own, fed over HTTP by wrk. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import pg from 'pg'
import type { Contender, StartOptions } from './contender.ts'
import { type BatchShape, feedHttp } from './feed-http.ts'
import { SENDER_DOMAIN } from './message.ts'
import { type RunningProcess, startProcess, weigh } from './process.ts'
import { syncTracer } from './sync-trace.ts'
import { epochNow } from './time.ts'

interface MailhornOptions {
  /** Key slots that sign: 1 and 2 are RSA-2048, 3 is Ed25519. */
  signingSlots: readonly number[]
  /** Fed by batches instead of single messages. */
  batch?: BatchShape
  /** Folder for CPU profiles, one a thread and start. */
  profiles?: string | undefined
  /** Another checkout, in place of this one. */
  root?: string | undefined
  /** File to which `delay-probe.ts` writes. */
  delaysFile?: string
  /** Creates a PostgreSQL database for each start; the service uses SQLite when absent. */
  databases?: { create(): string }
  /** Further settings. */
  env?: Record<string, string>
  /** Arguments before those of the program, which start it within limits. */
  launcher?: readonly string[]
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DELAY_PROBE = new URL('./delay-probe.ts', import.meta.url).href
/** Address of the first user, which the service chooses. */
const ADMIN = 'admin@mailhorn.test'
const HTTP = { host: '127.0.0.1', port: 3990 }
export const DNS = { host: '127.0.0.1', port: 5390 }
/** Environment that `npm start` sets. */
const PROCESS = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '1048576',
  NODE_COMPILE_CACHE: 'node_modules/.cache/mailhorn',
}
const SETTINGS = {
  MAILHORN_HTTP_LISTEN: `${HTTP.host}:${HTTP.port}`,
  MAILHORN_DNS_LISTEN: `${DNS.host}:${DNS.port}`,
  MAILHORN_SMTP_INBOUND_LISTEN: '127.0.0.1:2590',
  MAILHORN_SMTP_SUBMISSION_LISTEN: '',
  MAILHORN_SMTP_SUBMISSION_TLS_LISTEN: '',
  MAILHORN_DNS_ADDRESSES: '192.0.2.1,2001:db8::1',
  MAILHORN_DNS_RESOLVERS: '127.0.0.1:53',
  MAILHORN_DELIVERY_ALLOW_PRIVATE_ADDRESSES: 'true',
  MAILHORN_TRACKING_BASE_URL: 'https://links.bench.test',
  MAILHORN_LOG_LEVEL: 'info',
  MAILHORN_RATE_LIMIT_REQUESTS_PER_SECOND: '0',
}

export interface MailhornContender extends Contender {
  databaseFile(): string
  /** Size of the database with its log. */
  databaseBytes(): number
  /** @throws when it is not answered 200 */
  get(path: string): Promise<Response>
  /** Once it is started. */
  access(): { url: string; apiKey: string; admin: { email: string; password: string } }
}

export function mailhorn(
  folder: string,
  { signingSlots, batch, profiles, root = ROOT, delaysFile, databases, env, launcher = [] }: MailhornOptions,
): MailhornContender {
  let running: RunningProcess | undefined
  let databaseUrl: string | undefined
  let dataDir = ''
  let apiKey = ''
  let password = ''
  const roots = () => [running!.pid]

  const launch = async ({ held, syncTrace }: StartOptions) => {
    const output = join(folder, `mailhorn.${Date.now()}.log`)
    const node = [
      process.execPath,
      '--max-semi-space-size=16',
      ...(profiles ? ['--cpu-prof', `--cpu-prof-dir=${profiles}`] : []),
      ...(delaysFile ? ['--import', DELAY_PROBE] : []),
    ]
    const [program, ...args] = [...launcher, ...syncTracer(syncTrace), ...node, entryIn(root)]
    running = await startProcess(program!, args, {
      cwd: root,
      output,
      readyPort: HTTP,
      env: {
        ...PROCESS,
        ...SETTINGS,
        ...(delaysFile && { BENCH_DELAYS: delaysFile }),
        MAILHORN_DATA_DIR: dataDir,
        ...(databaseUrl === undefined ? {} : { MAILHORN_DATABASE_URL: databaseUrl }),
        MAILHORN_ROLES: held ? 'api' : 'all',
        ...env,
      },
    })
    while (!readFileSync(output, 'utf8').includes('"msg":"ready"')) await pause(20)
    return readFileSync(output, 'utf8')
  }

  return {
    name: nameOf(signingSlots, batch) + (databases ? ' on PostgreSQL' : ''),
    roots,
    weigh: () => weigh(roots()),
    access: () => ({ url: `http://${HTTP.host}:${HTTP.port}`, apiKey, admin: { email: ADMIN, password } }),
    async start(options) {
      dataDir = mkdtempSync(join(folder, 'mailhorn-'))
      databaseUrl = databases?.create()
      const log = await launch(options)
      apiKey = /API key +(\S+)/.exec(log)![1]!
      password = /Password +(\S+)/.exec(log)![1]!
      await registerSender(password, signingSlots, databaseUrl ?? join(dataDir, 'mailhorn.db'))
    },
    feed: options => feedHttp({ ...options, ...HTTP, apiKey, folder, batch }),
    queuedCount() {
      const database = new Database(join(dataDir, 'mailhorn.db'), { readonly: true })
      const row = database.prepare('select count(*) as count from deliveries where state = 0').get()
      database.close()
      return (row as { count: number }).count
    },
    databaseFile: () => join(dataDir, 'mailhorn.db'),
    async get(path) {
      const headers = { authorization: `Bearer ${apiKey}` }
      const response = await fetch(`http://${HTTP.host}:${HTTP.port}${path}`, { headers })
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`)
      return response
    },
    databaseBytes: () =>
      ['mailhorn.db', 'mailhorn.db-wal'].reduce((sum, file) => sum + statSync(join(dataDir, file)).size, 0),
    /**
     * Starts again on the same data, with delivery: the start is part of the time, and its CPU of the CPU.
     */
    async release() {
      await running!.end()
      const at = epochNow()
      await launch({ held: false })
      return { at, cpuSeconds: 0 }
    },
    async flush() {
      const release = { at: epochNow(), cpuSeconds: weigh(roots()).cpuSeconds }
      resumeDestination(root, dataDir)
      return release
    },
    async stop() {
      await running!.end()
    },
  }
}

/** Returns the file that `npm start` runs; older checkouts have no build. */
function entryIn(root: string): string {
  return existsSync(join(root, 'build/main.js')) ? 'build/main.js' : 'src/main.ts'
}

/** Resumes the destination of `one.test`, as an operator would. */
function resumeDestination(root: string, dataDir: string) {
  const args = ['destinations', 'resume', 'mx.one.test']
  const env = { ...process.env, MAILHORN_DATA_DIR: dataDir }
  const { status, stderr } = spawnSync(join(root, 'bin/mailhorn'), args, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the destination cannot be resumed: ${stderr}`)
}

function nameOf(signingSlots: readonly number[], batch: BatchShape | undefined): string {
  if (batch) return `Mailhorn, batches of ${batch.size}, ${batch.distinct ? 'all different' : 'all the same'}`
  const alone = signingSlots.length === 1 ? `, ${signingSlots[0] === 3 ? 'Ed25519' : 'RSA'} alone` : ''
  return `Mailhorn${alone}`
}

/**
 * The benchmark is not about DNS: the domain is registered through the API and marked as verified in the
 * database.
 */
async function registerSender(password: string, signingSlots: readonly number[], database: string) {
  const base = `http://${HTTP.host}:${HTTP.port}`
  const post = async (path: string, body: object, token = '') => {
    const response = await fetch(base + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Record<string, string>
  }
  const { token } = await post('/auth/login', { email: ADMIN, password })
  await post('/domains', { name: SENDER_DOMAIN }, token)
  const slots = signingSlots.join(', ')
  await change(database, `update domains set status = 'verified', verified_at = 1`)
  await change(
    database,
    `update dkim_keys set active_from = case when slot in (${slots}) then created_at end`,
  )
}

/** @param database a file, or the URL of one on PostgreSQL */
async function change(database: string, sql: string) {
  if (!database.startsWith('postgres:')) {
    const file = new Database(database)
    file.prepare(sql).run()
    file.close()
    return
  }
  const client = new pg.Client(database)
  await client.connect()
  await client.query(sql)
  await client.end()
}
