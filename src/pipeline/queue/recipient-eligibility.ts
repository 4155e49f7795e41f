/**
 * Finds claimed deliveries that must not be sent any more: the address has been suppressed, or the contact
 * has unsubscribed, left the topic or left the audience since the email was stored.
 */

import { type Id, idKey } from '../../lib/ids.ts'
import { foldAddress } from '../../protocols/smtp/address.ts'
import { LEFT_EVERYTHING, LEFT_TOPIC } from '../../resources/contacts/consent.ts'
import { type Objection, objectionsTo } from '../../resources/contacts/objections.ts'
import { storedCause } from '../../resources/emails/explanation/cause.ts'
import {
  type Objected,
  onSuppressionList,
  suppressedEvent,
  unsubscribed,
} from '../../resources/events/email-events.ts'
import type { DeliveryChange } from '../../resources/events/record.ts'
import type { ClaimedDelivery, Tx } from '../../store/model/command.ts'
import { DELIVERY_CLASS, DELIVERY_STATE, NO_LEASE } from '../../store/model/schema.ts'

const REASONS: Record<Objection, string> = { unsubscribed: LEFT_EVERYTHING, opted_out: LEFT_TOPIC }
/** The contact was deleted, or its address was changed. */
const NO_CONTACT = 'No contact of the audience has this address any more.'

/** Ineligible deliveries, with the reason that the account reads. */
export async function ineligibleOf(
  tx: Tx,
  deliveries: readonly ClaimedDelivery[],
): Promise<Map<ClaimedDelivery, Objected>> {
  const keys = deliveries.map(({ accountId, address }) => ({ accountId, email: foldAddress(address) }))
  const suppressions = await tx.rows.find('suppressions', keys, ['reason'])
  const ineligible = new Map<ClaimedDelivery, Objected>()
  for (const [i, delivery] of deliveries.entries())
    if (suppressions[i]) ineligible.set(delivery, onSuppressionList(suppressions[i].reason))
  const ofBroadcasts = deliveries.filter(
    delivery => delivery.class !== DELIVERY_CLASS.transactional && !ineligible.has(delivery),
  )
  for (const [delivery, reason] of await ineligibleOfBroadcasts(tx, ofBroadcasts))
    ineligible.set(delivery, reason)
  return ineligible
}

/** Emails of a broadcast may wait for days, in which contacts may unsubscribe. */
async function ineligibleOfBroadcasts(
  tx: Tx,
  deliveries: readonly ClaimedDelivery[],
): Promise<[ClaimedDelivery, Objected][]> {
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
  const ineligible: [ClaimedDelivery, Objected][] = []
  for (const mail of byBroadcast.values())
    ineligible.push(
      ...(await ineligibleOfBroadcast(
        tx,
        mail[0]!.broadcastId,
        mail.map(({ delivery }) => delivery),
      )),
    )
  return ineligible
}

async function ineligibleOfBroadcast(
  tx: Tx,
  id: Id,
  deliveries: readonly ClaimedDelivery[],
): Promise<[ClaimedDelivery, Objected][]> {
  const { accountId } = deliveries[0]!
  const [broadcast] = await tx.rows.find('broadcasts', [{ accountId, id }], ['audienceId', 'topicId'])
  if (!broadcast) return []
  const { audienceId, topicId } = broadcast
  const [audience] = await tx.rows.find('audiences', [{ accountId, id: audienceId }], ['id'])
  // the contacts of a deleted audience are deleted later
  if (!audience) return deliveries.map(delivery => [delivery, unsubscribed(NO_CONTACT)])
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
  return deliveries.flatMap((delivery, i): [ClaimedDelivery, Objected][] => {
    const contact = contacts[i]
    if (!contact) return [[delivery, unsubscribed(NO_CONTACT)]]
    const objection = objectionOf(contact)
    return objection ? [[delivery, unsubscribed(REASONS[objection])]] : []
  })
}

/** Marks the delivery as suppressed, and undoes the attempt that the claim has counted. */
export function suppressedChange(
  { accountId, emailId, ordinal, address, attempt }: ClaimedDelivery,
  { message, cause }: Objected,
  at: number,
): DeliveryChange {
  return {
    accountId,
    emailId,
    ordinal,
    recipient: address,
    event: suppressedEvent(message),
    error: message,
    at,
    handedOverAt: null,
    set: {
      status: 'suppressed',
      ...NO_LEASE,
      state: DELIVERY_STATE.done,
      attempts: attempt - 1,
      cause: storedCause(cause),
    },
  }
}
