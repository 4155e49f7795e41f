/** Whoever sends a message must come forward: bytes that trickle hold a connection, and room, for hours. */
import type { Clock } from '../lib/clock.ts'

const LOOK_EVERY_MS = 60_000
/** In that time: 1 KB a second. */
const LEAST_BYTES = 60 * 1024

export interface Pace {
  add(bytes: number): void
  end(): void
}

/** @param onSlow called once, when too little has come */
export function watchPace(clock: Clock, onSlow: () => void): Pace {
  let came = 0
  const look = () => {
    if (came < LEAST_BYTES) return onSlow()
    came = 0
    timer = clock.timer(LOOK_EVERY_MS, look)
  }
  let timer = clock.timer(LOOK_EVERY_MS, look)
  return {
    add(bytes) {
      came += bytes
    },
    end: () => timer.cancel(),
  }
}
