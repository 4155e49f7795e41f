/** What an attempt adds to the counters of the site it went to. */

import type { DeliveryStatus } from '../../../store/schema.ts'
import type { Finish } from '../../queue/commands.ts'
import { type Destination, type DestinationResult, replyFormOf } from '../../queue/destinations.ts'
import type { DeliveryRoute } from '../route.ts'
import type { Ending } from './finish.ts'

const RESULTS: Partial<Record<DeliveryStatus, DestinationResult>> = {
  delivered: 'delivered',
  delivery_delayed: 'deferred',
  bounced: 'bounced',
  failed: 'expired',
}

/** Null where nobody is spoken to. */
export function countedSite({ site, destination: { kind } }: DeliveryRoute): string | null {
  return kind === 'hosts' || kind === 'smart-host' ? site : null
}

/** Undefined for what is not counted. */
export function destinationOf(
  site: string,
  { class: why, text }: Ending,
  { status }: Pick<Finish, 'status'>,
): Destination | undefined {
  const result = RESULTS[status]
  if (result === undefined) return undefined
  if (result === 'delivered') return { site, result, class: null, replyForm: null }
  return { site, result, class: why, replyForm: replyFormOf(text) }
}
