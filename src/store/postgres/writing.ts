/**
 * Write access to a PostgreSQL store: migrates it and runs two concurrent groups, so that one gathers while
 * the other commits.
 */
import type { Kysely } from 'kysely'
import { migrate } from '../migrations/migrate.ts'
import { DiskFailure } from '../model/errors.ts'
import { conflictKeysOf } from '../writer/conflict-keys.ts'
import { type GroupOptions, type GroupRunner, refuseAll, SessionGroups } from '../writer/group.ts'
import type { Announcement, WriteRequest } from '../writer/protocol.ts'
import type { WritingStore } from '../writer/serve.ts'
import type { PostgresAddress } from './address.ts'
import { type ColumnTypes, readColumnTypes } from './column-types.ts'
import { openPool, type PostgresConnection, type PostgresPool, WRITING } from './connection.ts'
import { postgresErrorKind } from './errors.ts'
import { postgresSession } from './group.ts'
import { kyselyOver } from './kysely.ts'
import { Notices } from './notices.ts'
import { rowStatements } from './rows.ts'
import { prepareDatabase } from './start.ts'

const GROUPS_AT_ONCE = 2

/** @throws StartFault when the database cannot be used */
export async function openPostgresWriting(
  address: PostgresAddress,
  options: GroupOptions,
  nowMs: number,
): Promise<WritingStore> {
  const pool = openPool(address, { size: GROUPS_AT_ONCE, settings: WRITING })
  try {
    const migrations = await migrated(pool, address, nowMs)
    const groups = groupsOver(pool, await readColumnTypes(pool.query), options)
    const heard: ((announcements: Announcement[]) => void)[] = []
    const notices = new Notices({
      pool: openPool(address, { size: 1, settings: {} }),
      hear(announcements) {
        for (const listener of heard) listener(announcements)
      },
    })
    return {
      migrations,
      async run(requests) {
        const result = await groups.run(requests)
        notices.send(result.announcements)
        return result
      },
      groupsAtOnce: GROUPS_AT_ONCE,
      onHeard: listener => void heard.push(listener),
      checkpoint() {},
      tidy: () => false,
      async close() {
        await notices.close()
        await pool.close()
      },
    }
  } catch (error) {
    await pool.close()
    throw error
  }
}

/**
 * Runs each group on a free connection. A group that runs alone waits for the groups before it and runs in
 * the order of arrival.
 */
export function groupsOver(pool: PostgresPool, typeOf: ColumnTypes, options: GroupOptions): GroupRunner {
  const shared = { statements: rowStatements(typeOf), arrivals: new Map<string, number>() }
  const runners = new WeakMap<PostgresConnection, GroupRunner>()
  const runnerOf = (connection: PostgresConnection) => {
    const known = runners.get(connection)
    if (known) return known
    const runner = new SessionGroups(postgresSession(connection, shared), options)
    runners.set(connection, runner)
    return runner
  }
  const run = async (requests: readonly WriteRequest[]) => {
    try {
      return await pool.use(connection => runnerOf(connection).run(requests))
    } catch (error) {
      if (error instanceof DiskFailure) throw error
      return refuseAll(requests, error, postgresErrorKind(error))
    }
  }
  const inProgress = new Set<Promise<unknown>>()
  let lastAlone: Promise<unknown> = Promise.resolve()
  return {
    run(requests) {
      const { alone } = conflictKeysOf(options.commands, requests)
      const before = alone ? Promise.allSettled(inProgress) : lastAlone
      const running = before.then(() => run(requests)).finally(() => inProgress.delete(running))
      inProgress.add(running)
      if (alone) lastAlone = running.catch(() => {})
      return running
    },
  }
}

export async function migrated(
  pool: PostgresPool,
  address: PostgresAddress,
  nowMs: number,
): Promise<string[]> {
  return prepareDatabase(pool, address, async query => {
    const applied = await migrate(kyselyOver(query) as unknown as Kysely<unknown>, 'postgres', nowMs)
    return applied
  })
}
