/**
 * Processes received messages in the background: each stored message is parsed, checked (SPF, DKIM, DMARC,
 * spam, virus) and listed exactly once, also after a restart. Several messages are processed concurrently
 * because the checks mostly wait for the network. Small and large messages have separate processors, so that
 * small ones never wait for large ones. Small messages are processed in turns of their client networks, so
 * that a message does not wait for many others of networks whose checks take long.
 *
 * In: stored messages that are not listed yet (`unlistedSmallInbound`, `unlistedLargeInbound`); `note`
 * signals new ones. Out: the command `listInbound`, which makes a message visible and records
 * `email.received`, after the account's routes have been applied. Started by `app/inbound.ts`.
 */

import { type Clock, sleep, type Timer } from '../../lib/clock.ts'
import { idKey } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { inTask, parkedMs } from '../../lib/tasks.ts'
import { throttledLog } from '../../lib/throttled-log.ts'
import {
  newestUnlistedSmallInbound,
  type UnlistedInbound,
  unlistedLargeInbound,
  unlistedSmallInbound,
} from '../../resources/emails/inbound-rows.ts'
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import { type Run, StorageUnavailable } from '../../store/model/command.ts'
import type { Db } from '../../store/model/schema.ts'
import { inTurns } from './in-turns.ts'
import type { InboxCounts } from './inbox-counts.ts'
import type { IngestLoad } from './ingest-load.ts'
import type { ListInbound, listInboundCommands } from './list-commands.ts'
import { beginningOf, isTemporary, type MailReader, type MailSource } from './mail-reader.ts'
import { type JudgeMail, NOT_JUDGED } from './message-verdicts.ts'
import type { RecentMessageCache } from './recent-message-cache.ts'
import { isDropped, type MailRouting, type MatchedRoutes } from './routing.ts'

interface InboundProcessorOptions {
  sizes: 'small' | 'large'
  db: Db
  blobs: BlobFiles
  recentMessages: Pick<RecentMessageCache, 'take'>
  /** Load of the listener on port 25: messages that wait for their reply. */
  ingestLoad: Pick<IngestLoad, 'isHigh'>
  run: Run<typeof listInboundCommands>
  reader: MailReader
  /** Never rejects. */
  judge: JudgeMail
  routing: MailRouting
  counts: InboxCounts
  clock: Clock
  log: Log
}

/** Messages processed at the same time while the listener is under load, since stored messages can wait. */
const CONCURRENCY_UNDER_LOAD = 1
/** A stored message that is older than this no longer yields to the listener. */
const WAIT_MS_MAX = 5_000
/**
 * While more messages than this are in progress, new ones are looked up once per poll interval, in batches.
 */
const BATCH_ABOVE = 16
const POLL_INTERVAL_MS = 100
/** Messages that are looked up ahead; further ones are looked up again later. */
const WAITING_MAX = 1_024
/** Delay before the next attempt after an error of the store. */
const RETRY_DELAY_MS = 5_000

/**
 * Small messages are looked up in large batches, since one query per message would cost as much as parsing
 * it. While they wait, the newest ones are looked up, too, so that their networks get their turn. Large
 * messages are looked up again after each one, so that accounts are served in turn.
 */
const BY_SIZE = {
  small: {
    task: 'list received mail (small)',
    find: unlistedSmallInbound,
    findNewest: newestUnlistedSmallInbound,
    atOnce: 128,
    lookedUpMax: 512,
    refetchesAfterEach: false,
  },
  large: {
    task: 'list received mail (large)',
    find: unlistedLargeInbound,
    findNewest: null,
    atOnce: 16,
    lookedUpMax: 64,
    refetchesAfterEach: true,
  },
}

export class InboundProcessor {
  readonly #options: InboundProcessorOptions
  readonly #kind
  readonly #logs
  readonly #stopping = new AbortController()
  readonly #stopped = whenAborted(this.#stopping.signal)
  readonly #inProgress = new Map<string, { row: UnlistedInbound; work: Promise<void> }>()
  /** Messages that were looked up and are not in progress yet; the next one comes first. */
  #waiting: UnlistedInbound[] = []
  #hasMore = true
  /** Messages have been stored since the last look-up. */
  #hasNew = false
  #polling: Promise<void> | undefined
  #polledAt = Number.NEGATIVE_INFINITY
  #pollTimer: Timer | undefined

  constructor(options: InboundProcessorOptions) {
    this.#options = options
    this.#kind = BY_SIZE[options.sizes]
    this.#logs = errorLogs(options)
    this.note()
  }

  /** Signals that new messages have been stored. */
  note(): void {
    this.#hasMore = true
    this.#hasNew = true
    if (this.#kind.refetchesAfterEach) this.#waiting = []
    this.#proceed()
  }

  /** Messages that are not listed by then are processed again after the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#pollTimer?.cancel()
    await this.#options.reader.close()
    await this.#polling
    await Promise.all([...this.#inProgress.values()].map(({ work }) => work))
  }

  #proceed(): void {
    const { task } = this.#kind
    if (parkedMs(task, this.#options.clock) > 0) this.#pollLater()
    else inTask(task, () => this.#proceedNow())
  }

  #proceedNow(): void {
    const { clock } = this.#options
    this.#startWaiting()
    if (this.#yieldsToListener()) this.#pollLater() // a message in progress may outlast the load
    if (!this.#hasMore || this.#polling || !this.#mayLookUp()) return
    const isEarly = clock.monotonic() - this.#polledAt < POLL_INTERVAL_MS
    const isCrowded = this.#inProgress.size > BATCH_ABOVE || this.#waiting.length > 0
    if (isCrowded && isEarly) this.#pollLater()
    else this.#pollNow()
  }

  #mayLookUp(): boolean {
    if (this.#waiting.length === 0) return this.#hasRoom()
    return this.#hasNew && this.#kind.findNewest !== null && !this.#stopping.signal.aborted
  }

  #pollNow(): void {
    const { findNewest } = this.#kind
    this.#polledAt = this.#options.clock.monotonic()
    this.#hasNew = false
    const poll = this.#waiting.length > 0 && findNewest ? this.#pollNewest(findNewest) : this.#poll()
    this.#polling = poll
      .catch(async error => {
        this.#logs.unseen({ err: error })
        this.#hasMore = true
        await this.#pause()
      })
      .then(() => {
        this.#polling = undefined
        this.#proceed()
      })
  }

  async #poll(): Promise<void> {
    const { find, lookedUpMax } = this.#kind
    this.#hasMore = false
    const rows = await find(this.#options.db, lookedUpMax)
    this.#hasMore ||= rows.length === lookedUpMax
    this.#setWaiting(rows)
  }

  /**
   * Adds the newest messages to those that wait. Others may be new as well, so `#hasMore` stays: all are
   * looked up again when none waits.
   */
  async #pollNewest(find: typeof newestUnlistedSmallInbound): Promise<void> {
    const newest = await find(this.#options.db, this.#kind.lookedUpMax)
    const rows = new Map([...this.#waiting, ...newest.reverse()].map(row => [idKey(row.id), row]))
    this.#setWaiting([...rows.values()])
  }

  #setWaiting(rows: readonly UnlistedInbound[]): void {
    const others = rows.filter(({ id }) => !this.#inProgress.has(idKey(id)))
    const inProgress = [...this.#inProgress.values()].map(({ row }) => row)
    this.#waiting = this.#kind.findNewest ? inTurns(others, inProgress).slice(0, WAITING_MAX) : others
    this.#startWaiting()
  }

  #pollLater(): void {
    this.#pollTimer ??= this.#options.clock.timer(POLL_INTERVAL_MS, () => {
      this.#pollTimer = undefined
      this.#proceed()
    })
  }

  #startWaiting(): void {
    while (this.#waiting.length > 0 && this.#hasRoom()) this.#start(this.#waiting.shift()!)
  }

  #start(row: UnlistedInbound): void {
    const key = idKey(row.id)
    const work = list(row, this.#options, this.#stopped)
      .catch(async error => {
        this.#logs.notListed({ err: error })
        await this.#pause()
        this.#hasMore = true
      })
      .then(() => {
        this.#inProgress.delete(key)
        this.#hasMore ||= this.#kind.refetchesAfterEach
        this.#proceed()
      })
    this.#inProgress.set(key, { row, work })
  }

  #hasRoom(): boolean {
    const concurrencyMax = this.#yieldsToListener() ? CONCURRENCY_UNDER_LOAD : this.#kind.atOnce
    return this.#inProgress.size < concurrencyMax && !this.#stopping.signal.aborted
  }

  #yieldsToListener(): boolean {
    const { ingestLoad, clock } = this.#options
    if (!ingestLoad.isHigh()) return false
    const overdueBefore = clock.now() - WAIT_MS_MAX
    return !this.#waiting.some(({ createdAt }) => createdAt < overdueBefore)
  }

  #pause(): Promise<void> {
    return sleep(this.#options.clock, RETRY_DELAY_MS, this.#stopping.signal).catch(() => {}) // the service stops
  }
}

function whenAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise(resolve => signal.addEventListener('abort', () => resolve(undefined), { once: true }))
}

/** The lines are throttled: while the store is unavailable, every message fails every few seconds. */
function errorLogs(logging: Pick<InboundProcessorOptions, 'log' | 'clock'>) {
  const line = (event: string, message: string) => throttledLog(logging, 'error', event, message)
  return {
    notListed: line('inbound_not_listed', 'A received message could not be listed; retrying'),
    unseen: line('inbound_lookup_failed', 'Received messages could not be looked up; retrying'),
  }
}

/** @throws StorageUnavailable */
async function list(
  row: UnlistedInbound,
  options: InboundProcessorOptions,
  stopped: Promise<undefined>,
): Promise<void> {
  const { clock, log, routing } = options
  const matched = await routing.match(row)
  if (matched && isDropped(matched)) return drop(row, matched, options, stopped)
  const found = await Promise.race([readAndJudge(row, options), stopped])
  if (!found) return
  const routed = matched && (await routing.apply(row, matched, found))
  const { accountId, id } = row
  const listed = { accountId, id, routed, at: clock.now() }
  try {
    await record({ ...listed, ...found }, options)
  } catch (error) {
    if (error instanceof StorageUnavailable) throw error
    log.error(
      { event: 'inbound_content_not_recorded', err: error },
      'The content of a received message could not be recorded; the message is listed without it',
    )
    await record({ ...listed, ...unreadable(error), verdicts: found.verdicts }, options)
  }
}

async function record(message: ListInbound, { run, counts }: InboundProcessorOptions): Promise<void> {
  if (await run('listInbound', message)) counts.listed(message)
}

/** Removes a message that no recipient gets. It is read for the log, and not checked. */
async function drop(
  row: UnlistedInbound,
  { matches }: MatchedRoutes,
  options: InboundProcessorOptions,
  stopped: Promise<undefined>,
): Promise<void> {
  const { run, db, blobs, clock } = options
  const found = await Promise.race([readOne(row, options), stopped])
  if (!found) return
  const { accountId, id } = row
  const unused = await run('dropInbound', { accountId, id, mail: found.mail, matches, at: clock.now() })
  for (const name of unused ?? []) await blobs.discard(db, name)
}

async function readAndJudge(
  row: UnlistedInbound,
  options: InboundProcessorOptions,
): Promise<Pick<ListInbound, 'mail' | 'fault' | 'verdicts'>> {
  const { bytes, ...read } = await readOne(row, options)
  if (options.reader.endedWith(row)) return { ...read, verdicts: NOT_JUDGED }
  const { sender, clientIp, helo, tls, createdAt: receivedAt, sizeBytes, rawHash } = row
  const recipients = JSON.parse(row.recipients) as string[]
  const envelope = { sender, recipients, clientIp, helo, tls, receivedAt, sizeBytes, rawHash }
  return { ...read, verdicts: await options.judge({ ...envelope, bytes }) }
}

/** @throws StorageUnavailable */
async function readOne(
  row: UnlistedInbound,
  { db, blobs, recentMessages, reader }: InboundProcessorOptions,
): Promise<Pick<ListInbound, 'mail' | 'fault'> & { bytes: Uint8Array | null }> {
  let bytes: Uint8Array | null = null
  const { rawHash } = row
  const source: MailSource = {
    async load() {
      const found = recentMessages.take(rawHash) ?? (await blobs.read(db, rawHash))
      bytes = found
      return new Uint8Array(found)
    },
    loadHead: async sizeBytes => beginningOf((await blobs.open(db, rawHash)).content, sizeBytes),
  }
  try {
    return { mail: await reader.read(row, source), fault: null, bytes }
  } catch (error) {
    if (isTemporary(error)) throw error
    return { ...unreadable(error), bytes }
  }
}

function unreadable(error: unknown): Pick<ListInbound, 'mail' | 'fault'> {
  return { mail: null, fault: `The message could not be read: ${(error as Error).message}` }
}
