/**
 * Deliveries in line for one connection: one may begin while the one before it is under way, and be sent
 * behind it.
 */
import type { SharedSession } from './shared-session.ts'

/** What a delivery knows of its place in the line. */
export interface PipelineSlot {
  /** The session of the one before, as long as that is under way and another may follow. */
  readonly ahead: SharedSession | undefined
  /**
   * Resolves when those before have ended: it may open a session of its own.
   * @throws TurnLost when they ended badly, and it is not to begin now
   */
  alone(): Promise<void>
  /** Another delivery may be sent behind this one. */
  offer(session: SharedSession): void
}

/** Nothing has been sent, and nothing is to be recorded: the delivery waits in the queue as before. */
export class PipelineSlotLost extends Error {
  constructor() {
    super('those before it in line ended badly')
    this.name = 'TurnLost'
  }
}

/** In front of none and behind none. */
export const NOT_PIPELINED: PipelineSlot = { ahead: undefined, alone: async () => {}, offer() {} }

interface LineOptions<T> {
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
export async function runPipelined<T>(first: T, options: LineOptions<T>): Promise<void> {
  let place: Place | undefined
  for (let item: T | undefined = first; item; item = options.next()) {
    place = new Place(place, options.mayStillBegin)
    options.carryOut(item, place).then(place.end)
    await place.movedOn
    if (!place.isCleared && !options.mayFollow()) await place.cleared
  }
  await place!.cleared
}

class Place implements PipelineSlot {
  readonly #mayStillBegin: () => boolean
  readonly #movedOn = Promise.withResolvers<void>()
  readonly #cleared = Promise.withResolvers<void>()
  #former: Place | undefined
  #offered: SharedSession | undefined
  #hasEnded = false
  #isCleared = false

  /**
   * @param former the place before; undefined for the first of the line
   * @param mayStillBegin asked when those before have ended
   */
  constructor(former: Place | undefined, mayStillBegin: () => boolean) {
    this.#former = former?.isCleared ? undefined : former
    this.#mayStillBegin = mayStillBegin
  }

  get ahead(): SharedSession | undefined {
    if (!this.#former) return undefined
    return this.#former.#hasEnded ? this.#former.ahead : this.#former.#offered
  }

  async alone() {
    if (!this.#former) return
    await this.#former.cleared
    if (!this.#mayStillBegin()) throw new PipelineSlotLost()
  }

  offer(session: SharedSession) {
    this.#offered = session
    this.#movedOn.resolve()
  }

  /** Resolves when another may begin: behind this one, or after it. */
  get movedOn(): Promise<void> {
    return this.#movedOn.promise
  }

  /** It has ended, and so have all before it. */
  get isCleared(): boolean {
    return this.#isCleared
  }

  /** Resolves when it is cleared. */
  get cleared(): Promise<void> {
    return this.#cleared.promise
  }

  readonly end = () => {
    this.#hasEnded = true
    this.#movedOn.resolve()
    if (this.#former) void this.#former.cleared.then(this.#clear)
    else this.#clear()
  }

  readonly #clear = () => {
    this.#isCleared = true
    this.#former = undefined
    this.#offered = undefined
    this.#cleared.resolve()
  }
}
