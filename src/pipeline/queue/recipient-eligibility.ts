/**
 * Mail that has been claimed and must not be sent any more: who it is for wants none, or cannot be reached.
 */

import { type Id, idKey } from '../../lib/ids.ts'
import { foldAddress } from '../../protocols/smtp/address.ts'
import { LEFT_EVERYTHING, LEFT_TOPIC } from '../../resources/contacts/consent.ts'
import { type Objection, objectionsTo } from '../../resources/contacts/objections.ts'
import { ON_SUPPRESSION_LIST, suppressedEvent } from '../../resources/events/email-events.ts'
import type { DeliveryChange } from '../../resources/events/record.ts'
import type { ClaimedDelivery, QueueKey, Tx } from '../../store/command.ts'
import { DELIVERY_CLASS, DELIVERY_STATE, NO_LEASE } from '../../store/schema.ts'

/** Of one queue key. */
interface ClaimedMail {
  queueKey: QueueKey
  deliveries: readonly ClaimedDelivery[]
}

const REASONS: Record<Objection, string> = { unsubscribed: LEFT_EVERYTHING, opted_out: LEFT_TOPIC }
/** Removed, or known by another address now: the email is for the former one. */
const NO_CONTACT = 'No contact of the audience has this address any more.'

/** With the reason, for people. */
export async function ineligibleOf(
  tx: Tx,
  claimed: readonly ClaimedMail[],
): Promise<Map<ClaimedDelivery, string>> {
  const deliveries = claimed.flatMap(mail => mail.deliveries)
  const keys = deliveries.map(({ accountId, address }) => ({ accountId, email: foldAddress(address) }))
  const suppressions = await tx.rows.find('suppressions', keys, ['id'])
  const unwanted = new Map<ClaimedDelivery, string>()
  for (const [i, delivery] of deliveries.entries())
    if (suppressions[i]) unwanted.set(delivery, ON_SUPPRESSION_LIST)
  const ofBroadcasts = claimed.flatMap(({ queueKey, deliveries }) =>
    queueKey.class === DELIVERY_CLASS.transactional ? [] : deliveries,
  )
  for (const [delivery, reason] of await leftBroadcasts(
    tx,
    ofBroadcasts.filter(delivery => !unwanted.has(delivery)),
  ))
    unwanted.set(delivery, reason)
  return unwanted
}

/** Emails of a broadcast may wait for days; who leaves meanwhile is spared them. */
async function leftBroadcasts(
  tx: Tx,
  deliveries: readonly ClaimedDelivery[],
): Promise<[ClaimedDelivery, string][]> {
  const emails = await tx.rows.find(
    'emails',
    deliveries.map(({ accountId, emailId: id }) => ({ accountId, id })),
    ['broadcastId'],
  )
  const byBroadcast = Map.groupBy(
    deliveries.flatMap((delivery, i) => {
      const broadcastId = emails[i]?.broadcastId
      return broadcastId ? [{ delivery, broadcastId }] : []
    }),
    ({ broadcastId }) => idKey(broadcastId),
  )
  const left: [ClaimedDelivery, string][] = []
  for (const mail of byBroadcast.values())
    left.push(
      ...(await leftBroadcast(
        tx,
        mail[0]!.broadcastId,
        mail.map(({ delivery }) => delivery),
      )),
    )
  return left
}

async function leftBroadcast(
  tx: Tx,
  id: Id,
  deliveries: readonly ClaimedDelivery[],
): Promise<[ClaimedDelivery, string][]> {
  const { accountId } = deliveries[0]!
  const [broadcast] = await tx.rows.find('broadcasts', [{ accountId, id }], ['audienceId', 'topicId'])
  if (!broadcast) return []
  const { audienceId, topicId } = broadcast
  const [audience] = await tx.rows.find('audiences', [{ accountId, id: audienceId }], ['id'])
  // the contacts of one that is gone stay on the disk for a while
  if (!audience) return deliveries.map(delivery => [delivery, NO_CONTACT])
  const contacts = await tx.rows.find(
    'contacts',
    deliveries.map(({ address: email }) => ({ accountId, email, audienceId })),
    ['id', 'unsubscribed'],
  )
  const present = contacts.filter(contact => contact !== undefined)
  const objectionOf = await objectionsTo(
    tx,
    { accountId, topicId },
    present.map(contact => contact.id),
  )
  return deliveries.flatMap((delivery, i): [ClaimedDelivery, string][] => {
    const contact = contacts[i]
    if (!contact) return [[delivery, NO_CONTACT]]
    const objection = objectionOf(contact)
    return objection ? [[delivery, REASONS[objection]]] : []
  })
}

/** The claim was no attempt. */
export function withheld(
  { accountId, emailId, ordinal, address, attempt }: ClaimedDelivery,
  reason: string,
  at: number,
): DeliveryChange {
  return {
    accountId,
    emailId,
    ordinal,
    recipient: address,
    event: suppressedEvent(reason),
    error: reason,
    at,
    handedOverAt: null,
    set: { status: 'suppressed', ...NO_LEASE, state: DELIVERY_STATE.done, attempts: attempt - 1 },
  }
}
