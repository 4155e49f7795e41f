/**
 * Leases of a hundred deliveries from a queue of a million, through the writer, each with its synced commit.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { systemClock } from '../../src/lib/clock.ts'
import { createIdSource, type Id } from '../../src/lib/ids.ts'
import { leaseTerms } from '../../src/pipeline/queue/leases.ts'
import { openStore, type Store } from '../../src/store/opening/open.ts'
import type { ServiceCommands } from '../../src/workers/commands.ts'
import { destination } from '../kit/namespace.ts'
import { median, percentile } from '../kit/numbers.ts'
import type { Column, Findings, Measurement } from '../kit/report.ts'
import type { Scenario, ScenarioOptions } from '../kit/scenario.ts'

export const claim: Scenario = {
  what: 'lease 100 of many queued deliveries',
  rounds: 1,
  count: 1_000_000,
  domainCount: 300,
  run,
}

const LIMIT = 100
const CLAIMS = 1_000
const WARM_UP_CLAIMS = 50

const COLUMNS: Column[] = [
  { figure: 'claimMedianMs', title: 'claim of 100, median, ms', digits: 2 },
  { figure: 'claimP99Ms', title: 'p99, ms', digits: 2 },
  { figure: 'commitMedianMs', title: 'a commit of one row, median, ms', digits: 2 },
  { figure: 'commitP99Ms', title: 'p99, ms', digits: 2 },
]

/** The rows of a domain lie together, or among those of all others. */
async function run({ folder, count, rounds, domainCount: max, only }: ScenarioOptions): Promise<Findings> {
  const measurements: Measurement[] = []
  for (const domainCount of new Set([1, max])) {
    const contender = domainCount === 1 ? '1 domain' : `${domainCount} domains`
    if (only && !contender.includes(only)) continue
    const dataDir = join(folder, `claim-${domainCount}`)
    const open = () =>
      openStore<ServiceCommands>({
        dataDir,
        url: 'sqlite:mailhorn.db',
        writerThread: new URL('../../src/workers/writer.ts', import.meta.url),
        clock: systemClock,
        onLoss(error) {
          throw error
        },
      })
    await (await open()).close()
    // all claims of all rounds come on top, so that the queue never falls below the count
    const accountId = fill(join(dataDir, 'mailhorn.db'), {
      domainCount,
      count: count + rounds * (WARM_UP_CLAIMS + CLAIMS) * LIMIT,
    })
    const store = await open()
    for (let round = 1; round <= rounds; round++) {
      const figures = await measured(store, accountId, domainCount)
      measurements.push({ contender, figures })
      console.log(JSON.stringify({ round, contender, ...figures }))
    }
    await store.close()
  }
  return { columns: COLUMNS, measurements }
}

/**
 * Claims as the scheduler makes them, one at a time, and between them commits of a single row, for
 * comparison.
 */
async function measured({ run }: Store<ServiceCommands>, accountId: Id, domainCount: number) {
  const claims: number[] = []
  const commits: number[] = []
  for (let i = -WARM_UP_CLAIMS; i < CLAIMS; i++) {
    const domain = destination((((i * 7_919) % domainCount) + domainCount) % domainCount)
    const now = Date.now()
    const queueKeys = [{ domain, class: 0, accountId, limit: LIMIT }]
    const claimMs = await timed(async () => {
      const [claimed] = await run('claim', {
        queueKeys,
        owner: 'bench',
        now,
        leaseUntil: now + leaseTerms(false, 'retry').leaseMs,
      })
      if (claimed!.deliveries.length !== LIMIT) throw new Error(`${claimed!.deliveries.length} were leased`)
    })
    const commitMs = await timed(() => run('putSetting', { key: 'bench', value: String(i) }))
    if (i < 0) continue
    claims.push(claimMs)
    commits.push(commitMs)
    if (i % 100 === 0) await pause(60) // the writer moves its log into the database when it is idle
  }
  return {
    claimMedianMs: median(claims),
    claimP99Ms: percentile(claims, 0.99),
    commitMedianMs: median(commits),
    commitP99Ms: percentile(commits, 0.99),
  }
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const beganAt = performance.now()
  await act()
  return performance.now() - beganAt
}

/** Due deliveries, one an email, their domains in turn; rows as the accept command makes them. */
function fill(file: string, { domainCount, count }: { domainCount: number; count: number }): Id {
  const database = new Database(file)
  database.pragma('synchronous = OFF')
  const newId = createIdSource()
  const beganAt = Date.now() - 3_600_000
  const accountId = newId(beganAt)
  const insert = database.prepare(`
    insert into deliveries (email_id, ordinal, account_id, address, domain, kind, class, state, status, attempts,
      next_at, expires_at)
    values (?, 0, ?, ?, ?, 'to', 0, 0, 'queued', 0, ?, ?)`)
  database.transaction(() => {
    for (let i = 0; i < count; i++) {
      const at = beganAt + Math.floor(i / 1_000)
      const domain = destination(i % domainCount)
      insert.run(newId(at), accountId, `recipient-${i}@${domain}`, domain, at, at + 48 * 3_600_000)
    }
  })()
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
  return accountId
}
