/**
 * Starts the real program for fault tests, with DNS and an MX host, and reads what is left in its data
 * folder. FAULT_THREADS sets its delivery threads; with FAULT_OUTPUT, everything it printed is shown.
 */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { type FakeMx, startFakeMx } from '../kit/fake-mx.ts'
import { type Program, startProgram, verifyDomain } from '../kit/process.ts'
import type { TestContext } from '../kit/suite.ts'
import { until } from '../kit/until.ts'
import { type ScriptedZone, startZone } from '../kit/zone.ts'

export const PASSWORD = 'correct horse battery staple'
export const FROM_DOMAIN = 'here.example'
const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`

export interface LedgerLine {
  messageId: string
  recipient: string
}

export interface Scene {
  dataDir: string
  zone: ScriptedZone
  mx: FakeMx
  settings: Record<string, string>
  /** Starts the program on the scene's data folder. */
  start(): Promise<Program>
  /** Returns the mail that the MX accepted; it writes an entry to the disk before it replies. */
  ledger(): LedgerLine[]
  /** Rows of the running program's database. */
  rows<T>(sql: string, ...parameters: unknown[]): T[]
  /** Rows of a dead program's database, of which the next start must not see that anybody looked. */
  rowsLeft<T>(sql: string): T[]
  /** Resolves when nothing is waiting or under way any more. */
  drained(): Promise<void>
}

/** The program's surroundings; nothing of it runs yet. */
export async function openScene(t: TestContext): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'mailhorn-faults-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const dataDir = join(folder, 'data')
  const ledgerFile = join(folder, 'ledger')
  const zone = await t.using(startZone(ZONE))
  const mx = await t.using(startFakeMx({ host: '127.0.0.2', ledger: ledgerFile }))
  const settings = {
    TRACKING_BASE_URL: 'https://links.here.example',
    ADMIN_PASSWORD: PASSWORD,
    DNS_RESOLVERS: zone.server,
    DELIVERY_PORT: String(mx.port),
    DELIVERY_THREADS: process.env.FAULT_THREADS ?? '1',
    RATE_LIMIT_REQUESTS_PER_SECOND: '0',
  }
  const rows = <T>(sql: string, ...parameters: unknown[]) =>
    read<T>(join(dataDir, 'mailhorn.db'), sql, ...parameters)
  return {
    dataDir,
    zone,
    mx,
    settings,
    async start() {
      const program = await t.using(startProgram({ dataDir, settings }))
      if (process.env.FAULT_OUTPUT) t.after(() => console.error(program.output))
      return program
    },
    ledger: () => readLedger(ledgerFile),
    rows,
    rowsLeft<T>(sql: string) {
      const copy = mkdtempSync(join(folder, 'left-'))
      for (const file of ['mailhorn.db', 'mailhorn.db-wal'])
        if (existsSync(join(dataDir, file))) copyFileSync(join(dataDir, file), join(copy, file))
      return read<T>(join(copy, 'mailhorn.db'), sql)
    },
    async drained() {
      await until(() => rows('select 1 from deliveries where state <> 2 limit 1').length === 0)
    },
  }
}

/** The first start, with a verified domain to send from. */
export async function firstStart(scene: Scene): Promise<Program> {
  const program = await scene.start()
  await verifyDomain(program, scene.zone, { name: FROM_DOMAIN, password: PASSWORD })
  return program
}

function readLedger(file: string): LedgerLine[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(line => {
      const [messageId = '', recipient = ''] = line.split('\t')
      return { messageId, recipient }
    })
}

function read<T>(file: string, sql: string, ...parameters: unknown[]): T[] {
  const database = new Database(file, { readonly: true, timeout: 5_000 })
  try {
    return database.prepare(sql).all(...parameters) as T[]
  } finally {
    database.close()
  }
}
