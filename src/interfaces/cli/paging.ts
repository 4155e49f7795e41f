/** Which part of a long list is shown. */
import { UsageError } from './result.ts'

export interface CliPage {
  limit: number
  offset: number
}

export const PAGING = { limit: { type: 'string' }, offset: { type: 'string' } } as const
export const PAGING_USAGE = '[--limit <n>] [--offset <n>]'

export function pagingDetails(what: string, shown: number): string {
  return `  --limit <n>   So many ${what}; ${shown} without it.\n  --offset <n>  Passes over so many.`
}

/** @throws UsageError */
export function cliPageOf(
  { limit, offset }: Readonly<Record<string, string | boolean | undefined>>,
  shown: number,
): CliPage {
  return { limit: numberOf('limit', limit, shown, 1), offset: numberOf('offset', offset, 0, 0) }
}

/** What to say below a page that is not all; undefined below one that is. */
export function more({ limit, offset }: CliPage, shown: number, total: number): string | undefined {
  if (offset + shown >= total) return offset > 0 && shown === 0 ? `There are ${total}.` : undefined
  return `${offset + 1} to ${offset + shown} of ${total} are shown; --offset ${offset + limit} shows more.`
}

function numberOf(name: string, text: string | boolean | undefined, fallback: number, least: number): number {
  if (text === undefined) return fallback
  const value = typeof text === 'string' && /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least) return value
  throw new UsageError(`--${name} takes a whole number from ${least} to 999999`)
}
