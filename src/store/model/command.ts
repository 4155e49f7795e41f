/**
 * Commands are the only way to write. A command is a function of a transaction and an input; the writer runs
 * commands in groups that share one commit. `Tx` is everything that a command may do to the database.
 *
 * In: commands of all resources, which `workers/commands.ts` lists. Out: rows, counters and announcements.
 */
import { type Id, type IdSource, idKey } from '../../lib/ids.ts'
import type { RecentEmails } from './recent.ts'
import type { RowOps } from './row-ops.ts'
import type { EmailSource } from './schema/emails.ts'
import type { Db, Flag } from './schema.ts'
import type { IndexBlockOps } from './search-index.ts'
import type { SubscribersOf } from './subscribers.ts'

/** Queue key: the deliveries of one domain, class and account, which are claimed together, in order. */
export interface QueueKey {
  domain: string
  class: number
  accountId: Id
}

/** Returns a compact string for Map keys. */
export function queueKeyText({ domain, class: deliveryClass, accountId }: QueueKey): string {
  return `${domain} ${deliveryClass} ${idKey(accountId)}`
}

export interface ClaimedDelivery {
  emailId: Id
  ordinal: number
  accountId: Id
  address: string
  domain: string
  /** From `DELIVERY_CLASS`. */
  class: number
  /** 1: the delivery goes to the simulator, regardless of its domain. */
  simulated: Flag
  /** Number of this attempt, from 1. The lease is valid as long as the row has this number. */
  attempt: number
  expiresAt: number
  /** The email, if the writer still had it in memory; dropped when the message has been composed. */
  source?: EmailSource | undefined
}

export interface Claim {
  deliveries: ClaimedDelivery[]
  /** Time at which the queue key's next delivery is due, in ms since the epoch; null when none is waiting. */
  nextAt: number | null
}

/** Queue operations with separate statements per database. */
export interface QueueOps {
  /**
   * Leases due deliveries, oldest first, at most `limit` per queue key. Returns one result per queue key, in
   * the same order.
   */
  claim(
    queueKeys: readonly (QueueKey & { limit: number })[],
    lease: { owner: string; now: number; until: number },
  ): Promise<Claim[]>
  /**
   * Releases the scheduled deliveries of these emails. Their expiry moves by the delay of the release, so
   * that a late release keeps the full delivery lifetime.
   * @returns their queue keys, each once
   */
  release(emailIds: readonly Id[], now: number): Promise<QueueKey[]>
}

/**
 * Transaction of a group of commands. Only queries may be awaited, since any other wait would delay the
 * commit of all.
 */
export interface Tx {
  readonly db: Db
  readonly rows: RowOps
  readonly queue: QueueOps
  readonly indexBlocks: IndexBlockOps
  readonly recent: RecentEmails
  newId: IdSource
  /** Adds to a counter; the sums are written once, at the end of the group. */
  count(accountId: Id, kind: string, period: string, delta: number): void
  /** The value of a counter, including what this group has added. */
  counted(accountId: Id, kind: string, period: string): Promise<number>
  /** Adds to a figure of the metrics of this process. It counts if the group commits, and is not stored. */
  tally(name: string, count: number): void
  /** Sends an announcement to all subscribers of a topic, in all threads, after the group has committed. */
  announce(topic: string, payload: unknown): void
  /** Webhook subscriptions of these accounts. Accounts without webhooks cost no query. */
  subscribers(accountIds: readonly Id[]): Promise<SubscribersOf>
  /** To be called by a command that runs alone, after it has changed webhook subscriptions. */
  subscribersChanged(): Promise<void>
}

/**
 * Topic announced when announcements of other processes may have been missed; subscribers must read the store
 * again.
 */
export const MISSED = 'missed'

/** Runs many inputs together; `outputs[i]` is the result of `inputs[i]`. */
export interface Command<I, O> {
  run(tx: Tx, inputs: readonly I[]): Promise<O[]>
  /** Relative cost of an input. The default is 1: a few rows of some kilobytes. */
  weigh?(input: I): number
  /**
   * Declares that groups with this command may run concurrently, where the database supports it, and returns
   * the keys on which an input conflicts beyond the rows it locks: of two groups with the same key, one waits
   * for the other's commit. A group that contains a command without `conflictKeys` runs alone.
   */
  conflictKeys?(input: I): readonly string[]
}

// biome-ignore lint/suspicious/noExplicitAny: a table of commands with different inputs and outputs has no other type
export type Commands = Record<string, Command<any, any>>
type InputOf<C> = C extends Command<infer I, unknown> ? I : never
type OutputOf<C> = C extends Command<never, infer O> ? O : never

/**
 * Runs a command in the writer. Resolves after the commit.
 * @param memory buffers of the input that move to the writer instead of being copied
 * @throws StorageUnavailable when nothing could be stored
 */
export type Run<C extends Commands> = <K extends keyof C & string>(
  name: K,
  input: InputOf<C[K]>,
  memory?: readonly ArrayBuffer[],
) => Promise<OutputOf<C[K]>>

/** Makes a command that handles its inputs one after another. */
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

/** Makes a command of the hot path that handles all its inputs in one batch. */
export function batchCommand<I, O>(
  run: (tx: Tx, inputs: readonly I[]) => Promise<O[]>,
  more: Pick<Command<I, O>, 'weigh'> = {},
): Command<I, O> {
  return { ...more, run }
}

/** Allows a command to run concurrently with other groups; see `Command.conflictKeys`. */
export function concurrent<I, O>(
  of: Command<I, O>,
  conflictKeys: (input: I) => readonly string[] = () => [],
): Command<I, O> {
  return { ...of, conflictKeys }
}

/** The store cannot accept writes at the moment: disk full, read-only, or locked. Nothing was stored. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable'
}
