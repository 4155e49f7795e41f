/** Posthorn as users run it: the program in a process of its own, fed over HTTP by wrk. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import type { Contender } from './contender.ts'
import { feedHttp } from './feed-http.ts'
import { SENDER_DOMAIN } from './message.ts'
import { type RunningProcess, startProcess, weigh } from './process.ts'

export interface PosthornContender extends Contender {
  readonly dataDir: string
  readonly pid: number
  /** Starts again on the same data, with delivery. */
  release(): Promise<void>
}

interface PosthornOptions {
  /** Without keys: the domain signs nothing. */
  signing: boolean
  env?: Record<string, string>
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const HTTP = { host: '127.0.0.1', port: 3990 }

export function posthorn(folder: string, { signing, env = {} }: PosthornOptions): PosthornContender {
  let running: RunningProcess | undefined
  let dataDir = ''
  let apiKey = ''
  const roots = () => [running!.pid]

  const launch = async (extra: Record<string, string>) => {
    const output = join(folder, `posthorn.${Date.now()}.log`)
    running = await startProcess(process.execPath, ['src/main.ts'], {
      cwd: ROOT,
      output,
      readyPort: HTTP,
      env: {
        POSTHORN_DATA_DIR: dataDir,
        POSTHORN_HTTP_LISTEN: `${HTTP.host}:${HTTP.port}`,
        POSTHORN_DNS_LISTEN: '127.0.0.1:5390',
        POSTHORN_DNS_RESOLVERS: '127.0.0.1:53',
        POSTHORN_DELIVERY_ALLOW_PRIVATE_ADDRESSES: 'true',
        POSTHORN_LOG_LEVEL: 'info',
        POSTHORN_RATE_LIMIT_REQUESTS_PER_SECOND: '0',
        ...env,
        ...extra,
      },
    })
    while (!readFileSync(output, 'utf8').includes('"msg":"ready"')) await pause(20)
    return readFileSync(output, 'utf8')
  }

  return {
    name: signing ? 'Posthorn' : 'Posthorn, unsigned',
    get dataDir() {
      return dataDir
    },
    get pid() {
      return running!.pid
    },
    roots,
    weigh: () => weigh(roots()),
    async start({ held }) {
      dataDir = mkdtempSync(join(folder, 'posthorn-'))
      const log = await launch(held ? { POSTHORN_ROLES: 'api' } : {})
      apiKey = /API key +(\S+)/.exec(log)![1]!
      await registerSender(log, dataDir, signing)
    },
    feed: options => feedHttp({ ...options, ...HTTP, apiKey, folder }),
    async release() {
      await running!.end()
      await launch({})
    },
    async stop() {
      await running!.end()
    },
  }
}

/** The benchmark is not about DNS: the domain is registered through the API and marked as verified in the database. */
async function registerSender(log: string, dataDir: string, signing: boolean) {
  const password = /Password +(\S+)/.exec(log)![1]!
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
  const { token } = await post('/auth/login', { email: 'admin@posthorn.test', password })
  await post('/domains', { name: SENDER_DOMAIN }, token)
  const database = new Database(join(dataDir, 'posthorn.db'))
  database.prepare(`update domains set status = 'verified', verified_at = 1`).run()
  database
    .prepare(`update dkim_keys set active_from = 1 where slot in ${process.env.BENCH_SLOTS ?? '(1, 3)'}`)
    .run()
  if (!signing) database.prepare('delete from dkim_keys').run()
  database.close()
  writeFileSync(join(dataDir, 'bench'), '')
}
