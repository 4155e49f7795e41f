/** What becomes of mail that has nowhere to go. */
import type { Clock } from '../../lib/clock.ts'
import type { ClaimedDelivery } from '../../store/command.ts'
import type { Find } from '../../store/read.ts'
import type { AttemptResult } from './outcome/finish.ts'
import type { RouteTarget } from './route.ts'

type NoRoute = Extract<RouteTarget, { kind: 'undeliverable' }>

/** How a delivery ends whose domain has no host. */
export type Undeliverable = (delivery: ClaimedDelivery, target: NoRoute) => Promise<AttemptResult>

/** No such domain; what only a zone that was broken for a moment may say. */
const NO_DOMAIN = '5.1.2'
/** The domain's own word that it takes no mail (RFC 7505). */
const NULL_MX = '5.1.10'
/** At least so long after it was missing first a domain must be missing again. */
const CONFIRMATION_MS_MIN = 300_000

/** That a domain does not exist is believed at the second look, which alone costs a read of the delivery. */
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
    const common = { class: bounceClass, phase: 'dns', reply: null, text: reason, hostAttempts: [] } as const
    if (isMissing && !(await isConfirmed(delivery, reason)))
      return { ...common, kind: 'deferred', hintMs: CONFIRMATION_MS_MIN }
    return { ...common, kind: 'bounced', enhanced, blamesAddress: isDomainFault }
  }
}
