/**
 * Decides what an egress path takes: how many further deliveries may be claimed for it, and whether the next
 * claimed one may start now. All limits of the path and of its thread are asked here.
 *
 * In: the state of the path (`egress-path.ts`) and of the thread (`slots.ts`). Out: a capacity, or the
 * delivery to start, or the name of the gate that refused. Called by `destination-paths.ts` (claims) and
 * `slot-runner.ts` (starts).
 */
import type { ClaimedDelivery } from '../../../store/model/command.ts'
import type { Capacity } from '../../queue/fair-scheduler.ts'
import type { EgressPath } from './egress-path.ts'
import type { SlotGate, Slots } from './slots.ts'

/**
 * Why the next delivery of a path cannot start. `empty`: nothing is claimed. `circuit-breaker`: the
 * destination failed, and no delivery or only one probe is allowed. `window`: the concurrency limit is
 * reached. `rate-limit`: the token bucket is empty. `warm-up`: nothing more is granted to the source address
 * now. `account-share`: each account with claimed mail has as many deliveries in progress as it may have.
 */
export type Gate =
  | 'empty'
  | 'circuit-breaker'
  | 'window'
  | 'rate-limit'
  | 'warm-up'
  | SlotGate
  | 'account-share'

export const NO_CAPACITY: Capacity = { any: 0, transactional: 0 }
const CAPACITY_FOR_ONE: Capacity = { any: 1, transactional: 1 }
/**
 * Deliveries claimed per slot of the window, so that a free slot does not wait for the commit of the next
 * claim.
 */
const CLAIMED_PER_SLOT_MAX = 3

/**
 * Takes the next delivery of the path out of its ready queue, if all gates are open. They are asked in a
 * fixed order, and the first one that refuses is named. `rate-limit` and `warm-up` wake the path later; the
 * gates of the thread do not.
 * @param others number of deliveries in progress on the path that will still be in progress beside the next
 * one
 */
export function admitNext(path: EgressPath, slots: Slots, others: number): ClaimedDelivery | Gate {
  const { breaker, ready, rateLimit, warmupBudget } = path
  if (ready.length === 0) return 'empty'
  if (others >= widthOf(path)) return breaker.isOpen || breaker.isHalfOpen ? 'circuit-breaker' : 'window'
  if (!rateLimit.allows()) return 'rate-limit'
  if (!ready.has(warmupBudget.allows)) return 'warm-up'
  const gate = slots.refusedBy(path.isProven, others)
  return gate ?? ready.next(warmupBudget.allows, slots.hasRoomFor) ?? 'account-share'
}

/**
 * Returns the number of deliveries that may be in progress on the path now. Pipelined ones are not counted.
 */
export function widthOf(path: EgressPath): number {
  const { breaker, window } = path
  if (breaker.isOpen) return 0
  if (awaitsFirstAnswer(path)) return 1
  return breaker.isHalfOpen ? 1 : window.size
}

/**
 * Whether the first delivery of a new path waits for a slow host. Until it knows more, no other one is tried.
 */
function awaitsFirstAnswer({ isParked, isProven }: EgressPath): boolean {
  return isParked && !isProven
}

/**
 * Returns the number of further deliveries to claim for the path. Capacity is offered once a third of the
 * maximum is free, so that claims are few and large and come before the ready queue runs dry. Deliveries that
 * can start at once are always offered, however many are claimed for other paths.
 * @param ahead number of further deliveries that may be claimed ahead on all paths together
 */
export function capacityOf(path: EgressPath, ahead: number): Capacity {
  const { any, transactional } = capacityByWindow(path, ahead)
  const { isSpent } = path.warmupBudget
  return { any: isSpent(false) ? 0 : any, transactional: isSpent(true) ? 0 : transactional }
}

function capacityByWindow(path: EgressPath, ahead: number): Capacity {
  const { window, breaker, ready, active } = path
  if (breaker.isOpen || awaitsFirstAnswer(path)) return NO_CAPACITY
  if (breaker.isHalfOpen) return isIdlePath(path) ? CAPACITY_FOR_ONE : NO_CAPACITY
  const max = window.size * CLAIMED_PER_SLOT_MAX
  const atOnce = Math.max(0, window.size - active - ready.length)
  const offer = (room: number) => (room * 3 < max ? 0 : Math.min(room, Math.max(atOnce, ahead)))
  const { any, transactional } = ready.capacity(max)
  return { any: offer(any), transactional: offer(transactional) }
}

/** Whether the path takes one more claimed delivery of the class without exceeding its maximum. */
export function bearsMore(path: EgressPath, isTransactional: boolean): boolean {
  if (path.breaker.isOpen || awaitsFirstAnswer(path)) return false
  if (path.breaker.isHalfOpen) return isIdlePath(path)
  const { any, transactional } = path.ready.capacity(path.window.size * CLAIMED_PER_SLOT_MAX)
  return (isTransactional ? transactional : any) > 0
}

/**
 * Whether the path sends nothing of the class for now: its circuit breaker is open or its warm-up budget is
 * spent.
 */
export function isClosed({ breaker, warmupBudget }: EgressPath, isTransactional: boolean): boolean {
  return breaker.isOpen || warmupBudget.isSpent(isTransactional)
}

/**
 * Whether deliveries may be pipelined on the path's connections: at least as many are ready as are in
 * progress, so they would wait anyway, and no gate asks for restraint.
 */
export function isCrowded({ active, ready, isProven, rateLimit, breaker }: EgressPath): boolean {
  const isCareful = !isProven || breaker.isHalfOpen || rateLimit.perSecond !== null
  return !isCareful && ready.length >= active
}

export function isIdlePath({ active, ready }: EgressPath): boolean {
  return active + ready.length === 0
}
