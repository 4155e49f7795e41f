/**
 * The whole service in this process, on ports of its own and with a data folder of its own. Scripted are only
 * its clock, the DNS it asks, and the MX hosts it delivers to.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type App, startApp } from '../../src/app/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import { settingsInForce } from '../../src/config/in-force.ts'
import { type AdjustableClock, createAdjustableClock } from '../../src/lib/adjustable-clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { createSecretKeys, type SecretKeys } from '../../src/lib/secret-keys.ts'
import { typedClientOf } from '../../src/resources/compat/typed-clients.ts'
import type { GenerateKey } from '../../src/resources/domains/domains.ts'
import { readOrCreateSecret } from '../../src/store/opening/secret-file.ts'
import { assertAsDescribed } from './contract.ts'
import { databaseOf, isOnPostgres, type TestDatabase } from './database.ts'
import { readyKeys } from './dkim-keys.ts'
import { openFilesIn, type WatchedClock, watchTimers } from './leaks.ts'
import { migratedDatabase } from './migrated-database.ts'
import { quickPasswords } from './quick-passwords.ts'
import { replyText } from './reply-text.ts'
import { until } from './until.ts'
import { type ScriptedZone, startZone } from './zone.ts'

export interface MailhornOptions {
  /** Zone text of the DNS that the service resolves with. */
  zone?: string
  /** Port on which MX hosts listen. */
  mxPort?: number
  /** Whether its DNS server runs, which is a thread of its own. */
  dns?: boolean
  /** Further settings, as environment variables. */
  env?: Record<string, string>
  /** A folder that outlives the app; a fresh one that does not, when absent. */
  dataDir?: string
  generateKey?: GenerateKey
}

export interface ApiAnswer {
  status: number
  headers: Headers
  /** The text itself where it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any
}

export interface CallOptions {
  key?: string | undefined
  /** A bearer session. */
  session?: string
  headers?: Record<string, string>
  body?: unknown
  /** A body as it is. */
  raw?: string | Uint8Array
}

export interface Mailhorn {
  baseUrl: string
  apiKey: string
  admin: { email: string; password: string }
  clock: AdjustableClock
  zone: ScriptedZone
  dataDir: string
  app: App
  call(method: string, path: string, options?: CallOptions): Promise<ApiAnswer>
  /** Sends with the first API key and returns the email's id. @throws when it is refused */
  send(email: object): Promise<string>
  // biome-ignore lint/suspicious/noExplicitAny: see above
  email(id: string): Promise<any>
  /** The email once it has the status. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  emailWhen(id: string, ...statuses: string[]): Promise<any>
  /** A bearer session of the admin. */
  signIn(): Promise<string>
  /** Registers the domain, puts its records into the world's DNS, and has it verified. */
  verifiedDomain(name: string, region?: string): Promise<{ id: string; records: DnsRecordView[] }>
  /** Rows of the database, as committed. */
  rows<T = Record<string, unknown>>(sql: string, ...parameters: unknown[]): T[]
  /** Changes the database behind the service's back, where no endpoint can bring about what a test needs. */
  change(sql: string, ...parameters: unknown[]): void
  close(): Promise<void>
}

export interface DnsRecordView {
  record: string
  type: string
  host: string
  value: string
  priority?: number
}

const root = new URL('../..', import.meta.url).pathname
const admin = { email: 'admin@mailhorn.test', password: 'correct horse battery staple' }

export async function startMailhorn(options: MailhornOptions = {}): Promise<Mailhorn> {
  const zone = await startZone(options.zone ?? '')
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'mailhorn-'))
  const clock = watchTimers(createAdjustableClock())
  const database = databaseOf(dataDir)
  if (!isOnPostgres && readdirSync(dataDir).length === 0)
    writeFileSync(join(dataDir, 'mailhorn.db'), await migratedDatabase())
  const { config, settings } = loadConfig(root, {
    MAILHORN_DATA_DIR: dataDir,
    ...(isOnPostgres && { MAILHORN_DATABASE_URL: database.url }),
    MAILHORN_HTTP_LISTEN: '127.0.0.1:0',
    MAILHORN_DNS_LISTEN: options.dns ? '127.0.0.1:0' : '',
    MAILHORN_SMTP_INBOUND_LISTEN: '127.0.0.1:0',
    MAILHORN_SMTP_INBOUND_MTA_STS: 'off',
    MAILHORN_SMTP_SUBMISSION_LISTEN: '',
    MAILHORN_SMTP_SUBMISSION_TLS_LISTEN: '',
    MAILHORN_DNS_RESOLVERS: zone.server,
    // All queries come from the scripted resolver, which has one address and no cache.
    MAILHORN_DNS_RESPONSES_PER_SECOND: '0',
    MAILHORN_ADMIN_PASSWORD: admin.password,
    MAILHORN_DELIVERY_ALLOW_PRIVATE_ADDRESSES: 'true',
    MAILHORN_DELIVERY_PORT: String(options.mxPort ?? 1),
    MAILHORN_DELIVERY_THREADS: '1',
    MAILHORN_DOCTOR_CLOCK_URL: '',
    // leads nowhere, unless a test starts a provider
    MAILHORN_AUTOCONFIGURE_CLOUDFLARE_BASE_URL: 'http://provider.invalid',
    MAILHORN_RATE_LIMIT_REQUESTS_PER_SECOND: '0',
    MAILHORN_LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'fatal',
    ...options.env,
  })
  const app = await startApp(config, {
    settings: settingsInForce(config, settings),
    log: createLog(config.log.level),
    clock,
    generateKey: options.generateKey ?? readyKeys(),
    passwords: quickPasswords(),
    onFatal(error) {
      throw error
    },
  }).catch(async error => {
    await zone.close()
    clock.close()
    throw error
  })
  if (app.dnsAddress) zone.forward(config.mailHost, `127.0.0.1:${app.dnsAddress.port}`)
  return new RunningMailhorn(app, {
    zone,
    clock,
    dataDir,
    database,
    keepData: options.dataDir !== undefined,
  })
}

/** Returns the keys that sign the tokens of the service. */
export function secretsOf({ dataDir }: Mailhorn): SecretKeys {
  return createSecretKeys(readOrCreateSecret(dataDir))
}

interface Surroundings {
  zone: ScriptedZone
  clock: WatchedClock
  dataDir: string
  database: TestDatabase
  keepData: boolean
}

class RunningMailhorn implements Mailhorn {
  readonly app: App
  readonly baseUrl: string
  readonly admin = admin
  apiKey: string
  readonly zone: ScriptedZone
  readonly clock: WatchedClock
  readonly dataDir: string
  readonly #database: TestDatabase
  readonly #keepData: boolean
  #session: Promise<string> | undefined

  constructor(app: App, { zone, clock, dataDir, database, keepData }: Surroundings) {
    this.app = app
    this.baseUrl = app.baseUrl
    this.apiKey = app.firstRun?.apiKey ?? ''
    this.zone = zone
    this.clock = clock
    this.dataDir = dataDir
    this.#database = database
    this.#keepData = keepData
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<ApiAnswer> {
    const { key, session, body, raw } = options
    const bearer = session ?? key
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const response = await fetch(this.baseUrl + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(payload === undefined ? {} : { body: payload }),
    })
    const answer = { status: response.status, headers: response.headers, body: await bodyOf(response) }
    if (typedClientOf({ 'user-agent': new Headers(options.headers).get('user-agent') ?? '' })) return answer
    await assertAsDescribed(method, path, answer)
    return answer
  }

  async send(email: object): Promise<string> {
    const { status, body } = await this.call('POST', '/emails', { key: this.apiKey, body: email })
    if (status !== 200) throw new Error(`the email was refused: ${JSON.stringify(body)}`)
    return body.id
  }

  async email(id: string) {
    const { status, body } = await this.call('GET', `/emails/${id}`, { key: this.apiKey })
    if (status !== 200) throw new Error(`the email cannot be read: ${JSON.stringify(body)}`)
    return body
  }

  async emailWhen(id: string, ...statuses: string[]) {
    return until(async () => {
      const email = await this.email(id)
      return statuses.includes(email.status) ? email : undefined
    })
  }

  signIn(): Promise<string> {
    this.#session ??= this.call('POST', '/auth/login', { body: admin }).then(
      ({ body }) => body.token as string,
    )
    return this.#session
  }

  async verifiedDomain(name: string, region = 'us-west-2') {
    const session = await this.signIn()
    const { body: domain } = await this.call('POST', '/domains', { session, body: { name, region } })
    this.zone.add(zoneText(domain.records))
    const { body: verified } = await this.call('POST', `/domains/${domain.id}/verify`, { session })
    if (verified.status !== 'verified')
      throw new Error(`${name} is ${verified.status}: ${JSON.stringify(verified)}`)
    return domain
  }

  rows<T>(sql: string, ...parameters: unknown[]): T[] {
    return this.#database.rows<T>(sql, ...parameters)
  }

  change(sql: string, ...parameters: unknown[]) {
    this.#database.change(sql, ...parameters)
  }

  async close() {
    this.#database.release()
    await this.app.stop()
    await this.zone.close()
    this.clock.close()
    this.#assertNothingIsLeft()
    if (this.#keepData) return
    this.#database.drop()
    rmSync(this.dataDir, { recursive: true })
  }

  #assertNothingIsLeft() {
    const files = openFilesIn(this.dataDir)
    const timers = this.clock.waiting()
    if (files.length > 0 || timers.length > 0)
      throw new Error(`the service left open files or timers: ${[...files, ...timers].join(', ')}`)
  }
}

/** JSON as what it says, anything else as text. */
async function bodyOf(response: Response): Promise<unknown> {
  const text = await replyText(response)
  if (text === '') return undefined
  return /^application\/json\b/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : text
}

/** The records of a domain as lines of a zone. */
export function zoneText(records: readonly DnsRecordView[]): string {
  return records
    .map(({ type, host, value, priority }) =>
      type === 'MX'
        ? `${host} MX ${priority} ${value}`
        : `${host} ${type} ${type === 'TXT' ? `"${value}"` : value}`,
    )
    .join('\n')
}
