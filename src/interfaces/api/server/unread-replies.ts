/**
 * Bounds the memory of the replies that clients have not read yet. All listeners share one bound, because a
 * stranger can open many connections, ask each for a long reply and read none of them.
 */
import type { Clock } from '../../../lib/clock.ts'
import { Slab } from '../../../lib/slab.ts'
import type { ClientConnection } from './connections.ts'

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
   * Counts a reply until `remove`. Beyond the bound, connections with other replies are closed: first those
   * of the client network with the most bytes, of these the one that has read nothing for the longest time.
   */
  add(connection: ClientConnection, sizeBytes: number): UnreadReply {
    const reply = new UnreadReply(connection, sizeBytes, this.#clock.monotonic())
    reply.number = this.#open.put(reply)
    this.#count(reply, sizeBytes)
    while (this.#bytes > this.#maxBytes) {
      const other = this.#firstToClose(reply)
      if (!other) break
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
      if (reply !== newest && (!chosen || isRatherClosed(reply, chosen))) chosen = reply
    return chosen
  }
}

function isRatherClosed(one: UnreadReply, other: UnreadReply): boolean {
  const weight = weightOf(one) - weightOf(other)
  return weight === 0 ? one.progressedAt < other.progressedAt : weight > 0
}

function weightOf({ connection: { network } }: UnreadReply): number {
  return network.isTrusted ? 0 : network.unreadBytes
}
