/**
 * Pipelines deliveries on one connection: a delivery may start while the previous one is in progress, and its
 * envelope is sent behind the previous message (RFC 2920).
 *
 * In: deliveries for one slot, from the slot runner. Out: a `PipelineSlot` per delivery, which tells it when
 * and where to send.
 */
import type { SharedSession } from './shared-session.ts'

/** Position of one delivery in the pipeline. */
export interface PipelineSlot {
  /** The session of the previous delivery, while that delivery is in progress and another one may follow. */
  readonly ahead: SharedSession | undefined
  /**
   * Resolves when all previous deliveries have ended and this one may open a session.
   * @throws PipelineSlotLost when the path no longer admits this delivery
   */
  previousEnded(): Promise<void>
  /** Offers the session of this delivery to the next one. */
  offer(session: SharedSession): void
  /**
   * Asked when the host is slow to answer: whether the delivery may wait for it for longer. If so, it takes
   * no slot of the thread from then on.
   */
  mayWaitOn: () => boolean
}

/** Thrown when nothing was sent and nothing must be recorded: the delivery goes back to the queue. */
export class PipelineSlotLost extends Error {
  constructor() {
    super('those before it in line ended badly')
    this.name = 'PipelineSlotLost'
  }
}

/** The slot of a delivery that is not pipelined. */
export const NOT_PIPELINED: PipelineSlot = {
  ahead: undefined,
  previousEnded: async () => {},
  offer() {},
  mayWaitOn: () => true,
}

interface PipelineOptions<T> {
  /** Resolves when the delivery has ended. Never rejects. */
  carryOut(item: T, slot: PipelineSlot): Promise<void>
  /** Whether the next delivery may start while others of the pipeline are in progress. */
  mayFollow(): boolean
  /** Whether a delivery that was not sent may still start. Asked when all deliveries before it have ended. */
  mayStillBegin(): boolean
  next(): T | undefined
}

/**
 * Runs deliveries one after another, and pipelines them where a session is offered. Resolves when the last
 * one has ended.
 */
export async function runPipelined<T>(first: T, options: PipelineOptions<T>): Promise<void> {
  let position: PipelinePosition | undefined
  for (let item: T | undefined = first; item; item = options.next()) {
    position = new PipelinePosition(position, options.mayStillBegin)
    options.carryOut(item, position).then(position.end)
    await position.nextMayStart
    if (!position.isAllEnded && !options.mayFollow()) await position.allEnded
  }
  await position!.allEnded
}

class PipelinePosition implements PipelineSlot {
  readonly #mayStillBegin: () => boolean
  readonly #nextMayStart = Promise.withResolvers<void>()
  readonly #allEnded = Promise.withResolvers<void>()
  mayWaitOn = () => true
  #previous: PipelinePosition | undefined
  #offered: SharedSession | undefined
  #hasEnded = false
  #isAllEnded = false

  /**
   * @param previous the position before this one; undefined for the first
   * @param mayStillBegin asked when the previous deliveries have ended
   */
  constructor(previous: PipelinePosition | undefined, mayStillBegin: () => boolean) {
    this.#previous = previous?.isAllEnded ? undefined : previous
    this.#mayStillBegin = mayStillBegin
  }

  get ahead(): SharedSession | undefined {
    if (!this.#previous) return undefined
    return this.#previous.#hasEnded ? this.#previous.ahead : this.#previous.#offered
  }

  async previousEnded() {
    if (!this.#previous) return
    await this.#previous.allEnded
    if (!this.#mayStillBegin()) throw new PipelineSlotLost()
  }

  offer(session: SharedSession) {
    this.#offered = session
    this.#nextMayStart.resolve()
  }

  /** Resolves when the next delivery may start, behind this one or after it. */
  get nextMayStart(): Promise<void> {
    return this.#nextMayStart.promise
  }

  /** Whether this delivery and all before it have ended. */
  get isAllEnded(): boolean {
    return this.#isAllEnded
  }

  /** Resolves when this delivery and all before it have ended. */
  get allEnded(): Promise<void> {
    return this.#allEnded.promise
  }

  readonly end = () => {
    this.#hasEnded = true
    this.#nextMayStart.resolve()
    if (this.#previous) void this.#previous.allEnded.then(this.#endAll)
    else this.#endAll()
  }

  readonly #endAll = () => {
    this.#isAllEnded = true
    this.#previous = undefined
    this.#offered = undefined
    this.#allEnded.resolve()
  }
}
