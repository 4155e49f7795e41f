/**
 * Bounds the memory of the replies that clients have not read yet. All listeners share one bound, because a
 * stranger can open many connections, ask each for a long reply and read none of them.
 */
import type { Clock } from '../../../lib/clock.ts'
import { Slab } from '../../../lib/slab.ts'
import type { ClientConnection } from './connections.ts'

/** A reply of which the client has taken nothing for this time is closed beyond the bound. */
const STALLED_MS = 10_000
/** Replies that clients go on reading are closed beyond so many times the bound. */
const MOVING_FACTOR = 4

/** One long reply that is being sent. */
export class UnreadReply {
  readonly connection: ClientConnection
  readonly sizeBytes: number
  /** Monotonic time at which the client took the last piece, in ms. */
  progressedAt: number
  number = -1

  constructor(connection: ClientConnection, sizeBytes: number, now: number) {
    this.connection = connection
    this.sizeBytes = sizeBytes
    this.progressedAt = now
  }
}

export class UnreadReplies {
  readonly #open = new Slab<UnreadReply>()
  readonly #maxBytes: number
  readonly #clock: Clock
  #bytes = 0

  constructor(maxBytes: number, clock: Clock) {
    this.#maxBytes = maxBytes
    this.#clock = clock
  }

  /**
   * Counts a reply until `remove`. Beyond the bound, connections with other replies that have stalled are
   * closed, and beyond four times the bound also those whose clients go on reading: first those of the client
   * network with the most bytes, of these the one that has read nothing for the longest time.
   */
  add(connection: ClientConnection, sizeBytes: number): UnreadReply {
    const reply = new UnreadReply(connection, sizeBytes, this.#clock.monotonic())
    reply.number = this.#open.put(reply)
    this.#count(reply, sizeBytes)
    while (this.#bytes > this.#maxBytes) {
      const other = this.#firstToClose(reply)
      if (!other || (!this.#isStalled(other) && this.#bytes <= MOVING_FACTOR * this.#maxBytes)) break
      this.remove(other)
      other.connection.destroy()
    }
    return reply
  }

  /** The client has taken a piece. */
  progressed(reply: UnreadReply): void {
    reply.progressedAt = this.#clock.monotonic()
  }

  remove(reply: UnreadReply): void {
    if (reply.number < 0) return
    this.#open.drop(reply.number)
    reply.number = -1
    this.#count(reply, -reply.sizeBytes)
  }

  #count({ connection: { network } }: UnreadReply, bytes: number): void {
    this.#bytes += bytes
    network.unreadBytes += bytes
  }

  #firstToClose(newest: UnreadReply): UnreadReply | undefined {
    let chosen: UnreadReply | undefined
    for (const reply of this.#open)
      if (reply !== newest && (!chosen || this.#isRatherClosed(reply, chosen))) chosen = reply
    return chosen
  }

  #isRatherClosed(one: UnreadReply, other: UnreadReply): boolean {
    const isStalled = this.#isStalled(one)
    return isStalled === this.#isStalled(other) ? isRatherClosed(one, other) : isStalled
  }

  #isStalled({ progressedAt }: UnreadReply): boolean {
    return this.#clock.monotonic() - progressedAt >= STALLED_MS
  }
}

/** Tells which of two replies is closed first if both have stalled, or neither. */
function isRatherClosed(one: UnreadReply, other: UnreadReply): boolean {
  const weight = weightOf(one) - weightOf(other)
  return weight === 0 ? one.progressedAt < other.progressedAt : weight > 0
}

function weightOf({ connection: { network } }: UnreadReply): number {
  return network.isTrusted ? 0 : network.unreadBytes
}
