/**
 * Renews the leases of a worker, and reclaims those of workers that have died. The duration of a lease
 * depends on whether several processes share the store.
 */
import type { Clock, Timer } from '../../lib/clock.ts'
import { idKey } from '../../lib/ids.ts'
import { type Claim, type Run, StorageUnavailable } from '../../store/model/command.ts'
import type { LeaseRef, queueCommands, UnknownPolicy } from './commands.ts'

export interface LeaseTerms {
  /** Duration of a lease that is not renewed, in ms. */
  leaseMs: number
  /** Another process may hold leases, too, so that a lease is reclaimed only after it has expired. */
  isShared: boolean
  /** Treatment of deliveries whose leases are reclaimed. */
  onUnknown: UnknownPolicy
}

/** @param isShared is true when other processes may use the same store */
export function leaseTerms(isShared: boolean, onUnknown: UnknownPolicy): LeaseTerms {
  return { leaseMs: isShared ? 30_000 : 15 * 60_000, isShared, onUnknown }
}

export interface LeaseWork {
  /** Resolves when no command is in progress. */
  stop(): Promise<void>
}

interface KeeperOptions {
  run: Run<Pick<typeof queueCommands, 'renewLeases'>>
  clock: Clock
  /** Leases to renew. */
  held(): LeaseRef[]
  leaseMs: number
  onError(error: unknown): void
}

/**
 * Renews the held leases three times per lease duration. An expired lease can still be renewed until it is
 * reclaimed.
 */
export function startLeaseKeeper({ run, clock, held, leaseMs, onError }: KeeperOptions): LeaseWork {
  return repeat(clock, leaseMs / 3, async () => {
    const leases = held()
    if (leases.length === 0) return
    await run('renewLeases', { leases, until: clock.now() + leaseMs }).catch(onError)
  })
}

/**
 * Leases that a worker has been given and has neither finished nor returned. A lease whose claim was
 * committed but never answered is not among them; it expires.
 */
interface HeldLeases {
  /** The worker runs its commands through this function. */
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

/** Difference in ms between wall clock and monotonic clock above which the wall clock has been set. */
const CLOCK_DRIFT_MS_MAX = 1_000

interface WatchOptions {
  run: Run<Pick<typeof queueCommands, 'reclaimLeases'>>
  clock: Clock
  leaseMs: number
  onUnknown: UnknownPolicy
  onReclaimed(count: number): void
  onError(error: unknown): void
}

/**
 * Reclaims leases that have expired, because their holder is gone. Three rules protect holders that live:
 * - Nobody can renew while the database does not answer, so it must have answered for a whole lease duration.
 * - After a suspension of the machine its own leases have expired, so a lease must have been expired at the
 *   previous check already.
 * - After the wall clock was set, the watch waits a lease duration, in which all holders renew.
 */
export function startLeaseWatch(options: WatchOptions): LeaseWork {
  const { run, clock, leaseMs, onUnknown, onReclaimed, onError } = options
  let answersSince = clock.monotonic()
  let checkedAt = 0
  let clockOffset = clock.now() - clock.monotonic()
  const wasClockSet = () => {
    const before = clockOffset
    clockOffset = clock.now() - clock.monotonic()
    return Math.abs(clockOffset - before) > CLOCK_DRIFT_MS_MAX
  }
  return repeat(clock, leaseMs / 6, async () => {
    try {
      if (wasClockSet()) answersSince = clock.monotonic()
      const mayReclaim = clock.monotonic() - answersSince >= leaseMs
      const expiredBy = mayReclaim ? checkedAt : 0
      checkedAt = clock.now()
      const count = await run('reclaimLeases', {
        owner: null,
        now: clock.now(),
        expiredBy,
        leaseMs,
        onUnknown,
      })
      if (count > 0) onReclaimed(count)
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
