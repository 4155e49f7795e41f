/**
 * Collects requests to the API and writes them in batches, so that no reply waits for the log. When the
 * writer is behind, requests are dropped instead of delaying mail.
 *
 * In: requests with their replies, from `interfaces/api/server`. Out: the command `logRequests`. Created
 * by `app/http.ts`. Design: decision 0118.
 */
import type { Clock, Timer } from '../../lib/clock.ts'
import { type Id, idKey } from '../../lib/ids.ts'
import { TokenBuckets } from '../../lib/token-buckets.ts'
import type { Run } from '../../store/model/command.ts'
import type { LoggedRequestRow } from '../../store/model/schema/requests.ts'
import type { LoggedRequest, requestLogCommands } from './commands.ts'

/** JSON bodies of a request. Undefined for a body that is not JSON. */
export interface Bodies {
  request: Uint8Array | undefined
  response: string | undefined
}

interface RequestLogOptions {
  run: Run<typeof requestLogCommands>
  clock: Clock
  /** Whether bodies are stored. */
  hasBodies: boolean
  /**
   * Called when requests were dropped.
   * @param error undefined if too many requests were waiting
   */
  onDropped(count: number, error: unknown): void
}

/** Maximum number of bytes of a body that are recorded. */
export const BODY_BYTES_MAX = 16 * 1024
const BATCH_INTERVAL_MS = 500
/** Maximum number of waiting requests; further ones are dropped. */
const WAITING_MAX = 20_000
/** Maximum size of all waiting bodies; further ones are not stored. */
const WAITING_BODY_BYTES_MAX = 8 * 1024 * 1024
/** A batch of this size takes the writer about 2 ms, without bodies. */
const REQUESTS_PER_COMMAND_MAX = 500
const BODY_BYTES_PER_COMMAND_MAX = 128 * 1024
/**
 * A bucket of bytes per account, so that a busy account does not fill the disk. Bodies of failed requests may
 * empty the bucket, those of successful ones only its upper half.
 */
const BUDGET_BYTES = 1024 * 1024
const BUDGET_BYTES_PER_SECOND = 4 * 1024
const RESERVED_FOR_FAILURES_BYTES = BUDGET_BYTES / 2
/** Part of the budget that a request beyond the rate limit takes, which allows four per second. */
const UNLIMITED_ROW_BYTES = 1024

export class RequestLog {
  readonly #options: RequestLogOptions
  readonly #budget: TokenBuckets
  #waiting: LoggedRequest[] = []
  #waitingBodyBytes = 0
  #dropped = 0
  #droppedSinceReport = 0
  #timer: Timer | undefined
  #writing: Promise<void> | undefined
  #isClosed = false

  constructor(options: RequestLogOptions) {
    this.#options = options
    this.#budget = new TokenBuckets(options.clock, BUDGET_BYTES, BUDGET_BYTES_PER_SECOND)
  }

  /**
   * Collects a request. It is written within `BATCH_INTERVAL_MS`.
   * @param isWithinRate whether the rate limit of the account has let the request through; of others, only
   * as many are logged as the budget for bodies allows
   */
  record(row: LoggedRequestRow, bodies: Bodies, isWithinRate: boolean): void {
    if (!isWithinRate && !this.#takes(row.accountId, UNLIMITED_ROW_BYTES, true)) return
    if (this.#waiting.length >= WAITING_MAX) {
      this.#droppedSinceReport++
      return
    }
    this.#waiting.push(withBodies(row, this.#mayKeep(row, bodies) ? bodies : NO_BODIES))
    this.#startLater()
  }

  /** Resolves when all requests collected so far have been written or dropped. */
  async flush(): Promise<void> {
    await this.#writing
    if (this.#waiting.length > 0) await this.#start()
  }

  /** Writes the remaining requests. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    await this.flush()
  }

  /** Number of requests that were dropped since the start. */
  droppedCount(): number {
    return this.#dropped + this.#droppedSinceReport
  }

  #mayKeep({ accountId, status }: LoggedRequestRow, { request, response }: Bodies): boolean {
    if (!this.#options.hasBodies || (request === undefined && response === undefined)) return false
    const bytes = keptBytes(request?.length) + keptBytes(response?.length)
    if (this.#waitingBodyBytes + bytes > WAITING_BODY_BYTES_MAX) return false
    if (!this.#takes(accountId, bytes, status >= 400)) return false
    this.#waitingBodyBytes += bytes
    return true
  }

  #takes(accountId: Id, bytes: number, isFailure: boolean): boolean {
    const reserve = isFailure ? 0 : RESERVED_FOR_FAILURES_BYTES
    return this.#budget.take(idKey(accountId), bytes, reserve) !== undefined
  }

  #startLater(): void {
    if (this.#isClosed || this.#writing) return
    this.#timer ??= this.#options.clock.timer(BATCH_INTERVAL_MS, () => void this.#start())
  }

  #start(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
      if (this.#waiting.length > 0) this.#startLater()
    })
    return this.#writing
  }

  async #write(): Promise<void> {
    const due = this.#waiting
    this.#waiting = []
    this.#waitingBodyBytes = 0
    if (this.#droppedSinceReport > 0) this.#drop(this.#droppedSinceReport)
    this.#droppedSinceReport = 0
    for (let at = 0; at < due.length; ) {
      const batch = batchAt(due, at)
      at += batch.length
      const written = this.#options.run('logRequests', { requests: batch })
      await written.catch(error => this.#drop(batch.length, error))
    }
  }

  #drop(count: number, error?: unknown): void {
    this.#dropped += count
    this.#options.onDropped(count, error)
  }
}

const NO_BODIES: Bodies = { request: undefined, response: undefined }

function keptBytes(length = 0): number {
  return Math.min(length, BODY_BYTES_MAX)
}

/**
 * Copies the beginnings of the bodies, so that the memory around them neither stays nor moves to the writer.
 */
function withBodies(row: LoggedRequestRow, { request, response }: Bodies): LoggedRequest {
  const requestCut = request !== undefined && request.length > BODY_BYTES_MAX
  const responseCut = response !== undefined && response.length > BODY_BYTES_MAX
  return {
    ...row,
    requestBody: request && new Uint8Array(request.subarray(0, BODY_BYTES_MAX)),
    responseBody: responseCut ? Buffer.from(response.slice(0, BODY_BYTES_MAX)).toString() : response,
    requestCut,
    responseCut,
  }
}

function batchAt(requests: readonly LoggedRequest[], from: number): LoggedRequest[] {
  let bytes = 0
  let to = from
  while (to < requests.length && to - from < REQUESTS_PER_COMMAND_MAX && bytes < BODY_BYTES_PER_COMMAND_MAX) {
    const { requestBody, responseBody } = requests[to++]!
    bytes += (requestBody?.length ?? 0) + (responseBody?.length ?? 0)
  }
  return requests.slice(from, to)
}
