/**
 * Batches requests to the writer within their thread. While requests that nobody awaits follow each other
 * quickly, each is delayed to share a commit with others; otherwise it is sent at once, since a request that
 * has not reached the writer is lost when the process is killed. Called by `client.ts`.
 */
import type { MessagePort } from 'node:worker_threads'
import type { Clock, Timer } from '../../lib/clock.ts'
import type { WriteRequest } from './protocol.ts'

interface QueuedRequest {
  request: WriteRequest
  memory: readonly ArrayBuffer[]
  /** Time that the request may wait for others, in ms; 0 when a caller waits for its answer. */
  patienceMs: number
}

interface Outbox {
  add(leaving: QueuedRequest): void
  flush(): void
}

const POST_REQUESTS_MAX = 8
/** Limit for requests that no caller waits for. */
const POST_PATIENT_REQUESTS_MAX = 32
/**
 * Requests that no caller waits for are delayed while the last 16 arrived within 64 ms, a rate of 250 per
 * second.
 */
const BUSY_REQUESTS = 16
const BUSY_SPAN_MS = 64

/**
 * Creates the outbox. Requests made in one turn of the event loop are sent together, in batches small enough
 * that the writer can start with the first.
 */
export function createOutbox(
  port: MessagePort,
  clock: Clock,
  onUnsendable: (seq: number, error: Error) => void,
): Outbox {
  let outgoing: QueuedRequest[] = []
  let hasUrgent = false
  let soon: NodeJS.Immediate | undefined
  let later: Timer | undefined
  const isBusy = createBusyCheck(clock)

  const flush = () => {
    clearImmediate(soon)
    later?.cancel()
    soon = undefined
    later = undefined
    hasUrgent = false
    if (outgoing.length === 0) return
    const leaving = outgoing
    outgoing = []
    try {
      post(leaving)
    } catch {
      for (const one of leaving) postAlone(one)
    }
  }
  const post = (leaving: readonly QueuedRequest[]) => {
    const moved = leaving.flatMap(({ memory }) => memory)
    port.postMessage(
      leaving.map(({ request }) => request),
      moved,
    )
  }
  /** Sends a request alone, so that a request that cannot be cloned does not block the others. */
  const postAlone = (leaving: QueuedRequest) => {
    try {
      post([leaving])
    } catch (error) {
      onUnsendable(leaving.request.seq, error as Error)
    }
  }

  return {
    flush,
    add(leaving) {
      const { patienceMs } = leaving
      outgoing.push(leaving)
      hasUrgent ||= patienceMs === 0
      const mayWait = patienceMs > 0 && isBusy()
      if (outgoing.length >= (hasUrgent ? POST_REQUESTS_MAX : POST_PATIENT_REQUESTS_MAX)) flush()
      else if (mayWait) later ??= clock.timer(patienceMs, flush)
      else soon ??= setImmediate(flush)
    },
  }
}

/**
 * @returns a function that is called for each request that no caller waits for, and returns whether they
 * arrive in quick succession
 */
function createBusyCheck(clock: Clock): () => boolean {
  /** Monotonic times of the last requests; the oldest is at `next`. */
  const times = new Float64Array(BUSY_REQUESTS).fill(Number.NEGATIVE_INFINITY)
  let next = 0
  return () => {
    const now = clock.monotonic()
    times[next] = now
    next = (next + 1) % BUSY_REQUESTS
    return now - times[next]! <= BUSY_SPAN_MS
  }
}
