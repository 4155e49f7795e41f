/**
 * Sees to it that every message that was taken is read, judged and listed, once, also after a restart. Several are under
 * way at once, since judging mostly waits for others. There is one inbox for small messages and one for large ones, so that
 * small messages never wait for large ones.
 */

import { type Clock, sleep, type Timer } from '../../lib/clock.ts'
import { idKey } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { throttledLog } from '../../lib/throttled-log.ts'
import {
  type UnlistedInbound,
  unlistedLargeInbound,
  unlistedSmallInbound,
} from '../../resources/emails/inbound-rows.ts'
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import { type Run, StorageUnavailable } from '../../store/command.ts'
import type { Db } from '../../store/schema.ts'
import type { InboxCounts } from './inbox-counts.ts'
import type { IngestLoad } from './ingest-load.ts'
import type { ListInbound, listInboundCommands } from './list-commands.ts'
import { isTemporary, type MailReader, type MailSource } from './mail-reader.ts'
import { type JudgeMail, NOT_JUDGED, type Verdicts } from './message-verdicts.ts'
import type { RecentMessageCache } from './recent-message-cache.ts'

export interface InboundProcessor {
  /** There is something to read. */
  note(): void
  /** What has not been listed by then is read again after the next start. */
  stop(): Promise<void>
}

interface InboxOptions {
  sizes: 'small' | 'large'
  db: Db
  blobs: BlobFiles
  recentMessages: Pick<RecentMessageCache, 'take'>
  /** Of those who wait for their 250, at port 25. */
  ingestLoad: Pick<IngestLoad, 'isHigh'>
  run: Run<typeof listInboundCommands>
  reader: MailReader
  /** Never rejects. */
  judge: JudgeMail
  counts: InboxCounts
  clock: Clock
  log: Log
}

/** While many wait to be acknowledged: what is on the disk already can wait, for a while. */
const CONCURRENCY_UNDER_LOAD = 1
const WAIT_MS_MAX = 5_000
/** While more than so many are under way, what comes is gathered for so long before it is looked for. */
const POLL_AT_ONCE_BELOW = 16
const POLL_INTERVAL_MS = 100
const RETRY_DELAY_MS = 5_000

/**
 * Small messages are looked up many at a time, since a query for each would cost as much as reading it. Large ones are looked
 * up again after each one, so that accounts take turns.
 */
const TERMS = {
  small: { find: unlistedSmallInbound, atOnce: 128, lookedUpMax: 512, takesTurns: false },
  large: { find: unlistedLargeInbound, atOnce: 16, lookedUpMax: 64, takesTurns: true },
}

export function startInboundProcessor(options: InboxOptions): InboundProcessor {
  const { db, ingestLoad, clock } = options
  const { find, atOnce, lookedUpMax, takesTurns } = TERMS[options.sizes]
  const { notListed, unseen } = complaints(options)
  const stopping = new AbortController()
  const stopped = whenAborted(stopping.signal)
  const inProgress = new Map<string, Promise<void>>()
  /** Found, and not begun. */
  let waiting: UnlistedInbound[] = []
  let wanted = true
  let looking: Promise<void> | undefined
  let lookedAt = Number.NEGATIVE_INFINITY
  let later: Timer | undefined

  const rest = () => sleep(clock, RETRY_DELAY_MS, stopping.signal).catch(() => {}) // it is the service that stops
  const begin = (row: UnlistedInbound) => {
    const key = idKey(row.id)
    const work = list(row, options, stopped)
      .catch(async error => {
        notListed({ err: error })
        await rest()
        wanted = true
      })
      .then(() => {
        inProgress.delete(key)
        wanted ||= takesTurns
        goOn()
      })
    inProgress.set(key, work)
  }
  const stepsBack = () => ingestLoad.isHigh() && !isOverdue(waiting[0], clock)
  const hasRoom = () =>
    inProgress.size < (stepsBack() ? CONCURRENCY_UNDER_LOAD : atOnce) && !stopping.signal.aborted
  const beginWaiting = () => {
    while (waiting.length > 0 && hasRoom()) begin(waiting.shift()!)
  }
  const look = async () => {
    wanted = false
    lookedAt = clock.monotonic()
    const rows = await find(db, lookedUpMax)
    waiting = rows.filter(({ id }) => !inProgress.has(idKey(id)))
    wanted ||= rows.length === lookedUpMax
    beginWaiting()
  }
  const isSoon = () => inProgress.size > POLL_AT_ONCE_BELOW && clock.monotonic() - lookedAt < POLL_INTERVAL_MS
  const lookLater = () => {
    later ??= clock.timer(POLL_INTERVAL_MS, () => {
      later = undefined
      goOn()
    })
  }
  const note = () => {
    wanted = true
    if (takesTurns) waiting = []
    goOn()
  }
  const goOn = () => {
    beginWaiting()
    if (stepsBack()) lookLater() // a message in progress may outlast the load
    if (!wanted || waiting.length > 0 || looking || !hasRoom()) return
    if (isSoon()) return lookLater()
    looking = look()
      .catch(async error => {
        unseen({ err: error })
        wanted = true
        await rest()
      })
      .then(() => {
        looking = undefined
        goOn()
      })
  }
  note()

  return {
    note,
    async stop() {
      stopping.abort()
      later?.cancel()
      await options.reader.close()
      await looking
      await Promise.all(inProgress.values())
    },
  }
}

function whenAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise(resolve => signal.addEventListener('abort', () => resolve(undefined), { once: true }))
}

function isOverdue(oldest: UnlistedInbound | undefined, clock: Clock): boolean {
  return oldest !== undefined && clock.now() - oldest.createdAt > WAIT_MS_MAX
}

/** While nothing can be stored there is one every few seconds, for each message. */
function complaints(logging: Pick<InboxOptions, 'log' | 'clock'>) {
  const line = (message: string) => throttledLog(logging, 'error', message)
  return {
    notListed: line('a received message could not be listed; it is tried again in a while'),
    unseen: line('received mail could not be looked for; it is looked for again in a while'),
  }
}

/** @throws StorageUnavailable */
async function list(row: UnlistedInbound, options: InboxOptions, stopped: Promise<undefined>): Promise<void> {
  const { run, counts, clock, log } = options
  const found = await Promise.race([readAndJudge(row, options), stopped])
  if (!found) return
  const { accountId, id } = row
  const listed = { accountId, id, at: clock.now() }
  try {
    if (await run('listInbound', { ...listed, ...found })) counts.listed(found)
  } catch (error) {
    if (error instanceof StorageUnavailable) throw error
    log.error({ err: error }, 'what a received message says could not be recorded; it is listed without')
    const headless = { ...unreadable(error), verdicts: found.verdicts }
    if (await run('listInbound', { ...listed, ...headless })) counts.listed(headless)
  }
}

async function readAndJudge(
  row: UnlistedInbound,
  options: InboxOptions,
): Promise<Pick<ListInbound, 'mail' | 'fault'> & { verdicts: Verdicts }> {
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
  { db, blobs, recentMessages, reader }: InboxOptions,
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

async function beginningOf(
  content: AsyncIterable<Uint8Array>,
  sizeBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of content) {
    pieces.push(piece)
    size += piece.length
    if (size >= sizeBytes) break
  }
  return new Uint8Array(Buffer.concat(pieces))
}

function unreadable(error: unknown): Pick<ListInbound, 'mail' | 'fault'> {
  return { mail: null, fault: `The message could not be read: ${(error as Error).message}` }
}
