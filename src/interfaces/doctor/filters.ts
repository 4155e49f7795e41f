/** Checks whether the configured spam and virus filters for inbound email respond. */
import type { Clock } from '../../lib/clock.ts'
import { addressText } from '../../pipeline/inbound/verdicts/exchange.ts'
import type { ContentFilter } from '../../pipeline/inbound/verdicts/filter.ts'
import { createFilters, type FilterSettings } from '../../pipeline/inbound/verdicts/filters.ts'
import { bad, type Examination, good } from './finding.ts'

interface FiltersOptions {
  filters: FilterSettings
  clock: Clock
}

const CHECK = 'mail_filters'
const KEYS = { rspamd: 'spam.rspamd_url', spamd: 'spam.spamd', clamd: 'virus.clamd' }

/** Without configured filters there are no findings. */
export function mailFilters({ filters, clock }: FiltersOptions): Examination {
  const { spam, virus } = createFilters(filters, clock)
  return {
    check: CHECK,
    examine: signal =>
      Promise.all(
        [spam, virus].flatMap(filter =>
          filter ? [examineFilter(filter, placeOf(filters, filter.name), signal)] : [],
        ),
      ),
  }
}

async function examineFilter(
  { name, ping }: Pick<ContentFilter<unknown>, 'name' | 'ping'>,
  place: string,
  signal: AbortSignal,
) {
  try {
    await ping(signal)
    return good(CHECK, name, `The filter responds at ${place}.`)
  } catch (error) {
    const message = `The filter does not respond correctly at ${place}: ${(error as Error).message}.`
    const advice = `Inbound email is not checked by this filter. Start it, or correct ${KEYS[name]}.`
    return bad('warning', CHECK, name, message, advice)
  }
}

function placeOf({ rspamdUrl, spamd, clamd }: FilterSettings, name: ContentFilter<unknown>['name']): string {
  if (name === 'rspamd') return rspamdUrl!
  return addressText((name === 'spamd' ? spamd : clamd)!)
}
