/**
 * Limits how many messages are written to a file while they are received. When all slots are taken, a new
 * message evicts one that is much slower, or one from a netblock that has more than its guaranteed slots.
 */
import type { Clock } from '../../lib/clock.ts'
import { countByNetblock, slowestOfLargest } from './eviction.ts'
import { FAST_BYTES_PER_SECOND, type MinDataRate } from './min-data-rate.ts'

interface LargeMessages {
  /** Takes a slot, evicting another message if necessary. @returns false when no slot can be had */
  enter(one: MinDataRate): boolean
  /** Releases the slot of the message, if it has one. */
  leave(one: MinDataRate): void
}

/** Slots that a netblock does not lose to messages from other netblocks. */
const GUARANTEED_PER_NETBLOCK = 8
const ENDED = '4.4.2 Too many large messages at once, and this one came in slowest; try again later'

export function createLargeMessages(max: number, clock: Pick<Clock, 'monotonic'>): LargeMessages {
  const held = new Set<MinDataRate>()

  const victimFor = (one: MinDataRate): MinDataRate | undefined => {
    const now = clock.monotonic()
    const candidates = [...held]
      .filter(transfer => !transfer.isHeldUp())
      .map(transfer => ({
        transfer,
        netblock: transfer.netblock,
        bytesPerSecond: transfer.bytesPerSecond(now),
        since: 0,
      }))
    const limit = Math.min(FAST_BYTES_PER_SECOND, one.bytesPerSecond(now) / 2)
    const slow = candidates.filter(({ bytesPerSecond }) => bytesPerSecond < limit)
    if (slow.length > 0) return slowestOfLargest(slow)?.transfer
    const counts = countByNetblock(held)
    if ((counts.get(one.netblock) ?? 0) >= GUARANTEED_PER_NETBLOCK) return undefined
    return slowestOfLargest(
      candidates.filter(({ netblock }) => counts.get(netblock)! > GUARANTEED_PER_NETBLOCK),
    )?.transfer
  }

  return {
    enter(one) {
      if (held.size >= max) {
        const victim = victimFor(one)
        if (!victim) return false
        held.delete(victim)
        victim.stop(ENDED)
      }
      held.add(one)
      return true
    },
    leave: one => void held.delete(one),
  }
}
