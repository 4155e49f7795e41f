/**
 * Schedules password hashing, which is limited to a few at a time. Known places, sessions and the operator
 * are served before strangers, at a ratio of three to one; within both groups, owners are served round robin.
 * A full queue still admits the first attempt of an owner, in place of a later attempt of another owner.
 * Called by `password.ts` only.
 */
import { TooManyWaiting } from '../../lib/semaphore.ts'

/** Attribution of a password check to an owner. */
export interface PasswordTurn {
  /** Owner of the attempt: a client network (for IPv6 the /48), a known place, a user, or the operator. */
  owner: string
  /** Part of the owner with a separate limit: the /56 of an IPv6 client. */
  part?: string | undefined
  standing: 'operator' | 'known' | 'stranger'
}

interface PasswordQueue {
  /**
   * @throws TooManyWaiting if the queue is full, at once or when an attempt of another owner takes the place
   */
  run<T>(turn: PasswordTurn, task: () => Promise<T>): Promise<T>
}

const RUNNING_MAX = 2
const WAITING_MAX = 32
const WAITING_MAX_PER_OWNER = { operator: WAITING_MAX, known: 8, stranger: 8 }
const WAITING_MAX_PER_PART = 4
/** Maximum number of consecutive starts of known owners while strangers wait. */
const KNOWN_IN_A_ROW_MAX = 3

interface Waiting {
  turn: PasswordTurn
  start(): void
  reject(error: Error): void
}

export function createPasswordQueue(): PasswordQueue {
  const waiting: Waiting[] = []
  const running: PasswordTurn[] = []
  let knownInARow = 0

  /** Returns the number of attempts of the same owner that are running or waiting ahead. */
  const rankOf = (turn: PasswordTurn, position = waiting.length) =>
    running.filter(({ owner }) => owner === turn.owner).length +
    waiting.slice(0, position).filter(one => one.turn.owner === turn.owner).length

  const ranked = () => waiting.map((one, at) => ({ ...one, at, rank: rankOf(one.turn, at) }))
  /** Chooses among the attempts with the fewest of the same owner ahead the one that has waited longest. */
  const firstOf = (isStranger: boolean) =>
    ranked()
      .filter(({ turn }) => isStrangers(turn) === isStranger)
      .reduce<{ at: number; rank: number } | undefined>(
        (best, one) => (best && best.rank <= one.rank ? best : one),
        undefined,
      )
  const startNext = () => {
    const known = firstOf(false)
    const strange = firstOf(true)
    const isKnownsTurn = known && (!strange || knownInARow < KNOWN_IN_A_ROW_MAX)
    const next = isKnownsTurn ? known : strange
    if (!next) return
    knownInARow = isKnownsTurn ? knownInARow + 1 : 0
    const [started] = waiting.splice(next.at, 1) as [Waiting]
    running.push(started.turn)
    started.start()
  }

  /**
   * Chooses the newest of the attempts with the most of the same owner ahead, if the new attempt has fewer.
   */
  const displacedBy = (turn: PasswordTurn) => {
    const rank = rankOf(turn)
    const strangers = ranked().filter(one => isStrangers(one.turn))
    const candidates = isStrangers(turn) || strangers.length > 0 ? strangers : ranked()
    const last = candidates.toSorted((a, b) => b.rank - a.rank || b.at - a.at)[0]
    const isAhead = last && (last.rank > rank || isStrangers(last.turn) !== isStrangers(turn))
    return isAhead ? last.at : undefined
  }
  const makeRoom = (turn: PasswordTurn) => {
    const of = (isSame: (one: PasswordTurn) => boolean) => waiting.filter(one => isSame(one.turn)).length
    if (of(one => one.owner === turn.owner) >= WAITING_MAX_PER_OWNER[turn.standing]) throw tooMany()
    if (turn.part !== undefined && of(one => one.part === turn.part) >= WAITING_MAX_PER_PART) throw tooMany()
    if (waiting.length < WAITING_MAX) return
    const displaced = displacedBy(turn)
    if (displaced === undefined) throw tooMany()
    waiting.splice(displaced, 1)[0]!.reject(tooMany())
  }

  return {
    async run(turn, task) {
      if (running.length < RUNNING_MAX) running.push(turn)
      else {
        makeRoom(turn)
        await new Promise<void>((start, reject) => waiting.push({ turn, start, reject }))
      }
      try {
        return await task()
      } finally {
        running.splice(running.indexOf(turn), 1)
        startNext()
      }
    },
  }
}

function isStrangers({ standing }: PasswordTurn): boolean {
  return standing === 'stranger'
}

function tooMany(): TooManyWaiting {
  return new TooManyWaiting('too many passwords wait to be hashed')
}
