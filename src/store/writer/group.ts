/**
 * Runs a group of commands in one transaction. Commands of one name run together under a savepoint, and
 * individually when one of them fails, so that a failing command affects no other. Results are returned after
 * the commit.
 */
import { randomUUID } from 'node:crypto'
import type { Id, IdSource } from '../../lib/ids.ts'
import { type Commands, StorageUnavailable, type Tx } from '../model/command.ts'
import { codeOf, DiskFailure, type StoreErrorKind } from '../model/errors.ts'
import type { RecentEmails } from '../model/recent.ts'
import type { IndexBlockOps } from '../model/search-index.ts'
import { createSubscriberCache, type SubscriberCache, writeEdition } from '../model/subscribers.ts'
import { type ConflictKeys, conflictKeysOf } from './conflict-keys.ts'
import { type CountDelta, createEffects, type Effects } from './effects.ts'
import type { Announcement, WriteReply, WriteRequest } from './protocol.ts'

export interface GroupResult {
  /** Replies in the order of the requests. */
  replies: WriteReply[]
  announcements: Announcement[]
  /** Sums of what the commands have tallied. */
  tallies: ReadonlyMap<string, number>
}

export interface GroupRunner {
  /** @throws DiskFailure */
  run(requests: readonly WriteRequest[]): Promise<GroupResult>
}

/** A writing connection, as groups use it: one transaction after another, each with savepoints. */
export interface GroupSession extends Pick<Tx, 'db' | 'rows' | 'queue'> {
  indexBlocks(announce: Tx['announce']): IndexBlockOps
  storedCount(accountId: Id, kind: string, period: string): Promise<number>
  /**
   * Whether savepoints are cheap. When they are not, a group first runs without savepoints, and again with
   * them when one of its commands has failed.
   */
  savepointsAreCheap: boolean
  /**
   * Begins a transaction.
   * @returns the edition of the webhook subscriptions, see `subscribers.ts`
   */
  begin(holds: ConflictKeys): Promise<string | null>
  savepoint(): Promise<void>
  /** Resolves when all statements of a command have been executed. */
  done(): Promise<void>
  /** Ends the savepoint and keeps its changes. */
  keep(): Promise<void>
  /**
   * Ends the savepoint and undoes its changes.
   * @throws when the transaction is gone
   */
  undo(): Promise<void>
  /** Adds the sums to the counters and commits. */
  commit(sums: readonly CountDelta[]): Promise<void>
  /** Rolls back. May be called without a transaction. */
  rollback(): Promise<void>
  troubleOf(error: unknown): StoreErrorKind
}

/** Options that all groups of a writer share. */
export interface GroupOptions {
  commands: Commands
  recent: RecentEmails
  newId: IdSource
}

/** The transaction ended during a command or cannot be committed. No command of the group took effect. */
class GroupLost extends Error {
  constructor(cause: unknown) {
    super('the transaction was lost', { cause })
  }
}

interface GroupState {
  /** Effects of the whole group. */
  effects: Effects
  /** Effects of the running command. */
  own: Effects
  hasSavepoints: boolean
}

/** Number of attempts to run a group that conflicts with other transactions. */
const ATTEMPTS_MAX = 5

/** Runs groups of commands on one connection. */
export class SessionGroups implements GroupRunner {
  readonly #session: GroupSession
  readonly #commands: Commands
  readonly #state: GroupState = { effects: createEffects(), own: createEffects(), hasSavepoints: true }
  readonly #subscribers = createSubscriberCache()
  readonly #tx: Tx

  constructor(session: GroupSession, options: GroupOptions) {
    this.#session = session
    this.#commands = options.commands
    this.#tx = transactionOver(session, options, this.#state, this.#subscribers)
  }

  async run(requests: readonly WriteRequest[]): Promise<GroupResult> {
    const session = this.#session
    const state = this.#state
    state.hasSavepoints = session.savepointsAreCheap
    for (let tries = 1; ; tries++)
      try {
        return await this.#runOnce(requests)
      } catch (error) {
        const cause = error instanceof GroupLost ? error.cause : error
        const trouble = session.troubleOf(cause)
        if (trouble === 'fatal') throw new DiskFailure(cause)
        this.#subscribers.forget()
        await session.rollback()
        const mayGoBetter = trouble === 'contended' || (trouble === 'own' && !state.hasSavepoints)
        if (!mayGoBetter || tries === ATTEMPTS_MAX) return refuseAll(requests, cause, trouble)
        if (trouble === 'own') state.hasSavepoints = true
      }
  }

  async #runOnce(requests: readonly WriteRequest[]): Promise<GroupResult> {
    const session = this.#session
    const state = this.#state
    state.effects = createEffects()
    const replies = new Map<WriteRequest, WriteReply>()
    this.#subscribers.begin(await session.begin(conflictKeysOf(this.#commands, requests)))
    for (const [name, named] of Map.groupBy(requests, request => request.name))
      for (const [i, reply] of (await this.#runNamed(name, named)).entries()) replies.set(named[i]!, reply)
    await session.commit([...state.effects.counts()].filter(({ delta }) => delta !== 0))
    return {
      replies: requests.map(request => replies.get(request)!),
      announcements: state.effects.announcements(),
      tallies: state.effects.tallies(),
    }
  }

  async #runNamed(name: string, requests: readonly WriteRequest[]): Promise<WriteReply[]> {
    const inputs = requests.map(({ input }) => input)
    try {
      const outputs = await this.#attempt(name, inputs)
      return requests.map(({ seq }, i) => ({ seq, ok: true, output: outputs[i] }))
    } catch (error) {
      if (error instanceof GroupLost) throw error
      if (requests.length === 1) return [failure(requests[0]!.seq, error)]
    }
    const replies: WriteReply[] = []
    for (const request of requests) replies.push(...(await this.#runNamed(name, [request])))
    return replies
  }

  /** @throws the error of the command, whose changes are undone; GroupLost when the transaction is gone */
  async #attempt(name: string, inputs: readonly unknown[]): Promise<unknown[]> {
    const session = this.#session
    const state = this.#state
    const command = Object.hasOwn(this.#commands, name) ? this.#commands[name] : undefined
    if (!command) throw new Error(`there is no command "${name}"`)
    state.own = createEffects()
    if (state.hasSavepoints) await session.savepoint()
    try {
      const outputs = await command.run(this.#tx, inputs)
      await session.done()
      if (state.hasSavepoints) await session.keep()
      state.effects.absorb(state.own)
      return outputs
    } catch (error) {
      this.#subscribers.forget()
      if (!state.hasSavepoints || session.troubleOf(error) !== 'own') throw new GroupLost(error)
      await session.undo().catch(() => {
        throw new GroupLost(error)
      })
      throw error
    }
  }
}

/** Answers every request with the error. No command of the group took effect. */
export function refuseAll(
  requests: readonly WriteRequest[],
  cause: unknown,
  trouble: StoreErrorKind,
): GroupResult {
  const isKnown = trouble === 'own' || cause instanceof StorageUnavailable
  const reason = isKnown
    ? cause
    : new StorageUnavailable(`nothing can be stored at the moment (${codeOf(cause)})`)
  return { replies: requests.map(({ seq }) => failure(seq, reason)), announcements: [], tallies: new Map() }
}

function transactionOver(
  session: GroupSession,
  { recent, newId }: GroupOptions,
  state: GroupState,
  subscribers: SubscriberCache,
): Tx {
  const { db, rows, queue } = session
  const announce: Tx['announce'] = (topic, payload) => state.own.announce(topic, payload)
  return {
    db,
    rows,
    queue,
    indexBlocks: session.indexBlocks(announce),
    recent,
    newId,
    count: (accountId, kind, period, delta) => state.own.count({ accountId, kind, period, delta }),
    async counted(accountId, kind, period) {
      const stored = await session.storedCount(accountId, kind, period)
      const added = [state.effects, state.own].map(effects => effects.counted(accountId, kind, period))
      return stored + added[0]! + added[1]!
    },
    tally: (name, count) => state.own.tally(name, count),
    announce,
    subscribers: accountIds => subscribers.of(db, accountIds),
    async subscribersChanged() {
      await writeEdition(rows, randomUUID())
      subscribers.forget()
    },
  }
}

function failure(seq: number, error: unknown): WriteReply {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  const unavailable = error instanceof StorageUnavailable
  return { seq, ok: false, unavailable, message, ...(stack === undefined ? {} : { stack }) }
}
