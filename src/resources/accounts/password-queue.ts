/**
 * Shares out password hashing, of which few are done at a time, among those who wait for it. Known places,
 * sessions and the operator are served ahead of strangers, three to one; within each of the two, owners take
 * turns. A full queue still takes an owner's first attempt, in place of one further down in another owner's
 * line. Called by `password.ts` only.
 */
import { TooManyWaiting } from '../../lib/semaphore.ts'

/** For whom a password is hashed. */
export interface PasswordTurn {
  /** Waits in one line: a client network (of IPv6 its /48), a known place, a user, the operator. */
  owner: string
  /** A part of the owner with a bound of its own: the /56 of an IPv6 client. */
  part?: string | undefined
  standing: 'operator' | 'known' | 'stranger'
}

export interface PasswordQueue {
  /**
   * @throws TooManyWaiting when too many wait, at once or when an attempt of another owner takes the place
   */
  run<T>(turn: PasswordTurn, task: () => Promise<T>): Promise<T>
}

const RUNNING_MAX = 2
const WAITING_MAX = 32
const WAITING_MAX_PER_OWNER = { operator: WAITING_MAX, known: 8, stranger: 8 }
const WAITING_MAX_PER_PART = 4
/** Starts of known owners in a row while strangers wait. */
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

  /** How many of the same owner are ahead: those that run and those that have waited for longer. */
  const rankOf = (turn: PasswordTurn, position = waiting.length) =>
    running.filter(({ owner }) => owner === turn.owner).length +
    waiting.slice(0, position).filter(one => one.turn.owner === turn.owner).length

  const ranked = () => waiting.map((one, at) => ({ ...one, at, rank: rankOf(one.turn, at) }))
  /** The longest waiting of those that have the fewest of their own ahead. */
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

  /** The newest of those furthest down in a line, where the turn would be nearer to its owner's front. */
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
