/**
 * Runs a group of commands in one SQLite transaction: commands of one name together under a savepoint, and
 * singly when one of them fails, so that a failing command harms no other. Answers stand only after COMMIT.
 */
import { createIdSource } from '../../lib/ids.ts'
import { type Commands, StorageUnavailable, type Tx } from '../command.ts'
import type { Db } from '../schema.ts'
import { createEffects, type Effects } from '../writer/effects.ts'
import type { Announcement, WriteReply, WriteRequest } from '../writer/protocol.ts'
import { createRecentEmails } from '../writer/recent.ts'
import type { SqliteConnection } from './connection.ts'
import { kyselyOver } from './kysely.ts'
import { sqliteQueue } from './queue.ts'
import { sqliteRows } from './rows.ts'
import { sqliteSegments } from './segments.ts'
import { codeOf, isFatal, isUnavailable } from './trouble.ts'

export interface GroupResult {
  /** In the order of the requests. */
  replies: WriteReply[]
  announcements: Announcement[]
}

export interface GroupRunner {
  readonly db: Db
  /** @throws DiskFailure */
  run(requests: readonly WriteRequest[]): Promise<GroupResult>
}

/** The disk may have lost what it had confirmed, or holds no sound database: nothing may go on. */
export class DiskFailure extends Error {}

/** The transaction ended under a command, or the disk takes nothing: no command of the group has happened. */
class GroupLost extends Error {
  constructor(cause: unknown) {
    super('the transaction was lost', { cause })
  }
}

interface GroupState {
  /** Of the group. */
  effects: Effects
  /** Of the savepoint that is open. */
  own: Effects
}

export function createGroupRunner(connection: SqliteConnection, commands: Commands): GroupRunner {
  const state: GroupState = { effects: createEffects(), own: createEffects() }
  const db = kyselyOver(connection)
  const tx = transactionOver(connection, db, state)

  /** @throws what the command threw, its changes undone; GroupLost when the transaction is gone */
  const attempt = async (name: string, inputs: readonly unknown[]): Promise<unknown[]> => {
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined
    if (!command) throw new Error(`there is no command "${name}"`)
    state.own = createEffects()
    connection.prepare('savepoint command').run()
    try {
      const outputs = await command.run(tx, inputs)
      connection.prepare('release command').run()
      state.effects.absorb(state.own)
      return outputs
    } catch (error) {
      if (!connection.raw.inTransaction || isUnavailable(error)) throw new GroupLost(error)
      connection.prepare('rollback to command').run()
      connection.prepare('release command').run()
      throw error
    }
  }

  const runNamed = async (name: string, requests: readonly WriteRequest[]): Promise<WriteReply[]> => {
    const inputs = requests.map(({ input }) => input)
    try {
      const outputs = await attempt(name, inputs)
      return requests.map(({ seq }, i) => ({ seq, ok: true, output: outputs[i] }))
    } catch (error) {
      if (error instanceof GroupLost) throw error
      if (requests.length === 1) return [failure(requests[0]!.seq, error)]
    }
    const replies: WriteReply[] = []
    for (const request of requests) replies.push(...(await runNamed(name, [request])))
    return replies
  }

  const run = async (requests: readonly WriteRequest[]): Promise<GroupResult> => {
    state.effects = createEffects()
    const replies = new Map<WriteRequest, WriteReply>()
    try {
      connection.prepare('begin immediate').run()
      for (const [name, named] of Map.groupBy(requests, request => request.name))
        for (const [i, reply] of (await runNamed(name, named)).entries()) replies.set(named[i]!, reply)
      writeCounts(connection, state.effects)
      connection.prepare('commit').run()
    } catch (error) {
      return lost(connection, requests, error instanceof GroupLost ? error.cause : error)
    }
    return {
      replies: requests.map(request => replies.get(request)!),
      announcements: state.effects.announcements(),
    }
  }
  return { db, run }
}

function transactionOver(connection: SqliteConnection, db: Db, state: GroupState): Tx {
  const announce: Tx['announce'] = (topic, payload) => state.own.announce(topic, payload)
  return {
    db,
    rows: sqliteRows(connection),
    queue: sqliteQueue(connection),
    segments: sqliteSegments(connection, announce),
    recent: createRecentEmails(),
    newId: createIdSource(),
    count: (accountId, kind, period, delta) => state.own.count({ accountId, kind, period, delta }),
    async counted(accountId, kind, period) {
      const row = connection
        .prepare('select count from counters where account_id = ? and kind = ? and period = ?')
        .get(accountId, kind, period) as { count: number } | undefined
      const added = [state.effects, state.own].map(effects => effects.counted(accountId, kind, period))
      return (row?.count ?? 0) + added[0]! + added[1]!
    },
    announce,
  }
}

function writeCounts(connection: SqliteConnection, effects: Effects) {
  const upsert = connection.prepare(
    `insert into counters (account_id, kind, period, count) values (?, ?, ?, ?)
     on conflict do update set count = count + excluded.count`,
  )
  for (const { accountId, kind, period, delta } of effects.counts())
    if (delta !== 0) upsert.run(accountId, kind, period, delta)
}

function lost(connection: SqliteConnection, requests: readonly WriteRequest[], cause: unknown): GroupResult {
  if (isFatal(cause)) throw new DiskFailure(`the database failed: ${codeOf(cause)}`, { cause })
  if (connection.raw.inTransaction) connection.raw.exec('rollback')
  const reason = isUnavailable(cause)
    ? new StorageUnavailable(`nothing can be stored at the moment (${codeOf(cause)})`)
    : cause
  return { replies: requests.map(({ seq }) => failure(seq, reason)), announcements: [] }
}

function failure(seq: number, error: unknown): WriteReply {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  const unavailable = error instanceof StorageUnavailable
  return { seq, ok: false, unavailable, message, ...(stack === undefined ? {} : { stack }) }
}
