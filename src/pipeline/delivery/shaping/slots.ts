/**
 * The deliveries a thread has under way, at all sites together. Sites from which nothing good has been heard
 * share a part of them, so that dead and slow ones, however many, leave room for those that answer.
 */
import { type Id, idKey } from '../../../lib/ids.ts'
import type { AdaptiveLimit } from './adaptive-limit.ts'

export interface SlotOptions {
  adaptiveLimit: AdaptiveLimit
  /** At once, in all. */
  most: number
  /** Of one account. */
  mostOfAccount: number
}

export interface Slots {
  /**
   * How many may be under way at an unproven site that has `active` of them; a proven one is bounded by its
   * window.
   */
  allows(isProven: boolean, active: number): boolean
  hasRoomFor(accountId: Id): boolean
  /** None may begin. */
  readonly isFull: boolean
  /** So many are free that one may be taken before it is needed. */
  readonly isRoomy: boolean
  /** Mail is under way to sites that answer. */
  readonly isBusy: boolean
  /** @returns gives the slot back */
  take(isProven: boolean, accountId: Id): () => void
  /** @param listener called when there may be slots though none was given back */
  onRoom(listener: () => void): void
}

/** Unproven sites get one slot each from the first part on, and none beyond the second. */
const UNPROVEN_FIRST_SHARE = 0.25
const UNPROVEN_SHARE_MAX = 0.75
const ROOMY_SHARE_MAX = 0.5

export function createSlots({ adaptiveLimit, most, mostOfAccount }: SlotOptions): Slots {
  const byAccount = new Map<string, number>()
  let taken = 0
  let unproven = 0

  const isFull = () => taken >= most || adaptiveLimit.room === 0

  return {
    allows(isProven, active) {
      if (isFull()) return false
      if (isProven) return true
      return unproven < most * (active === 0 ? UNPROVEN_SHARE_MAX : UNPROVEN_FIRST_SHARE)
    },
    get isFull() {
      return isFull()
    },
    get isRoomy() {
      return taken < most * ROOMY_SHARE_MAX
    },
    get isBusy() {
      return taken > unproven
    },
    hasRoomFor: accountId => (byAccount.get(idKey(accountId)) ?? 0) < mostOfAccount,
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
    onRoom: adaptiveLimit.onRoom,
  }
}
