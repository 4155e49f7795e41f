/** Options for paging through long lists. */
import { UsageError } from './control/result.ts'

export interface CliPage {
  limit: number
  offset: number
}

export const PAGING = { limit: { type: 'string' }, offset: { type: 'string' } } as const
export const PAGING_USAGE = '[--limit <n>] [--offset <n>]'

export function pagingDetails(what: string, shown: number): string {
  return `  --limit <n>   Show at most n ${what} (default: ${shown}).\n  --offset <n>  Skip the first n.`
}

/** @throws UsageError */
export function cliPageOf(
  { limit, offset }: Readonly<Record<string, string | boolean | undefined>>,
  shown: number,
): CliPage {
  return { limit: numberOf('limit', limit, shown, 1), offset: numberOf('offset', offset, 0, 0) }
}

/** Footer of a partial page; undefined if the page is complete. */
export function more({ limit, offset }: CliPage, shown: number, total: number): string | undefined {
  if (offset + shown >= total) return offset > 0 && shown === 0 ? `There are only ${total}.` : undefined
  return `Showing ${offset + 1} to ${offset + shown} of ${total}; use --offset ${offset + limit} to show more.`
}

function numberOf(name: string, text: string | boolean | undefined, fallback: number, min: number): number {
  if (text === undefined) return fallback
  const value = typeof text === 'string' && /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min) return value
  throw new UsageError(`--${name} must be an integer from ${min} to 999999`)
}
