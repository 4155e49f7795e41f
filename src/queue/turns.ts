/** Whose turn it is: sites take turns while they have room, and the lanes of a site by the weight of their class. */
import { DELIVERY_CLASS } from '../store/schema.ts'
import type { BookedLane } from './lane-book.ts'

/** Claim at most `limit` deliveries of the lane, for the site. */
export interface Turn {
  lane: BookedLane
  site: string
  limit: number
}

export interface Turns {
  add(site: string, lane: BookedLane): void
  /** The next turns of all sites with room. A site without room is passed over until `reopen`. */
  next(roomOf: (site: string) => number): Turn[]
  /** The site has room again. False when nothing waits for it. */
  reopen(site: string): boolean
}

/** How many deliveries of a lane one turn takes: 8 to 3 to 1 (deficit round robin). */
const QUANTUM: Record<number, number> = {
  [DELIVERY_CLASS.transactional]: 16,
  [DELIVERY_CLASS.broadcast]: 6,
  [DELIVERY_CLASS.retry]: 2,
}
const MOST_TURNS = 100

export function createTurns(): Turns {
  /** Lanes by site, in the order of their turns; a site with none is not listed. */
  const waiting = new Map<string, BookedLane[]>()
  /** Sites that may have room, in the order of their turns. */
  const open = new Set<string>()

  const turnsOf = (site: string, lanes: BookedLane[], room: number, most: number): Turn[] => {
    const turns: Turn[] = []
    for (let left = room; left > 0 && lanes.length > 0 && turns.length < most; ) {
      const lane = lanes.shift()!
      const limit = Math.min(QUANTUM[lane.class] ?? 1, left)
      left -= limit
      turns.push({ lane, site, limit })
    }
    return turns
  }

  return {
    add(site, lane) {
      const lanes = waiting.get(site)
      if (lanes) lanes.push(lane)
      else waiting.set(site, [lane])
      open.add(site)
    },
    next(roomOf) {
      const turns: Turn[] = []
      for (const site of [...open].slice(0, MOST_TURNS)) {
        const lanes = waiting.get(site)!
        turns.push(...turnsOf(site, lanes, roomOf(site), MOST_TURNS - turns.length))
        open.delete(site)
        if (lanes.length === 0) waiting.delete(site)
        else if (turns.length >= MOST_TURNS) open.add(site)
        if (turns.length >= MOST_TURNS) break
      }
      return turns
    },
    reopen(site) {
      if (!waiting.has(site)) return false
      open.add(site)
      return true
    },
  }
}
