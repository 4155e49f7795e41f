/** UTC days and months as counters name them. */

/** `2026-11-21` */
export function utcDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** `2026-11` */
export function utcMonth(at: number): string {
  return new Date(at).toISOString().slice(0, 7)
}
