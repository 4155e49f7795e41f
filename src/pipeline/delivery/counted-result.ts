/** Result of an attempt as the counters of its destination record it. */

import type { DeliveryStatus } from '../../store/model/schema.ts'
import type { Finish } from '../queue/commands.ts'
import { type Destination, type DestinationResult, replyFormOf } from '../queue/destinations.ts'
import type { AttemptResult } from './outcome/finish.ts'
import type { DeliveryRoute } from './route.ts'

const RESULTS: Partial<Record<DeliveryStatus, DestinationResult>> = {
  delivered: 'delivered',
  delivery_delayed: 'deferred',
  bounced: 'bounced',
  failed: 'expired',
}

/** Null when the attempt needed no connection. */
export function countedDestination({ destination, target: { kind } }: DeliveryRoute): string | null {
  return kind === 'hosts' || kind === 'smart-host' ? destination : null
}

/** Undefined when the result is not counted. */
export function countedResult(
  destination: string,
  { class: why, text }: AttemptResult,
  { status }: Pick<Finish, 'status'>,
): Destination | undefined {
  const result = RESULTS[status]
  if (result === undefined) return undefined
  if (result === 'delivered') return { site: destination, result, class: null, replyForm: null }
  return { site: destination, result, class: why, replyForm: replyFormOf(text) }
}
