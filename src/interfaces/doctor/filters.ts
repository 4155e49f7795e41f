/** Whether the filters that received mail is shown to are there, and answer as they should. */
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

/** Finds nothing where none is configured. */
export function mailFilters({ filters, clock }: FiltersOptions): Examination {
  const { spam, virus } = createFilters(filters, clock)
  return {
    check: CHECK,
    examine: signal =>
      Promise.all(
        [spam, virus].flatMap(filter =>
          filter ? [look(filter, placeOf(filters, filter.name), signal)] : [],
        ),
      ),
  }
}

async function look(
  { name, ping }: Pick<ContentFilter<unknown>, 'name' | 'ping'>,
  place: string,
  signal: AbortSignal,
) {
  try {
    await ping(signal)
    return good(CHECK, name, `It answers at ${place}.`)
  } catch (error) {
    const message = `It does not answer as it should at ${place}: ${(error as Error).message}.`
    const advice = `Received mail gets no verdict of it: start it, or see to ${KEYS[name]}.`
    return bad('warning', CHECK, name, message, advice)
  }
}

function placeOf({ rspamdUrl, spamd, clamd }: FilterSettings, name: ContentFilter<unknown>['name']): string {
  if (name === 'rspamd') return rspamdUrl!
  return addressText((name === 'spamd' ? spamd : clamd)!)
}
