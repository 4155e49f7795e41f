/**
 * The service as users start it, in a process of its own, with what it needs around it: a DNS world, an MX
 * host, an account of honest people (`acme.example`) and one of the attackers (`eve.example`), both with a
 * verified domain that receives mail.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FakeMx, startFakeMx } from '../kit/fake-mx.ts'
import { freePort } from '../kit/free-port.ts'
import { type ApiAnswer, type DnsRecordView, zoneText } from '../kit/mailhorn.ts'
import { type Program, printedApiKey, startProgram } from '../kit/process.ts'
import { type ScriptedZone, startZone } from '../kit/zone.ts'
import type { Ports, Visit } from './honest-protocol.ts'
import { startLogged } from './logged-program.ts'

export interface Tenant {
  apiKey: string
  session: string
  login: { email: string; password: string }
  domainId: string
  domain: string
}

export interface Field {
  readonly program: Program
  readonly ports: Ports
  readonly dataDir: string
  readonly zone: ScriptedZone
  readonly mx: FakeMx
  /** The account of the operator, whose mail honest clients send. */
  readonly ann: Tenant
  readonly eve: Tenant
  readonly visit: Visit
  /** Describes how the service ended; undefined while it runs. */
  readonly end: string | undefined
  call(method: string, path: string, options?: { token?: string; body?: unknown }): Promise<ApiAnswer>
  /** Kills the service and starts it on the same data. */
  killAndStart(): Promise<void>
  close(): Promise<void>
}

export interface FieldOptions {
  settings?: Record<string, string>
  /** Data folder; a temporary one, removed afterwards, when absent. */
  dataDir?: string
  /** File that receives standard output. */
  logFile?: string
}

const PASSWORD = 'correct horse battery staple'
const ADMIN = { email: 'admin@mailhorn.test', password: PASSWORD }
/** A reverse proxy that is believed, for attacks that come from any address. */
export const PROXY = '127.77.77.77'
const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`

export async function openField({ settings = {}, dataDir, logFile }: FieldOptions = {}): Promise<Field> {
  const folder = mkdtempSync(join(tmpdir(), 'mailhorn-attacks-'))
  const zone = await startZone(ZONE)
  const mx = await startFakeMx({ host: '127.0.0.2' })
  const ports = await freePorts()
  const options = {
    dataDir: dataDir ?? join(folder, 'data'),
    byScript: true,
    settings: {
      ADMIN_PASSWORD: PASSWORD,
      DNS_RESOLVERS: zone.server,
      DELIVERY_PORT: String(mx.port),
      RATE_LIMIT_REQUESTS_PER_SECOND: '0',
      HTTP_LISTEN: `127.0.0.1:${ports.http}`,
      HTTP_TRUSTED_PROXIES: PROXY,
      DNS_LISTEN: `127.0.0.1:${ports.dns}`,
      SMTP_INBOUND_LISTEN: `127.0.0.1:${ports.inbound}`,
      SMTP_SUBMISSION_LISTEN: `127.0.0.1:${ports.submission}`,
      SMTP_SUBMISSION_TLS_LISTEN: `127.0.0.1:${ports.submissionTls}`,
      ...settings,
    },
  }
  let program!: Program
  let end: string | undefined
  let expectsEnd = false
  const start = async () => {
    program = await (logFile === undefined ? startProgram(options) : startLogged({ ...options, logFile }))
    void program.ended.then(({ code, signal, output }) => {
      if (!expectsEnd)
        end = `the service ended (${signal ?? code}): ${output.slice(-200).replaceAll('\n', ' | ')}`
    })
  }
  const closeWorld = async () => {
    await mx.close()
    await zone.close()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    mkdirSync(options.dataDir, { recursive: true, mode: 0o755 }) // as operators make them beforehand
    await start()
    zone.forward('mailhorn.test', `127.0.0.1:${ports.dns}`)
    const { ann, eve, login, dnsName } = await settle(program, zone)
    const visit: Visit = {
      ...{ ports, apiKey: ann.apiKey, secondKey: eve.apiKey, login, dnsName },
      recipient: `bob@${ann.domain}`,
      kinds: [],
    }
    return {
      ...{ ports, dataDir: options.dataDir, zone, mx, ann, eve, visit },
      get program() {
        return program
      },
      get end() {
        return end
      },
      call: (method, path, requests) => program.call(method, path, requests),
      async killAndStart() {
        expectsEnd = true
        await program.end('SIGKILL')
        expectsEnd = false
        await start()
      },
      async close() {
        expectsEnd = true
        await program.close()
        await closeWorld()
      },
    }
  } catch (error) {
    expectsEnd = true
    await program?.close()
    await closeWorld()
    throw error
  }
}

async function freePorts(): Promise<Ports> {
  const [http, inbound, submission, submissionTls, dns] = await Promise.all(
    [1, 2, 3, 4, 5].map(() => freePort()),
  )
  return { http: http!, inbound: inbound!, submission: submission!, submissionTls: submissionTls!, dns: dns! }
}

/** Two accounts, each with a verified domain whose mail comes here. */
async function settle(program: Program, zone: ScriptedZone) {
  const ask = async (method: string, path: string, token?: string, body?: object) => {
    const options = { ...(token !== undefined && { token }), ...(body && { body }) }
    const answer = await program.call(method, path, options)
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const signIn = async (login: object) => (await ask('POST', '/auth/login', undefined, login)).token as string
  const verify = async (session: string, name: string) => {
    const domain = await ask('POST', '/domains', session, { name })
    zone.add(zoneText(domain.records as DnsRecordView[]))
    zone.add(`${name} MX 10 mailhorn.test`)
    const { status } = await ask('POST', `/domains/${domain.id}/verify`, session)
    if (status !== 'verified') throw new Error(`${name} is ${status}`)
    return domain
  }
  const annSession = await signIn(ADMIN)
  const acme = await verify(annSession, 'acme.example')
  const makeAccount = async (name: string) => {
    const account = { name, owner_email: `${name}@${name}.example`, plan: 'scale' }
    const { password } = await ask('POST', '/accounts', annSession, account)
    return { email: account.owner_email, password: password as string }
  }
  const eveLogin = await makeAccount('eve')
  const eveSession = await signIn(eveLogin)
  const evil = await verify(eveSession, 'eve.example')
  const { token } = await ask('POST', '/api-keys', eveSession, { name: 'key' })
  const ann: Tenant = {
    ...{ apiKey: printedApiKey(program), session: annSession, login: ADMIN },
    ...{ domainId: acme.id, domain: 'acme.example' },
  }
  const eve: Tenant = {
    ...{ apiKey: token, session: eveSession, login: eveLogin, domainId: evil.id, domain: 'eve.example' },
  }
  const dkim = (acme.records as DnsRecordView[]).find(({ type }) => type === 'CNAME')
  // of a user of its own, since a user has so many sessions, and the oldest end
  return { ann, eve, login: await makeAccount('hal'), dnsName: dkim!.value }
}

/** Memory of a process that is its own or in use, in bytes. */
export function residentBytes(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib ?? 0) * 1024
}

/** Processes that this one has started and that still run. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number)
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined // it ended meanwhile
  }
}

/** Returns the number of sockets of the process, connected or not. */
export function socketCount(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).filter(fd => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('socket:')
    } catch {
      return false // closed meanwhile
    }
  }).length
}
