/** Creates the spam and virus filters that the configuration names. */
import type { Clock } from '../../../lib/clock.ts'
import { createClamd } from './clamd.ts'
import type { FilterAddress } from './exchange.ts'
import type { ContentFilter } from './filter.ts'
import { createRspamd } from './rspamd.ts'
import { createSpamd } from './spamd.ts'
import type { SpamFinding, VirusFinding } from './verdict.ts'

/** Configured filters; null for none. At most one of rspamd and spamd is configured. */
export interface FilterSettings {
  rspamdUrl: string | null
  spamd: FilterAddress | null
  clamd: FilterAddress | null
}

export interface Filters {
  spam: ContentFilter<SpamFinding> | undefined
  virus: ContentFilter<VirusFinding> | undefined
}

export function createFilters({ rspamdUrl, spamd, clamd }: FilterSettings, clock: Clock): Filters {
  return {
    spam: createSpamFilter(rspamdUrl, spamd, clock),
    virus: clamd === null ? undefined : createClamd(clamd, { clock }),
  }
}

function createSpamFilter(
  rspamdUrl: string | null,
  spamd: FilterAddress | null,
  clock: Clock,
): Filters['spam'] {
  if (rspamdUrl !== null) return createRspamd(rspamdUrl, { clock })
  return spamd === null ? undefined : createSpamd(spamd, { clock })
}
