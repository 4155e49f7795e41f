/**
 * Closes connections whose peer is too slow. One timer checks all connections every two seconds, because a
 * timer per request would cost more than the request.
 */
import { type Clock, every, type Timer } from '../../../lib/clock.ts'
import type { ClientConnection } from './connections.ts'
import { LINGER_MS } from './last-words.ts'

const LOOK_EVERY_MS = 2_000
/**
 * Time for the TLS handshake or the header section, from the accept, the end of the handshake, or the first
 * byte of a further request.
 */
const HEAD_LIMIT_MS = 10_000
const HANDSHAKE_LIMIT_MS = 10_000
/** Minimum average rate of a body in each window. The first window is also a grace period. */
const BODY_BYTES_PER_SECOND_MIN = 1_024
const BODY_WINDOW_MS = 10_000
/** Time for which the peer may read nothing of a reply, in addition to … */
const STALLED_REPLY_MS = 60_000
/** … the time that the unsent bytes take at this rate, because progress within one write is not visible. */
const REPLY_BYTES_PER_SECOND_MIN = 10_240
/** After this time, a connection with a stalled reply may be closed in favor of a new connection. */
const STALLED_FROM_MS = 10_000

interface WatchOptions {
  clock: Clock
  /** Answers 408 to a client whose header section or body is late, and closes the connection. */
  onLate(connection: ClientConnection): void
}

/** State of a connection at the last check. Times are monotonic, in ms. */
interface Seen {
  requestCount: number
  /** Start of the window of the body. */
  at: number
  /** Bytes of the body at the start of the window, without the framing of chunks; -1 if none is measured. */
  contentBytes: number
  /** Bytes read when the connection became idle; -1 while it is not. */
  bytesRead: number
  /** Time of the first byte of a further request; 0 if none has arrived. */
  headAt: number
  unsentBytes: number
  unsentAt: number
  /** Time at which our side was closed; 0 if it is open. */
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

  /** Must be called when a connection is accepted. */
  start(): void {
    // reads data that has already arrived first, so that a busy event loop does not cut off its clients
    this.#ticks ??= every(this.#options.clock, LOOK_EVERY_MS, () => setImmediate(() => this.#checkAll()))
  }

  stop(): void {
    this.#ticks?.cancel()
    this.#ticks = undefined
  }

  #checkAll(): void {
    const now = this.#options.clock.monotonic()
    for (const connection of this.#connections) this.#checkOne(connection, now)
    if (this.#connections.size === 0) this.stop()
  }

  #checkOne(connection: ClientConnection, now: number): void {
    const { stream } = connection
    if (connection.isClosing) return
    if (!stream) {
      if (now - connection.since >= HANDSHAKE_LIMIT_MS) connection.destroy()
      return
    }
    if (connection.requestCount === 0) {
      if (now - connection.since < HEAD_LIMIT_MS) return
      if (!connection.hasReceived) connection.destroy()
      else this.#options.onLate(connection)
      return
    }
    const seen = this.#seenOf(connection, now)
    if (stream.writableFinished) checkEnded(connection, seen, now)
    else this.#checkUsed(connection, seen, now)
  }

  #checkUsed(connection: ClientConnection, seen: Seen, now: number): void {
    if (seen.requestCount !== connection.requestCount) {
      seen.requestCount = connection.requestCount
      seen.contentBytes = -1
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
      contentBytes: -1,
      bytesRead: -1,
      headAt: 0,
      unsentBytes: 0,
      unsentAt: now,
      endedAt: 0,
    }
    this.#seen.set(connection, seen)
    return seen
  }

  /**
   * Between requests, the keep-alive limit handles silence. This function handles an incomplete header
   * section.
   */
  #lookAtIdle(connection: ClientConnection, seen: Seen, now: number): void {
    const { bytesRead } = connection.stream!
    connection.isStalled = false
    if (seen.bytesRead < 0) seen.bytesRead = bytesRead
    if (bytesRead === seen.bytesRead) return
    if (seen.headAt === 0) seen.headAt = now
    else if (now - seen.headAt >= HEAD_LIMIT_MS) this.#options.onLate(connection)
  }

  #lookAtBody(connection: ClientConnection, seen: Seen, now: number): void {
    const { contentBytes } = connection.request!
    const passedMs = now - seen.at
    if (seen.contentBytes >= 0 && !isHeldBack(connection)) {
      if (passedMs < BODY_WINDOW_MS) return
      const minBytes = (BODY_BYTES_PER_SECOND_MIN * passedMs) / 1_000
      if (contentBytes - seen.contentBytes < minBytes) {
        this.#options.onLate(connection)
        return
      }
    }
    seen.contentBytes = contentBytes
    seen.at = now
  }
}

/** Tells whether the body waits for this service instead of the client. */
function isHeldBack({ request, stream }: ClientConnection): boolean {
  if (request!.readableLength > 0 || stream!.isPaused()) return true
  // a body that is read piece by piece always counts as paused
  return request!.isPaused() && request!.listenerCount('readable') === 0
}

/** Our side is closed (FIN sent) and the peer keeps its side open. */
function checkEnded(connection: ClientConnection, seen: Seen, now: number): void {
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
