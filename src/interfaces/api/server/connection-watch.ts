/**
 * Ends connections whose peer is too slow. One timer looks at all of them every two seconds: a timer for each
 * request would cost more than the request.
 */
import { type Clock, every, type Timer } from '../../../lib/clock.ts'
import type { ClientConnection } from './connections.ts'
import { LINGER_MS } from './last-words.ts'

const LOOK_EVERY_MS = 2_000
/** From the accept, or the end of the TLS handshake, or the first byte of a further head. */
export const HEAD_LIMIT_MS = 10_000
export const HANDSHAKE_LIMIT_MS = 10_000
/**
 * A body must bring so much on average in each window; the first window is also the grace at its beginning.
 */
export const BODY_BYTES_PER_SECOND_MIN = 1_024
export const BODY_WINDOW_MS = 10_000
/** A reply of which the peer takes nothing for so long … */
export const STALLED_REPLY_MS = 60_000
/** … and the time that its bytes would take at this rate, since progress within one write is not visible. */
export const REPLY_BYTES_PER_SECOND_MIN = 10_240
/** From here on such a connection is closed when another one needs the place. */
const STALLED_FROM_MS = 10_000

interface WatchOptions {
  clock: Clock
  /** Tells a client whose head or body is late (408), and ends the connection. */
  onLate(connection: ClientConnection): void
}

/** What was seen of a connection before. Times are monotonic, ms. */
interface Seen {
  requestCount: number
  /** When the window of the body began, or the connection was found idle. */
  at: number
  /** Bytes read by then; -1: nothing is measured. */
  bytesRead: number
  /** When the first byte of a further head was seen; 0: none was. */
  headAt: number
  unsentBytes: number
  unsentAt: number
  /** When our side was found closed; 0: it is open. */
  endedAt: number
}

export class ConnectionWatch {
  readonly #options: WatchOptions
  readonly #connections: Iterable<ClientConnection> & { size: number }
  readonly #seen = new WeakMap<ClientConnection, Seen>()
  #ticks: Timer | undefined

  constructor(connections: Iterable<ClientConnection> & { size: number }, options: WatchOptions) {
    this.#connections = connections
    this.#options = options
  }

  /** To be called when a connection is accepted. */
  start(): void {
    // what has arrived by now is read first, so that nobody is cut off because this thread was busy
    this.#ticks ??= every(this.#options.clock, LOOK_EVERY_MS, () => setImmediate(() => this.#look()))
  }

  stop(): void {
    this.#ticks?.cancel()
    this.#ticks = undefined
  }

  #look(): void {
    const now = this.#options.clock.monotonic()
    for (const connection of this.#connections) this.#lookAt(connection, now)
    if (this.#connections.size === 0) this.stop()
  }

  #lookAt(connection: ClientConnection, now: number): void {
    const { stream } = connection
    if (connection.isClosing) return
    if (!stream) {
      if (now - connection.since >= HANDSHAKE_LIMIT_MS) connection.destroy()
      return
    }
    if (connection.requestCount === 0) {
      if (now - connection.since < HEAD_LIMIT_MS) return
      if (stream.bytesRead === 0) connection.destroy()
      else this.#options.onLate(connection)
      return
    }
    const seen = this.#seenOf(connection, now)
    if (stream.writableFinished) lookAtEnded(connection, seen, now)
    else this.#lookAtUsed(connection, seen, now)
  }

  #lookAtUsed(connection: ClientConnection, seen: Seen, now: number): void {
    if (seen.requestCount !== connection.requestCount) {
      seen.requestCount = connection.requestCount
      seen.bytesRead = -1
      seen.headAt = 0
    }
    if (connection.openReplies === 0) {
      this.#lookAtIdle(connection, seen, now)
      return
    }
    lookAtReply(connection, seen, now)
    if (connection.request?.complete === false) this.#lookAtBody(connection, seen, now)
  }

  #seenOf(connection: ClientConnection, now: number): Seen {
    const known = this.#seen.get(connection)
    if (known) return known
    const seen = {
      requestCount: 0,
      at: now,
      bytesRead: -1,
      headAt: 0,
      unsentBytes: 0,
      unsentAt: now,
      endedAt: 0,
    }
    this.#seen.set(connection, seen)
    return seen
  }

  /** Between two requests: silence is the business of the keep-alive limit, a head that has begun is not. */
  #lookAtIdle(connection: ClientConnection, seen: Seen, now: number): void {
    const { bytesRead } = connection.stream!
    connection.isStalled = false
    if (seen.bytesRead < 0) seen.bytesRead = bytesRead
    if (bytesRead === seen.bytesRead) return
    if (seen.headAt === 0) seen.headAt = now
    else if (now - seen.headAt >= HEAD_LIMIT_MS) this.#options.onLate(connection)
  }

  #lookAtBody(connection: ClientConnection, seen: Seen, now: number): void {
    const { bytesRead } = connection.stream!
    const passedMs = now - seen.at
    if (seen.bytesRead >= 0 && !isHeldBack(connection)) {
      if (passedMs < BODY_WINDOW_MS) return
      const leastBytes = (BODY_BYTES_PER_SECOND_MIN * passedMs) / 1_000
      if (bytesRead - seen.bytesRead < leastBytes) {
        this.#options.onLate(connection)
        return
      }
    }
    seen.bytesRead = bytesRead
    seen.at = now
  }
}

/** What has come of the body waits for us, not the other way round. */
function isHeldBack({ request, stream }: ClientConnection): boolean {
  if (request!.readableLength > 0 || stream!.isPaused()) return true
  // a body that is read piece by piece counts as paused all the time
  return request!.isPaused() && request!.listenerCount('readable') === 0
}

/** The peer has been told that this is the end, by FIN, and keeps its side open. */
function lookAtEnded(connection: ClientConnection, seen: Seen, now: number): void {
  if (seen.endedAt === 0) seen.endedAt = now
  else if (now - seen.endedAt >= LINGER_MS) connection.destroy()
}

function lookAtReply(connection: ClientConnection, seen: Seen, now: number): void {
  const unsentBytes = connection.stream!.writableLength
  if (unsentBytes === 0 || unsentBytes !== seen.unsentBytes) {
    seen.unsentBytes = unsentBytes
    seen.unsentAt = now
  }
  const stalledMs = now - seen.unsentAt
  connection.isStalled = stalledMs >= STALLED_FROM_MS
  const allowedMs = STALLED_REPLY_MS + (unsentBytes * 1_000) / REPLY_BYTES_PER_SECOND_MIN
  if (stalledMs >= allowedMs) connection.destroy()
}
