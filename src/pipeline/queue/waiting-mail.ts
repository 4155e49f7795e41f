/** Finds waiting and held deliveries that match a selector, a bounded number at a time. */
import type { QueueKey, Tx } from '../../store/model/command.ts'
import type { MailSelector } from '../../store/model/schema/steering.ts'
import { DELIVERY_STATE, type DeliveryRow } from '../../store/model/schema.ts'
import type { DeliveryKey } from './hold.ts'
import { mailOf } from './hold-filter.ts'
import { type HeldMail, isAbout } from './hold-rows.ts'

/** Range of a search: an email, a queue key, or all held deliveries. */
export type QueuePosition =
  | { kind: 'email'; emailId: DeliveryKey['emailId'] }
  | { kind: 'queueKey'; queueKey: QueueKey }
  | { kind: 'held' }

export interface StepInput {
  place: QueuePosition
  selector: MailSelector
  /** Address of the only recipient; null or absent for all. */
  address?: string | null
  /** Who decides; the operator when absent. */
  by?: 'operator' | 'account'
  /** The last delivery that was read; null at the beginning. */
  after: Mark | null
  /** Number of deliveries that are read at most. */
  limit: number
  now: number
}

export interface Mark extends DeliveryKey {
  nextAt: number
}

const COLUMNS = [
  'emailId',
  'ordinal',
  'domain',
  'class',
  'accountId',
  'address',
  'state',
  'attempts',
  'nextAt',
  'signedAt',
  'cause',
] as const
export type WaitingMail = Pick<DeliveryRow, (typeof COLUMNS)[number]> & HeldMail

export interface Step {
  found: WaitingMail[]
  /** Null at the end of the place. */
  after: Mark | null
}

/** Finds matching deliveries that wait or are held. */
export async function findWaiting(
  tx: Tx,
  { place, selector, address = null, after, limit }: Omit<StepInput, 'now'>,
): Promise<Step> {
  const seen = await waitingAt(tx, place, after, limit)
  const found = (await mailOf(tx, seen)).filter(
    mail => isAbout(selector, mail) && (address === null || mail.address === address),
  )
  const last = seen.at(-1)
  if (!last || seen.length < limit || place.kind === 'email') return { found, after: null }
  return { found, after: { emailId: last.emailId, ordinal: last.ordinal, nextAt: last.nextAt } }
}

/** Waiting and held deliveries of a place, in the order of the index that is used. */
export function waitingAt({ db }: Pick<Tx, 'db'>, place: QueuePosition, after: Mark | null, limit: number) {
  const deliveries = db.selectFrom('deliveries').select(COLUMNS)
  const { waiting, held } = DELIVERY_STATE
  if (place.kind === 'email')
    return deliveries.where('emailId', '=', place.emailId).where('state', 'in', [waiting, held]).execute()
  let rows = deliveries
  if (place.kind === 'held') {
    rows = rows.where('state', '=', held).orderBy('emailId').orderBy('ordinal')
    if (after)
      rows = rows.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('emailId', 'ordinal'), '>', tuple(after.emailId, after.ordinal)),
      )
  } else {
    const { domain, class: deliveryClass, accountId } = place.queueKey
    rows = rows
      .where('state', '=', waiting)
      .where('domain', '=', domain)
      .where('class', '=', deliveryClass)
      .where('accountId', '=', accountId)
      .orderBy('nextAt')
      .orderBy('emailId')
      .orderBy('ordinal')
    if (after)
      rows = rows.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('nextAt', 'emailId', 'ordinal'), '>', tuple(after.nextAt, after.emailId, after.ordinal)),
      )
  }
  return rows.limit(limit).execute()
}
