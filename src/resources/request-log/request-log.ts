/**
 * Collects requests to the API and writes them in batches, so that no reply waits for the log. When the
 * writer is behind, requests are dropped instead of delaying mail.
 *
 * In: requests with their replies, from `interfaces/api/server`. Out: the command `logRequests`. Created
 * by `app/http.ts`. Design: decision 0118.
 */
import type { Clock, Timer } from '../../lib/clock.ts'
import type { Run } from '../../store/model/command.ts'
import type { LoggedRequestRow } from '../../store/model/schema/requests.ts'
import { createBodyBudget } from './body-budget.ts'
import type { requestLogCommands } from './commands.ts'
import { BODY_BYTES_MAX, type LoggedRequest, packRequests } from './logged-request.ts'

/** JSON bodies of a request. Undefined for a body that is not JSON. */
export interface Bodies {
  request: Uint8Array | undefined
  response: string | undefined
}

export interface RequestLog {
  /**
   * Collects a request. It is written within `BATCH_INTERVAL_MS`.
   * @param isWithinRate whether the rate limit of the account has let the request through; of others, only
   * as many are logged as the budget for bodies allows
   */
  record(row: LoggedRequestRow, bodies: Bodies, isWithinRate: boolean): void
  /** Resolves when all requests collected so far have been written or dropped. */
  flush(): Promise<void>
  /** Writes the remaining requests. */
  close(): Promise<void>
  /** Number of requests that were dropped since the start. */
  droppedCount(): number
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

const BATCH_INTERVAL_MS = 500
/** Maximum number of waiting requests; further ones are dropped. */
const WAITING_MAX = 20_000
/** Maximum size of all waiting bodies; further ones are not stored. */
const WAITING_BODY_BYTES_MAX = 8 * 1024 * 1024
/** A batch of this size takes the writer about 2 ms, without bodies. */
const REQUESTS_PER_COMMAND_MAX = 500
const BODY_BYTES_PER_COMMAND_MAX = 128 * 1024
/** Part of the budget that a request beyond the rate limit takes, which allows four per second. */
const UNLIMITED_ROW_BYTES = 1024

export function createRequestLog({ run, clock, hasBodies, onDropped }: RequestLogOptions): RequestLog {
  const budget = createBodyBudget(clock)
  let waiting: LoggedRequest[] = []
  let waitingBodyBytes = 0
  let dropped = 0
  let droppedSinceReport = 0
  let timer: Timer | undefined
  let writing: Promise<void> | undefined
  let isClosed = false

  const mayKeep = ({ accountId, status }: LoggedRequestRow, { request, response }: Bodies) => {
    if (!hasBodies || (request === undefined && response === undefined)) return false
    const bytes = keptBytes(request?.length) + keptBytes(response?.length)
    if (waitingBodyBytes + bytes > WAITING_BODY_BYTES_MAX) return false
    if (!budget.take(accountId, bytes, status >= 400)) return false
    waitingBodyBytes += bytes
    return true
  }
  const drop = (count: number, error?: unknown) => {
    dropped += count
    onDropped(count, error)
  }
  const write = async () => {
    const due = waiting
    waiting = []
    waitingBodyBytes = 0
    if (droppedSinceReport > 0) drop(droppedSinceReport)
    droppedSinceReport = 0
    for (let at = 0; at < due.length; ) {
      const batch = batchAt(due, at)
      at += batch.length
      const packed = packRequests(batch)
      const memory = [packed.ids.buffer, packed.numbers.buffer, packed.bodies.buffer]
      await run('logRequests', packed, memory).catch(error => drop(batch.length, error))
    }
  }
  const start = () => {
    timer?.cancel()
    timer = undefined
    writing ??= write().finally(() => {
      writing = undefined
      if (waiting.length > 0) startLater()
    })
    return writing
  }
  const startLater = () => {
    if (!isClosed && !writing) timer ??= clock.timer(BATCH_INTERVAL_MS, () => void start())
  }
  const flush = async () => {
    await writing
    if (waiting.length > 0) await start()
  }

  return {
    record(row, bodies, isWithinRate) {
      if (!isWithinRate && !budget.take(row.accountId, UNLIMITED_ROW_BYTES, true)) return
      if (waiting.length >= WAITING_MAX) {
        droppedSinceReport++
        return
      }
      waiting.push(mayKeep(row, bodies) ? withBodies(row, bodies) : withBodies(row, NO_BODIES))
      startLater()
    },
    flush,
    async close() {
      isClosed = true
      timer?.cancel()
      await flush()
    },
    droppedCount: () => dropped + droppedSinceReport,
  }
}

const NO_BODIES: Bodies = { request: undefined, response: undefined }

function keptBytes(length = 0): number {
  return Math.min(length, BODY_BYTES_MAX)
}

/** Cuts the bodies. The parts are copied, so that a long body does not stay in memory. */
function withBodies(row: LoggedRequestRow, { request, response }: Bodies): LoggedRequest {
  const requestCut = request !== undefined && request.length > BODY_BYTES_MAX
  const responseCut = response !== undefined && response.length > BODY_BYTES_MAX
  return {
    ...row,
    requestBody: requestCut ? new Uint8Array(request.subarray(0, BODY_BYTES_MAX)) : request,
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
