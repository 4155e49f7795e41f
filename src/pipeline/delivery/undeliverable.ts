/** Decides what happens to mail for a domain without a mail host. */
import type { Clock } from '../../lib/clock.ts'
import type { ExplanationCode } from '../../resources/emails/explanation/codes.ts'
import type { ClaimedDelivery } from '../../store/model/command.ts'
import type { Find } from '../../store/reading/read.ts'
import { type AttemptResult, resultWithoutHost } from './outcome/attempt-result.ts'
import type { RouteTarget } from './route.ts'

type NoRoute = Extract<RouteTarget, { kind: 'undeliverable' }>

/** Result of a delivery whose domain has no mail host. */
export type Undeliverable = (delivery: ClaimedDelivery, target: NoRoute) => Promise<AttemptResult>

/** The domain does not exist. A zone that is broken for a moment can cause the same answer. */
const NO_DOMAIN = '5.1.2'
/** The domain declares that it accepts no mail (RFC 7505). */
const NULL_MX = '5.1.10'
/** Mail for the domain would come back here. */
const LOOP = '5.4.6'
const CODES: Readonly<Record<string, ExplanationCode>> = {
  [NO_DOMAIN]: 'domain_not_found',
  [NULL_MX]: 'null_mx',
  [LOOP]: 'mail_loop',
}
/** Minimum time between two answers that the domain does not exist. */
const CONFIRMATION_MS_MIN = 300_000

/**
 * Mail to a missing domain is deferred at first and bounces when a later attempt gets the same answer. Only
 * that later attempt reads the delivery from the store.
 */
export function createUndeliverable({ find, clock }: { find: Find; clock: Clock }): Undeliverable {
  const isConfirmed = async ({ emailId, ordinal, attempt }: ClaimedDelivery, reason: string) => {
    if (attempt === 1) return false
    const [former] = await find('deliveries', [{ emailId, ordinal }], ['lastReply', 'lastAttemptAt'])
    if (former?.lastReply !== reason || former.lastAttemptAt === null) return false
    return clock.now() - former.lastAttemptAt >= CONFIRMATION_MS_MIN
  }

  return async (delivery, { enhanced, reason }) => {
    const isMissing = enhanced === NO_DOMAIN
    const isDomainFault = isMissing || enhanced === NULL_MX
    const bounceClass = isDomainFault ? 'bad-domain' : 'no-route'
    const cause = { code: CODES[enhanced] ?? 'no_mail_host' }
    if (isMissing && !(await isConfirmed(delivery, reason)))
      return { ...resultWithoutHost('deferred', bounceClass, reason, cause), hintMs: CONFIRMATION_MS_MIN }
    const bounced = resultWithoutHost('bounced', bounceClass, reason, cause)
    return { ...bounced, enhanced, blamesAddress: isDomainFault }
  }
}
