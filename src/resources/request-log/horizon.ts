/** Retention of the request log: that of the setting, at most that of the plan. */

const DAY_MS = 86_400_000

/**
 * @param planHorizon time up to which the plan has mail deleted, in ms since the epoch
 * @returns the time up to which requests are deleted
 */
export function logHorizon(planHorizon: number, retentionDays: number, now: number): number {
  return Math.max(planHorizon, now - retentionDays * DAY_MS)
}
