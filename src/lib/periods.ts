/** Names of UTC days and months, which counters use as periods. */

/** @returns the day, such as `2026-11-21` */
export function utcDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** Whether the text is a day that is in the calendar. */
export function isUtcDay(text: string): boolean {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(at) && utcDay(at) === text
}

/** @returns the month, such as `2026-11` */
export function utcMonth(at: number): string {
  return new Date(at).toISOString().slice(0, 7)
}

/** @returns start of the next UTC day, in ms since the epoch */
export function nextUtcDay(at: number): number {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 1)
}

/** @returns start of the next UTC month, in ms since the epoch */
export function nextUtcMonth(at: number): number {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}

/** @returns start of the UTC day, in ms since the epoch */
export function startOfUtcDay(at: number): number {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate())
}

/** @returns start of the UTC month, in ms since the epoch */
export function startOfUtcMonth(at: number): number {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}
