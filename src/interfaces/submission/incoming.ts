/** Limits the memory of messages that are being received, for all together and for each owner. */

export interface Incoming {
  /** @param owner account, or network of a client of the relay */
  open(owner: string): IncomingMessage
  /** Tells whether more than half of the memory is in use. */
  isCrowded(): boolean
}

export interface IncomingMessage {
  add(chunk: Uint8Array): void
  /** Pieces of the message; undefined if the message exceeded the limit. */
  pieces(): Uint8Array<ArrayBuffer>[] | undefined
  /** Releases the memory. */
  close(): void
}

/** Smaller chunks are joined, since each piece has an overhead of about 200 bytes and may hold one byte. */
const SMALL_BYTES = 1024
const JOINED_BYTES = 16 * 1024

/**
 * An owner may use as much memory as is still free. A single owner thereby gets half of the memory, two
 * owners a third each, and so on, so that memory for another owner is always left, and none is reserved for
 * idle owners.
 */
export function createIncoming(maxBytes: number): Incoming {
  const takenBy = new Map<string, number>()
  let taken = 0

  const take = (owner: string, bytes: number): boolean => {
    const own = takenBy.get(owner) ?? 0
    if (own + bytes > maxBytes - taken - bytes) return false
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
    isCrowded: () => taken > maxBytes / 2,
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
 * Copies of chunks. Each piece has memory of its own, so that only its bytes are sent to the child process.
 */
class Pieces {
  #whole: Uint8Array<ArrayBuffer>[] = []
  /** Buffer in which small chunks are joined. */
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
