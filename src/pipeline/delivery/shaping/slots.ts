/**
 * Slots of a delivery thread, for the deliveries to all destinations together. Destinations that have not
 * answered yet may use only a part of the slots, so that dead or slow ones cannot take all of them.
 */
import { type Id, idKey } from '../../../lib/ids.ts'
import type { AdaptiveLimit } from './adaptive-limit.ts'

interface SlotOptions {
  adaptiveLimit: AdaptiveLimit
  /** Deliveries in progress at once. */
  max: number
  /** Deliveries of one account in progress at once. */
  maxPerAccount: number
}

/**
 * `thread-slots`: the thread has as many deliveries in progress as it may have. `adaptive-limit`: the thread
 * has no CPU time left. `unproven-share`: destinations that have not answered yet use their share of the
 * slots.
 */
export type SlotGate = 'thread-slots' | 'adaptive-limit' | 'unproven-share'

export interface Slots {
  /**
   * @returns the gate that refuses one more delivery beside `others` of its path; undefined when it may start
   */
  refusedBy(isProven: boolean, others: number): SlotGate | undefined
  hasRoomFor(accountId: Id): boolean
  /** True when no delivery may start. */
  readonly isFull: boolean
  /**
   * True when so many slots are free that a pipelined delivery may take one before the connection is free.
   */
  readonly isRoomy: boolean
  /** True while deliveries to destinations that answer are in progress. */
  readonly isBusy: boolean
  /** @returns a function that frees the slot */
  take(isProven: boolean, accountId: Id): () => void
  /**
   * Takes one of the few places beside the slots, for a delivery that waits for a slow host.
   * @returns a function that frees the place; undefined when there is none
   */
  park(): (() => void) | undefined
  /** @param listener called when deliveries may start again although no slot was freed */
  onRoom(listener: () => void): void
}

/**
 * An unproven destination may use several slots while all of them together use less than this share, and one
 * slot up to the maximum.
 */
const UNPROVEN_FIRST_SHARE = 0.25
const UNPROVEN_SHARE_MAX = 0.75
const ROOMY_SHARE_MAX = 0.5
/** Places for parked deliveries, as a share of the slots. `fd-budget.ts` leaves descriptors for them. */
const PARKED_SHARE = 0.125

export function createSlots({ adaptiveLimit, max, maxPerAccount }: SlotOptions): Slots {
  const byAccount = new Map<string, number>()
  let taken = 0
  let unproven = 0
  let parked = 0

  const isFull = () => taken >= max || adaptiveLimit.room === 0

  return {
    refusedBy(isProven, others) {
      if (taken >= max) return 'thread-slots'
      if (adaptiveLimit.room === 0) return 'adaptive-limit'
      if (isProven) return undefined
      const share = others === 0 ? UNPROVEN_SHARE_MAX : UNPROVEN_FIRST_SHARE
      return unproven < max * share ? undefined : 'unproven-share'
    },
    get isFull() {
      return isFull()
    },
    get isRoomy() {
      return taken < max * ROOMY_SHARE_MAX
    },
    get isBusy() {
      return taken > unproven
    },
    hasRoomFor: accountId => (byAccount.get(idKey(accountId)) ?? 0) < maxPerAccount,
    take(isProven, accountId) {
      const key = idKey(accountId)
      byAccount.set(key, (byAccount.get(key) ?? 0) + 1)
      taken++
      if (!isProven) unproven++
      const leave = adaptiveLimit.enter()
      return () => {
        leave()
        const left = byAccount.get(key)! - 1
        if (left === 0) byAccount.delete(key)
        else byAccount.set(key, left)
        taken--
        if (!isProven) unproven--
      }
    },
    park() {
      if (parked >= Math.ceil(max * PARKED_SHARE)) return undefined
      parked++
      return () => void parked--
    },
    onRoom: adaptiveLimit.onRoom,
  }
}
