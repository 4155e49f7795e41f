/** Decides whether a domain that does not exist may exist later. */
import type { Clock } from '../../lib/clock.ts'
import type { ClaimedDelivery } from '../../store/model/command.ts'
import type { Find } from '../../store/reading/read.ts'
import { CONFIRMATION_MS_MIN } from './outcome/result-without-host.ts'

/** Whether the missing domain of a delivery may return, so that the delivery is deferred. */
export type MayReturn = (delivery: ClaimedDelivery, reason: string) => Promise<boolean>

/**
 * Mail to a missing domain is deferred at first and bounces when a later attempt gets the same answer. Only
 * that later attempt reads the delivery from the store.
 */
export function createMayReturn({ find, clock }: { find: Find; clock: Clock }): MayReturn {
  return async ({ emailId, ordinal, attempt }, reason) => {
    if (attempt === 1) return true
    const [former] = await find('deliveries', [{ emailId, ordinal }], ['lastReply', 'lastAttemptAt'])
    if (former?.lastReply !== reason || former.lastAttemptAt === null) return true
    return clock.now() - former.lastAttemptAt < CONFIRMATION_MS_MIN
  }
}
