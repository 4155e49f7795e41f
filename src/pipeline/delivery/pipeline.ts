/**
 * Deliveries in line for one connection: one may begin while the one before it is under way, and be sent
 * behind it.
 */
import type { SharedSession } from './shared-session.ts'

/** What a delivery knows of its position in the line. */
export interface PipelineSlot {
  /** The session of the one before, as long as that is under way and another may follow. */
  readonly ahead: SharedSession | undefined
  /**
   * Resolves when those before have ended: it may open a session of its own.
   * @throws PipelineSlotLost when they ended badly, and it is not to begin now
   */
  previousEnded(): Promise<void>
  /** Another delivery may be sent behind this one. */
  offer(session: SharedSession): void
}

/** Nothing has been sent, and nothing is to be recorded: the delivery waits in the queue as before. */
export class PipelineSlotLost extends Error {
  constructor() {
    super('those before it in line ended badly')
    this.name = 'PipelineSlotLost'
  }
}

/** In front of none and behind none. */
export const NOT_PIPELINED: PipelineSlot = { ahead: undefined, previousEnded: async () => {}, offer() {} }

interface PipelineOptions<T> {
  /** Resolves when it has ended. Never fails. */
  carryOut(item: T, slot: PipelineSlot): Promise<void>
  /** Whether the next may be begun while others of the line are under way. */
  mayFollow(): boolean
  /** Asked of those that have not been sent when all before them have ended. */
  mayStillBegin(): boolean
  next(): T | undefined
}

/**
 * Carries out one after another, and one behind another where that is offered. Resolves when the last has
 * ended.
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
  #previous: PipelinePosition | undefined
  #offered: SharedSession | undefined
  #hasEnded = false
  #isAllEnded = false

  /**
   * @param previous the position before; undefined for the first of the line
   * @param mayStillBegin asked when those before have ended
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

  /** Resolves when another may begin: behind this one, or after it. */
  get nextMayStart(): Promise<void> {
    return this.#nextMayStart.promise
  }

  /** It has ended, and so have all before it. */
  get isAllEnded(): boolean {
    return this.#isAllEnded
  }

  /** Resolves when it is allEnded. */
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
