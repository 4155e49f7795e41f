/** Receives messages into memory, within the budget that all doors share. */
import { type MemoryBudget, type Reservation, UNCOUNTED_BYTES } from '../../lib/memory-budget.ts'
import { MESSAGE_BYTES_MAX } from '../../pipeline/accept/message-limits.ts'

export interface Incoming {
  /** Size of the largest message, as far as the memory of this machine allows it. */
  bytesMax: number
  /**
   * @param owner account, or network of a client of the relay
   * @param declaredBytes size that the client has declared; 0 if it has not
   * @param onLate called when a message comes in too slowly for the memory that it holds
   */
  open(owner: string, declaredBytes: number, onLate: () => void): IncomingMessage
  /** Tells whether more than half of the memory is in use. */
  isCrowded(): boolean
}

/** Smaller chunks are joined, since each piece has an overhead of about 200 bytes and may hold one byte. */
const SMALL_BYTES = 1024
const JOINED_BYTES = 16 * 1024
/** A message must arrive within this time, for which it holds memory. */
const ARRIVAL_MS_MAX = 900_000

export function createIncoming(budget: MemoryBudget): Incoming {
  const bytesMax = Math.min(MESSAGE_BYTES_MAX, budget.ownerBytesMax)
  return {
    bytesMax,
    isCrowded: () => budget.isCrowded(),
    open: (owner, declaredBytes, onLate) =>
      new IncomingMessage(budget, { owner, bytesMax, declaredBytes, onLate }),
  }
}

interface Opened {
  owner: string
  bytesMax: number
  declaredBytes: number
  onLate: () => void
}

/** One message, from its first byte until it is stored or refused. */
export class IncomingMessage {
  readonly #budget: MemoryBudget
  readonly #opened: Opened
  readonly #pieces = new Pieces()
  readonly #reservations: Reservation[] = []
  /** Bytes that the message may have before it needs more memory. */
  #roomBytes = UNCOUNTED_BYTES
  #sizeBytes = 0
  #isClosed = false
  /** Why the message is not kept; undefined while it is. */
  #refusal: { error: unknown } | undefined

  constructor(budget: MemoryBudget, opened: Opened) {
    this.#budget = budget
    this.#opened = opened
  }

  /**
   * Keeps a copy of the chunk.
   * @returns a promise if the client must pause until there is memory for more; it never rejects
   */
  add(chunk: Uint8Array): Promise<void> | undefined {
    if (this.#refusal || this.#isClosed) return undefined
    this.#sizeBytes += chunk.length
    // the listener refuses a message that is too large, and keeps nothing of it
    if (this.#sizeBytes > this.#opened.bytesMax) return void this.close()
    this.#pieces.add(chunk)
    return this.#sizeBytes > this.#roomBytes ? this.#makeRoom() : undefined
  }

  /**
   * Pieces of the message.
   * @throws TooManyWaiting when there was no memory for it
   */
  pieces(): Uint8Array<ArrayBuffer>[] {
    if (this.#refusal) throw this.#refusal.error
    for (const reservation of this.#reservations) reservation.arrived()
    return this.#pieces.all()
  }

  /** Releases the memory. */
  close(): void {
    this.#isClosed = true
    this.#pieces.clear()
    for (const reservation of this.#reservations.splice(0)) reservation.release()
  }

  /** Takes memory for the declared size, or for as much again as has arrived. */
  async #makeRoom(): Promise<void> {
    const { owner, bytesMax, declaredBytes, onLate } = this.#opened
    const wanted = Math.max(declaredBytes, this.#sizeBytes * 2)
    const bytes = Math.min(wanted, bytesMax) - this.#heldBytes()
    this.#roomBytes = Number.POSITIVE_INFINITY // chunks that are on their way do not ask again
    try {
      const reservation = await this.#budget.take(owner, bytes, this.#reservations.length > 0)
      if (this.#isClosed) return reservation.release()
      const arrivedBefore = this.#sizeBytes
      this.#reservations.push(reservation)
      this.#roomBytes = this.#heldBytes()
      reservation.watch(ARRIVAL_MS_MAX, () => this.#sizeBytes - arrivedBefore, onLate)
    } catch (error) {
      this.#refusal = { error }
      this.close()
    }
  }

  #heldBytes(): number {
    return this.#reservations.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
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
