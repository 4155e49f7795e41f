/** Times on the wire: ISO 8601, UTC, with milliseconds and `Z`. */

export function timestamp(at: number): string
export function timestamp(at: number | null): string | null
export function timestamp(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}
