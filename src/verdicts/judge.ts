/** All verdicts on one message: each within its own time, and none of them ever a reason to lose it. */
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { authenticate } from './authentication.ts'
import { createClamd } from './clamd.ts'
import type { FilterAddress } from './exchange.ts'
import type { Filter } from './filter.ts'
import type { Envelope, Mail } from './mail.ts'
import { messageOf } from './part.ts'
import type { AskingResolver } from './questions.ts'
import { resultsValue } from './results-field.ts'
import { createRspamd } from './rspamd.ts'
import { scoreOf } from './score.ts'
import { createSpamd } from './spamd.ts'
import {
  type Authentication,
  type Finding,
  type SpamFinding,
  type Verdicts,
  type VirusFinding,
  wordOf,
} from './verdict.ts'

/** Filters that are asked; null where there is none. One of the first two at most. */
export interface FilterSettings {
  rspamdUrl: string | null
  spamd: FilterAddress | null
  clamd: FilterAddress | null
}

export interface JudgeOptions {
  /** Our authserv-id. */
  mailHost: string
  resolver: AskingResolver
  filters: FilterSettings
  clock: Clock
  log: Log
}

export interface Filters {
  spam: Filter<SpamFinding> | undefined
  virus: Filter<VirusFinding> | undefined
}

/** Never throws: what could not be found out is PROCESSING_FAILED, with why in `detail`. */
export type Judge = (mail: Mail, envelope: Envelope) => Promise<Verdicts>

export function createJudge(options: JudgeOptions): Judge {
  const { mailHost, log } = options
  const { spam, virus } = createFilters(options.filters, options.clock)

  const authenticated = async (mail: Mail, envelope: Envelope) => {
    try {
      return await authenticate(mail, envelope, options)
    } catch (error) {
      log.error({ err: error }, 'received mail could not be authenticated')
      return unknownAuthentication(messageOf(error))
    }
  }
  return async (mail, envelope) => {
    const [authentication, filtered, scanned] = await Promise.all([
      authenticated(mail, envelope),
      spam && ask(spam, { by: spam.name as SpamFinding['by'] }, mail, envelope, log),
      virus && ask(virus, { by: 'clamd' as const }, mail, envelope, log),
    ])
    return verdictsOf(mailHost, authentication, filtered, scanned)
  }
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

/** Everything that a judgement consists of. */
export function verdictsOf(
  mailHost: string,
  authentication: Authentication,
  spam: SpamFinding = scoreOf(authentication),
  virus: VirusFinding = { by: 'nothing', verdict: 'DISABLED' },
): Verdicts {
  return {
    spf: wordOf(authentication.spf),
    dkim: wordOf(authentication.dkim),
    dmarc: wordOf(authentication.dmarc),
    arc: wordOf(authentication.arc),
    spam: spam.verdict,
    virus: virus.verdict,
    authenticationResults: resultsValue(mailHost, authentication),
    detail: { ...authentication, spam, virus },
  }
}

/** Of a message that nothing is known of. */
export function unknownAuthentication(reason: string): Authentication {
  const fault: Finding = { result: 'temperror', reason }
  return { spf: fault, dkim: { ...fault, signatures: [] }, dmarc: fault, arc: fault }
}

type Failed<B> = { by: B; verdict: 'PROCESSING_FAILED'; reason: string }

async function ask<T, B>(
  filter: Filter<T>,
  told: { by: B },
  mail: Mail,
  envelope: Envelope,
  log: Log,
): Promise<T | Failed<B>> {
  try {
    return await filter.ask(mail, envelope)
  } catch (error) {
    log.warn({ err: error }, `${filter.name} gave no verdict`)
    return { ...told, verdict: 'PROCESSING_FAILED', reason: `${filter.name}: ${messageOf(error)}` }
  }
}
