/**
 * The size of the attacks. `ATTACK_SCALE=0.1` makes connections, bytes and durations smaller while one works
 * on the battery.
 */

export const SCALE = Number(process.env.ATTACK_SCALE ?? 1)

export const MIB = 1024 * 1024

/** A number of connections, requests or bytes at the scale of this run. */
export function scaled(full: number, min = 1): number {
  return Math.max(min, Math.round(full * SCALE))
}

export function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
