/** The memory of messages on their way in: bounded for all together, and shared among those who send. */

export interface Incoming {
  /** @param owner whose share of the room is used: an account, or a client of the relay */
  open(owner: string): IncomingMessage
  /** Whether more than half of the room is taken. */
  isCrowded(): boolean
}

export interface IncomingMessage {
  add(chunk: Uint8Array): void
  /** Undefined when there was no room for all of it. */
  pieces(): Uint8Array<ArrayBuffer>[] | undefined
  /** Gives the room back. */
  close(): void
}

/**
 * Chunks below this are joined: each piece takes about 200 bytes of memory besides its own, and may be a
 * single byte.
 */
const SMALL_BYTES = 1024
const JOINED_BYTES = 16 * 1024

/**
 * An owner may take as much as is still free. One alone thereby gets half of the room, two get a third each,
 * and so on: there is always room for another owner, and no share is kept for those who send nothing.
 */
export function createIncoming(mostBytes: number): Incoming {
  const takenBy = new Map<string, number>()
  let taken = 0

  const take = (owner: string, bytes: number): boolean => {
    const own = takenBy.get(owner) ?? 0
    if (own + bytes > mostBytes - taken - bytes) return false
    takenBy.set(owner, own + bytes)
    taken += bytes
    return true
  }
  const giveBack = (owner: string, bytes: number) => {
    const left = (takenBy.get(owner) ?? 0) - bytes
    if (left > 0) takenBy.set(owner, left)
    else takenBy.delete(owner)
    taken -= bytes
  }

  return {
    isCrowded: () => taken > mostBytes / 2,
    open(owner) {
      const pieces = new Pieces()
      let own = 0
      let fits = true
      const clear = () => {
        pieces.clear()
        if (own > 0) giveBack(owner, own)
        own = 0
      }
      return {
        add(chunk) {
          fits &&= take(owner, chunk.length)
          if (!fits) return clear()
          own += chunk.length
          pieces.add(chunk)
        },
        pieces: () => (fits ? pieces.all() : undefined),
        close: clear,
      }
    },
  }
}

/**
 * Copies of chunks. Each piece has its memory for itself, so that no more than its bytes are sent to another
 * thread.
 */
class Pieces {
  #whole: Uint8Array<ArrayBuffer>[] = []
  /** Small chunks that are being joined. */
  #joined: Uint8Array<ArrayBuffer> | undefined
  #joinedBytes = 0

  add(chunk: Uint8Array): void {
    const isFirst = this.#whole.length === 0 && !this.#joined
    if (chunk.length >= SMALL_BYTES || isFirst) {
      this.#finishJoined()
      this.#whole.push(new Uint8Array(chunk))
      return
    }
    if (this.#joinedBytes + chunk.length > JOINED_BYTES) this.#finishJoined()
    this.#joined ??= new Uint8Array(JOINED_BYTES)
    this.#joined.set(chunk, this.#joinedBytes)
    this.#joinedBytes += chunk.length
  }

  all(): Uint8Array<ArrayBuffer>[] {
    this.#finishJoined()
    return this.#whole
  }

  clear(): void {
    this.#whole = []
    this.#joined = undefined
    this.#joinedBytes = 0
  }

  #finishJoined(): void {
    if (this.#joined) this.#whole.push(this.#joined.slice(0, this.#joinedBytes))
    this.#joined = undefined
    this.#joinedBytes = 0
  }
}
