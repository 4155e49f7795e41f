/** Reasons why a contact does not receive a broadcast, evaluated at the time of sending. */
import type { Id } from '../../lib/ids.ts'
import type { Tx } from '../../store/model/command.ts'
import type { ContactRow } from '../../store/model/schema.ts'
import { subscribersOf } from './members.ts'

export type Objection = 'unsubscribed' | 'opted_out'

type Contact = Pick<ContactRow, 'id' | 'unsubscribed'>

/**
 * @param topicId topic of the broadcast; a deleted topic excludes nobody
 * @param contactIds contacts that will be looked up
 */
export async function objectionsTo(
  tx: Tx,
  { accountId, topicId }: { accountId: Id; topicId: Id | null },
  contactIds: readonly Id[],
): Promise<(contact: Contact) => Objection | undefined> {
  const columns = ['id', 'defaultSubscription'] as const
  const [topic] = topicId ? await tx.rows.find('topics', [{ accountId, id: topicId }], columns) : []
  const isSubscribed = topic && (await subscribersOf(tx.db, topic, contactIds))
  return ({ id, unsubscribed }) => {
    if (unsubscribed === 1) return 'unsubscribed'
    return isSubscribed && !isSubscribed(id) ? 'opted_out' : undefined
  }
}
