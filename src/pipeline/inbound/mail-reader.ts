/**
 * Parses received mail. Small messages are parsed one at a time on a worker thread of this process, since
 * they need little memory. Large messages, and those left unparsed by an earlier run, are parsed in a child
 * process. The start of such a parse is stored beforehand: for a message during whose parse the service
 * ended twice, only the header section is parsed. Ending once is no evidence, since a kill from outside
 * interrupts any message. The second parse starts some seconds after the start of the service, so that kills
 * in quick succession do not hit the same message again.
 */

import { inOwnMemory } from '../../lib/bytes.ts'
import { type Clock, sleep, within } from '../../lib/clock.ts'
import type { Id } from '../../lib/ids.ts'
import { idKey } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { Metrics } from '../../lib/metrics.ts'
import { createOnDemandWorker, type OnDemandWorker } from '../../lib/on-demand-worker.ts'
import { JobTooLong, type ReaderPool } from '../../lib/reader-pool.ts'
import { ProcessDied, ProcessNotStarted } from '../../lib/worker-process.ts'
import { WorkerEnded } from '../../lib/worker-rpc.ts'
import type { ParsedMail } from '../../protocols/mime/read/read-mail.ts'
import type { EncodedContent } from '../../resources/emails/content.ts'
import type { inboundCommands, UnlistedInbound } from '../../resources/emails/inbound-rows.ts'
import type { ThreadRefs } from '../../resources/emails/threads.ts'
import { INLINE_BYTES_MAX } from '../../store/blobs/staged.ts'
import { type Run, StorageUnavailable } from '../../store/model/command.ts'
import type { Automatic } from '../../store/model/schema/inbound.ts'

/** A message that has been read, with its texts and headers in the form in which they are stored. */
export interface ReadMail extends Omit<ParsedMail, 'html' | 'text' | 'headers'> {
  content: EncodedContent
  automatic: Automatic | null
  /** Ids of our emails that the message may answer, see `referredEmails`. */
  referred: Id[]
  refs: ThreadRefs
}

type UnreadMail = Pick<
  UnlistedInbound,
  'accountId' | 'id' | 'createdAt' | 'readingAt' | 'readingCount' | 'sizeBytes' | 'rawHash'
>

/** Where the bytes of the message are. */
export interface MailSource {
  /** All of a small message; the memory is not to be used any more afterwards. */
  load(): Promise<Uint8Array<ArrayBuffer>>
  /** Loads the first bytes of the message, as many as given or slightly more. */
  loadHead(sizeBytes: number): Promise<Uint8Array<ArrayBuffer>>
}

export interface MailReader {
  /**
   * A message that cannot be read in full is read by its header section alone, with the reason among its
   * faults.
   *
   * @throws StorageUnavailable, ProcessNotStarted, WorkerEnded when the message cannot be read now; Error of
   * the source
   */
  read(mail: UnreadMail, source: MailSource): Promise<ReadMail>
  /**
   * Whether two earlier runs of the service ended while they were reading this message, and perhaps because
   * of it.
   */
  endedWith(mail: UnreadMail): boolean
  close(): Promise<void>
}

export interface ReadingOrder {
  bytes: Uint8Array<ArrayBuffer>
  /** Why no more than the header section is to be read; null otherwise. */
  fault: string | null
}

export interface MailThreadData {
  mailHost: string
}

/** Input of the reader process, which reads the message from the store. */
export interface StoredMail {
  blobHash: Uint8Array
}

/** Function of the process that reads received mail. */
export const READ_MAIL = 'readMail'

interface ReaderOptions {
  /** File of the thread for small messages; it is started when there is work for it. */
  entry: URL
  mailHost: string
  readers: Pick<ReaderPool, 'run'>
  run: Run<Pick<typeof inboundCommands, 'markInboundReading'>>
  metrics?: Metrics | undefined
  clock: Clock
  log: Log
}

const SMALL_READ_MAX_MS = 20_000
const SMALL_READ_HEAP_MIB = 256
const HEAD_BYTES = 256 * 1024
/** Runs of the service that may end while they read a message before it is read by its header alone. */
const INTERRUPTED_RUNS_MAX = 2
/** Uptime of the service from which a message that was interrupted once is read again. */
const RETRY_UPTIME_MS = 5_000
const HEAD_ONLY = 'so that only its header was read'

/**
 * Marks in the store of the messages that child processes read, by which a message that ends the service is
 * known at the next start.
 */
class ReadMarks {
  readonly #run: ReaderOptions['run']
  readonly #clock: Clock
  readonly #startedAt: number
  readonly #startedAtMonotonic: number
  /** Messages that are marked and still being read. */
  readonly #marked = new Set<UnreadMail>()

  constructor({ run, clock }: Pick<ReaderOptions, 'run' | 'clock'>) {
    this.#run = run
    this.#clock = clock
    this.#startedAt = clock.now()
    this.#startedAtMonotonic = clock.monotonic()
  }

  /** Whether an earlier run of the service stored the message. */
  isLeftOver({ createdAt }: UnreadMail): boolean {
    return createdAt < this.#startedAt
  }

  /** Whether so many earlier runs ended while they read the message that it is read by its header alone. */
  hasEndedService(mail: UnreadMail): boolean {
    return this.#wasInterrupted(mail) && mail.readingCount >= INTERRUPTED_RUNS_MAX
  }

  /** Waits until the message may be read; only one that was interrupted waits. @throws Error when aborted */
  async untilReadable(mail: UnreadMail, signal: AbortSignal): Promise<void> {
    const waitMs = this.#startedAtMonotonic + RETRY_UPTIME_MS - this.#clock.monotonic()
    if (this.#wasInterrupted(mail) && waitMs > 0) await sleep(this.#clock, waitMs, signal)
  }

  #wasInterrupted({ readingAt }: UnreadMail): boolean {
    return readingAt !== null && readingAt < this.#startedAt
  }

  /** Marks a message. The run is counted once, however often it begins to read the message. */
  async begin(mail: UnreadMail): Promise<void> {
    const { readingAt, readingCount } = mail
    const isCounted = readingAt !== null && readingAt >= this.#startedAt
    this.#marked.add(mail)
    await this.#put(mail, this.#clock.now(), isCounted ? readingCount : readingCount + 1)
  }

  /**
   * Takes the mark back, if there is one, because the parse has ended. The message waits for its verdicts
   * next, which may take seconds in which a kill is not due to the parse.
   */
  async end(mail: UnreadMail): Promise<void> {
    if (this.#marked.delete(mail)) await this.#put(mail, null, 0)
  }

  /** Takes all marks of this run back, because the service stops in an orderly way. @returns the errors */
  async endRun(): Promise<unknown[]> {
    const taken = [...this.#marked].map(mail => this.#put(mail, null, mail.readingCount))
    const results = await Promise.allSettled(taken)
    return results.flatMap(result => (result.status === 'rejected' ? [result.reason] : []))
  }

  #put({ accountId, id }: UnreadMail, at: number | null, count: number): Promise<void> {
    return this.#run('markInboundReading', { accountId, id, at, count })
  }
}

/** Parses received mail on a thread or in a child process, and keeps marks of what is being read. */
class MarkedMailReader implements MailReader {
  readonly #readers: ReaderOptions['readers']
  readonly #clock: Clock
  readonly #log: Log
  readonly #thread: OnDemandWorker
  readonly #marks: ReadMarks
  readonly #closing = new AbortController()
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: ReaderOptions) {
    const { entry, mailHost, readers, metrics, clock, log } = options
    this.#readers = readers
    this.#clock = clock
    this.#log = log
    this.#marks = new ReadMarks(options)
    this.#thread = createOnDemandWorker({
      name: 'inbound',
      entry,
      data: { mailHost },
      heapMib: SMALL_READ_HEAP_MIB,
      metrics,
      log,
    })
  }

  endedWith(mail: UnreadMail): boolean {
    return this.#marks.hasEndedService(mail)
  }

  async read(mail: UnreadMail, source: MailSource): Promise<ReadMail> {
    if (this.endedWith(mail))
      return this.#byHead(source, 'The service ended twice while it was reading this message')
    try {
      return await this.#inFull(mail, source)
    } catch (error) {
      if (this.#closing.signal.aborted || isTemporary(error)) throw error
      logNotParsed(this.#log, mail, error)
      return this.#byHead(source, reasonOf(error))
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    for (const err of await this.#marks.endRun())
      this.#log.warn({ event: 'inbound_not_unmarked', err }, NOT_UNMARKED)
    await this.#thread.close()
    await this.#turn
  }

  #inFull(mail: UnreadMail, { load }: MailSource): Promise<ReadMail> {
    if (mail.sizeBytes > INLINE_BYTES_MAX || this.#marks.isLeftOver(mail)) return this.#inProcess(mail)
    return this.#onThread(async () => ({ bytes: await load(), fault: null }))
  }

  #byHead(source: MailSource, reason: string): Promise<ReadMail> {
    return this.#onThread(async () => ({
      bytes: await source.loadHead(HEAD_BYTES),
      fault: `${reason}, ${HEAD_ONLY}`,
    }))
  }

  #onThread(load: () => Promise<ReadingOrder>): Promise<ReadMail> {
    const done = this.#turn.then(async () => {
      if (this.#closing.signal.aborted) throw new WorkerEnded()
      const order = await load()
      const reading = this.#thread.call('read', order, [order.bytes.buffer])
      const read = await within(this.#clock, SMALL_READ_MAX_MS, reading)
      if (read !== undefined) return read as ReadMail
      await this.#thread.end()
      throw new JobTooLong(`it took longer than ${SMALL_READ_MAX_MS / 1_000} s`)
    })
    this.#turn = done.catch(() => {}) // the caller gets the error
    return done
  }

  async #inProcess(mail: UnreadMail): Promise<ReadMail> {
    const { signal } = this.#closing
    await this.#marks.untilReadable(mail, signal)
    try {
      const read = await this.#readers.run({
        name: READ_MAIL,
        owner: idKey(mail.accountId),
        sizeBytes: mail.sizeBytes,
        load: async (): Promise<StoredMail> => {
          if (signal.aborted) throw new WorkerEnded()
          await this.#marks.begin(mail)
          return { blobHash: mail.rawHash }
        },
      })
      return withOwnBody(read as ReadMail)
    } finally {
      if (!signal.aborted) await this.#marks.end(mail)
    }
  }
}

export function createMailReader(options: ReaderOptions): MailReader {
  return new MarkedMailReader(options)
}

const NOT_UNMARKED = 'A message that was being read is read by its header alone after the next start'

function logNotParsed(log: Log, { sizeBytes }: UnreadMail, error: unknown) {
  log.warn(
    { event: 'inbound_not_parsed', err: error, size_bytes: sizeBytes },
    'A received message could not be read in full; it is listed by its header',
  )
}

/** Returns the first bytes of a message, as many as given or slightly more. */
export async function beginningOf(
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

/** The message was not looked at: it can be read later. */
export function isTemporary(error: unknown): boolean {
  return (
    error instanceof StorageUnavailable || error instanceof ProcessNotStarted || error instanceof WorkerEnded
  )
}

function reasonOf(error: unknown): string {
  if (error instanceof JobTooLong) return 'This message takes longer to read than is allowed'
  if (error instanceof ProcessDied) return 'This message needs more memory to read than is allowed'
  return 'This message could not be read in full'
}

/** What a process sent is a view of the buffer that held its whole answer. */
function withOwnBody({ content, ...read }: ReadMail): ReadMail {
  return { ...read, content: { ...content, body: inOwnMemory(content.body) } }
}
