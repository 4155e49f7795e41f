/**
 * Runs all checks on one message. Each check has its own time limit, and a failing check never loses the
 * message.
 *
 * In: a message and its envelope. Out: the verdicts with the findings behind them, and the
 * Authentication-Results field. Called on the verdict thread (`workers/verdict.ts`); `verdicts.ts` calls that
 * thread.
 */
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import { authenticate } from './authentication.ts'
import { messageOf } from './bounded-check.ts'
import { unknownAuthentication, verdictsOf } from './conclusion.ts'
import type { BudgetedResolver } from './dns-budget.ts'
import type { ContentFilter } from './filter.ts'
import { createFilters, type FilterSettings } from './filters.ts'
import { createLongDnsWaits } from './long-dns-waits.ts'
import type { Envelope, Mail } from './mail.ts'
import type { MessageVerdicts, SpamFinding } from './verdict.ts'

interface JudgeOptions {
  /** authserv-id of this host. */
  mailHost: string
  resolver: BudgetedResolver
  filters: FilterSettings
  clock: Clock
  log: Log
}

/**
 * Never rejects. Checks that failed are PROCESSING_FAILED, with the reason in `detail`.
 *
 * @param resolver takes the place of the usual one for this message
 */
export type Judge = (mail: Mail, envelope: Envelope, resolver?: BudgetedResolver) => Promise<MessageVerdicts>

export function createJudge(options: JudgeOptions): Judge {
  const { mailHost, log } = options
  const { spam, virus } = createFilters(options.filters, options.clock)
  const longDnsWaits = createLongDnsWaits(options.clock)

  const authenticated = async (mail: Mail, envelope: Envelope, resolver: BudgetedResolver) => {
    try {
      return await authenticate(mail, envelope, { ...options, resolver })
    } catch (error) {
      log.error(
        { event: 'authentication_failed', err: error },
        'SPF, DKIM and DMARC of a received message could not be evaluated',
      )
      return unknownAuthentication(messageOf(error))
    }
  }
  return async (mail, envelope, resolver = options.resolver) => {
    const [authentication, filtered, scanned] = await Promise.all([
      longDnsWaits.limit(resolver, limited => authenticated(mail, envelope, limited)),
      spam && ask(spam, { by: spam.name as SpamFinding['by'] }, mail, envelope, log),
      virus && ask(virus, { by: 'clamd' as const }, mail, envelope, log),
    ])
    return verdictsOf(mailHost, authentication, filtered, scanned)
  }
}

type Failed<B> = { by: B; verdict: 'PROCESSING_FAILED'; reason: string }

async function ask<T, B>(
  filter: ContentFilter<T>,
  source: { by: B },
  mail: Mail,
  envelope: Envelope,
  log: Log,
): Promise<T | Failed<B>> {
  try {
    return await filter.ask(mail, envelope)
  } catch (error) {
    log.warn({ event: 'filter_failed', err: error }, `${filter.name} returned no verdict`)
    return { ...source, verdict: 'PROCESSING_FAILED', reason: `${filter.name}: ${messageOf(error)}` }
  }
}
