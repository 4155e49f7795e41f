/**
 * Commands are the only way to write: functions of a transaction and an input, run by the writer in groups
 * that share one commit. What a command may do to the database is what `Tx` offers.
 */
import { type Id, type IdSource, idKey } from '../lib/ids.ts'
import type { RowOps } from './row-ops.ts'
import type { EmailSource } from './schema/emails.ts'
import type { Db, Flag } from './schema.ts'
import type { IndexBlockOps } from './search-index.ts'
import type { RecentEmails } from './writer/recent.ts'
import type { SubscribersOf } from './writer/subscribers.ts'

/** Deliveries that wait for the same domain, of one class and account: they are claimed together, in order. */
export interface Lane {
  domain: string
  class: number
  accountId: Id
}

/** A compact string for Map keys. */
export function laneKey({ domain, class: laneClass, accountId }: Lane): string {
  return `${domain} ${laneClass} ${idKey(accountId)}`
}

export interface ClaimedDelivery {
  emailId: Id
  ordinal: number
  accountId: Id
  address: string
  domain: string
  /** 1: it goes to the simulator, whatever its domain is now. */
  simulated: Flag
  /** Number of this attempt, from 1; the lease is good as long as the row has it. */
  attempt: number
  expiresAt: number
  /** The email, where the writer still had it at hand, and until the message is made of it. */
  source?: EmailSource | undefined
}

export interface Claim {
  deliveries: ClaimedDelivery[]
  /** When the lane's next delivery is due; null when none is waiting. */
  nextAt: number | null
}

/** What the queue needs beyond rows, with statements of its own per database. */
export interface QueueOps {
  /** Leases due deliveries, oldest first, at most `limit` a lane. One result per lane, in their order. */
  claim(
    lanes: readonly (Lane & { limit: number })[],
    lease: { owner: string; now: number; until: number },
  ): Promise<Claim[]>
  /**
   * The scheduled deliveries of these emails wait from now on, and expire as much later as they are let in late.
   * @returns their lanes, each once
   */
  release(emailIds: readonly Id[], now: number): Promise<Lane[]>
}

/** One group's transaction. Only queries may be awaited: other waiting would hold everybody's commit. */
export interface Tx {
  readonly db: Db
  readonly rows: RowOps
  readonly queue: QueueOps
  readonly indexBlocks: IndexBlockOps
  readonly recent: RecentEmails
  newId: IdSource
  /** Adds to a counter; the sums are written once, at the end of the group. */
  count(accountId: Id, kind: string, period: string, delta: number): void
  /** The value of a counter, what this group has added included. */
  counted(accountId: Id, kind: string, period: string): Promise<number>
  /** Tells every listener of a topic, in all threads, once the group is committed. */
  announce(topic: string, payload: unknown): void
  /** Which webhooks of these accounts are told of what; of those that have none it costs nothing to know. */
  subscribers(accountIds: readonly Id[]): Promise<SubscribersOf>
  /** By a command that runs alone, after it has changed what webhooks are told of. */
  subscribersChanged(): Promise<void>
}

/** Announced where announcements of other processes may have been missed: who goes by them looks for itself. */
export const MISSED = 'missed'

/** Runs many inputs of its kind together; `outputs[i]` answers `inputs[i]`. */
export interface Command<I, O> {
  run(tx: Tx, inputs: readonly I[]): Promise<O[]>
  /** How much an input asks for, where it is more than what is usual, which is 1: a few rows in some kilobytes. */
  weigh?(input: I): number
  /**
   * A group with this command may run beside other such groups, where the database takes several at once. What is
   * decided by more than the rows it locks is named here, as of the input: of two groups that hold the same name, one
   * waits for the other's commit. A command without `conflictKeys` needs nothing of this kind: its group runs alone.
   */
  conflictKeys?(input: I): readonly string[]
}

// biome-ignore lint/suspicious/noExplicitAny: a table of commands with different inputs and outputs has no other type
export type Commands = Record<string, Command<any, any>>
export type InputOf<C> = C extends Command<infer I, unknown> ? I : never
export type OutputOf<C> = C extends Command<never, infer O> ? O : never

/**
 * Has the writer run a command. Resolves after the commit.
 * @param memory of the input, which moves to the writer instead of being copied
 * @throws StorageUnavailable when nothing could be stored
 */
export type Run<C extends Commands> = <K extends keyof C & string>(
  name: K,
  input: InputOf<C[K]>,
  memory?: readonly ArrayBuffer[],
) => Promise<OutputOf<C[K]>>

/** A command that handles its inputs one after another. */
export function command<I, O>(
  body: (tx: Tx, input: I) => Promise<O>,
  more: Pick<Command<I, O>, 'weigh'> = {},
): Command<I, O> {
  return {
    ...more,
    async run(tx, inputs) {
      const outputs: O[] = []
      for (const input of inputs) outputs.push(await body(tx, input))
      return outputs
    },
  }
}

/** A command of the hot path that handles its inputs together. */
export function batchCommand<I, O>(
  run: (tx: Tx, inputs: readonly I[]) => Promise<O[]>,
  more: Pick<Command<I, O>, 'weigh'> = {},
): Command<I, O> {
  return { ...more, run }
}

/** Lets a command run beside others; see `conflictKeys`. */
export function concurrent<I, O>(
  of: Command<I, O>,
  conflictKeys: (input: I) => readonly string[] = () => [],
): Command<I, O> {
  return { ...of, conflictKeys }
}

/** The store cannot take anything at the moment: disk full, read-only, or locked. Nothing was stored. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable'
}
