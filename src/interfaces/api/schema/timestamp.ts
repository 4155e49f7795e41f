/** Formats times for the wire: ISO 8601 in UTC, with milliseconds and `Z`. */

export function timestamp(at: number): string
export function timestamp(at: number | null): string | null
export function timestamp(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}
