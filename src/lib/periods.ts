/** Names of UTC days and months, as counters use them. */

/** `2026-11-21` */
export function utcDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** Whether a text names one that is in the calendar. */
export function isUtcDay(text: string): boolean {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(at) && utcDay(at) === text
}

/** `2026-11` */
export function utcMonth(at: number): string {
  return new Date(at).toISOString().slice(0, 7)
}

/** Epoch ms at which the next UTC day begins. */
export function nextUtcDay(at: number): number {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 1)
}

/** Epoch ms at which the next UTC month begins. */
export function nextUtcMonth(at: number): number {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}
