/** How long leases are good, who keeps them so, and who sees to those that nobody keeps. */
import type { Clock, Timer } from '../../lib/clock.ts'
import { idKey } from '../../lib/ids.ts'
import { type Claim, type Run, StorageUnavailable } from '../../store/command.ts'
import type { LeaseRef, queueCommands, UnknownPolicy } from './commands.ts'

export interface LeaseTerms {
  /** How long a lease is good without being renewed. */
  leaseMs: number
  /** Another process may hold leases, too: none is void but by its time. */
  isShared: boolean
  /** What becomes of deliveries whose lease nobody holds any more. */
  onUnknown: UnknownPolicy
}

/** @param isShared whether other processes may be at work on the same store */
export function leaseTerms(isShared: boolean, onUnknown: UnknownPolicy): LeaseTerms {
  return { leaseMs: isShared ? 30_000 : 15 * 60_000, isShared, onUnknown }
}

export interface LeaseWork {
  /** Resolves when nothing is under way. */
  stop(): Promise<void>
}

interface KeeperOptions {
  run: Run<Pick<typeof queueCommands, 'renewLeases'>>
  clock: Clock
  /** What is kept. */
  held(): LeaseRef[]
  leaseMs: number
  onError(error: unknown): void
}

/**
 * Renews the leases that are held, three times as often as need be: also late, while nobody has voided them.
 */
export function startLeaseKeeper({ run, clock, held, leaseMs, onError }: KeeperOptions): LeaseWork {
  return repeat(clock, leaseMs / 3, async () => {
    const leases = held()
    if (leases.length === 0) return
    await run('renewLeases', { leases, until: clock.now() + leaseMs }).catch(onError)
  })
}

interface HeldLeases {
  /** What the worker is to run its commands by. */
  run: Run<typeof queueCommands>
  all(): LeaseRef[]
}

export function trackLeases(run: Run<typeof queueCommands>): HeldLeases {
  const held = new Map<string, LeaseRef>()
  const tracked = async (name: keyof typeof queueCommands, input: never) => {
    if (name === 'release') held.delete(keyOf(input))
    try {
      const output = await run(name, input)
      if (name === 'finish') held.delete(keyOf(input))
      if (name === 'claim')
        for (const { deliveries } of output as Claim[])
          for (const { accountId, emailId, ordinal, attempt } of deliveries)
            held.set(keyOf({ emailId, ordinal }), { accountId, emailId, ordinal, attempt })
      return output
    } catch (error) {
      if (name === 'finish' && !(error instanceof StorageUnavailable)) held.delete(keyOf(input))
      throw error
    }
  }
  return { run: tracked as Run<typeof queueCommands>, all: () => [...held.values()] }
}

function keyOf({ emailId, ordinal }: Pick<LeaseRef, 'emailId' | 'ordinal'>): string {
  return `${idKey(emailId)} ${ordinal}`
}

/** By so much the wall clock and the one that only goes on part, where nobody sets it. */
const CLOCK_DRIFT_MS_MAX = 1_000

interface WatchOptions {
  run: Run<Pick<typeof queueCommands, 'voidLeases'>>
  clock: Clock
  leaseMs: number
  onUnknown: UnknownPolicy
  onVoided(count: number): void
  onError(error: unknown): void
}

/**
 * Voids leases that have run out: their holder is gone. While the database does not answer nobody can renew,
 * and so it must have answered for as long as a lease is good before any is taken for abandoned. A machine
 * that has stood still finds its own leases run out: they must have been so at the look before, too. One
 * whose time was set waits as for a database that comes back, by which all that live have renewed theirs.
 */
export function startLeaseWatch(options: WatchOptions): LeaseWork {
  const { run, clock, leaseMs, onUnknown, onVoided, onError } = options
  let answersSince = clock.monotonic()
  let lookedAt = 0
  let setBy = clock.now() - clock.monotonic()
  const wasSet = () => {
    const before = setBy
    setBy = clock.now() - clock.monotonic()
    return Math.abs(setBy - before) > CLOCK_DRIFT_MS_MAX
  }
  return repeat(clock, leaseMs / 6, async () => {
    try {
      if (wasSet()) answersSince = clock.monotonic()
      const mayVoid = clock.monotonic() - answersSince >= leaseMs
      const expiredBy = mayVoid ? lookedAt : 0
      lookedAt = clock.now()
      const count = await run('voidLeases', { owner: null, now: clock.now(), expiredBy, leaseMs, onUnknown })
      if (count > 0) onVoided(count)
    } catch (error) {
      answersSince = clock.monotonic()
      onError(error)
    }
  })
}

function repeat(clock: Clock, everyMs: number, work: () => Promise<void>): LeaseWork {
  let timer: Timer | undefined
  let working: Promise<void> = Promise.resolve()
  let isStopped = false
  const arm = () => {
    if (isStopped) return
    timer = clock.timer(everyMs, () => {
      working = work().then(arm)
    })
  }
  arm()
  return {
    async stop() {
      isStopped = true
      timer?.cancel()
      await working
    },
  }
}
