/** Topic subscriptions of contacts: the contact's own choice, or else the default of the topic. */
import { type Id, idKey } from '../../lib/ids.ts'
import type { Tx } from '../../store/model/command.ts'
import type { ContactTopicRow, Db } from '../../store/model/schema.ts'

/** Returns the topics that each contact is not subscribed to, in the order of their creation. */
export async function unsubscribedTopicsOf(
  db: Db,
  accountId: Id,
  contactIds: readonly Id[],
): Promise<(contactId: Id) => Id[]> {
  if (contactIds.length === 0) return () => []
  const topics = await db
    .selectFrom('topics')
    .select(['id', 'defaultSubscription'])
    .where('accountId', '=', accountId)
    .orderBy('id')
    .execute()
  if (topics.length === 0) return () => []
  const rows = await db
    .selectFrom('contactTopics')
    .select(['contactId', 'topicId', 'subscribed'])
    .where('contactId', 'in', contactIds)
    .execute()
  const choices = new Map(rows.map(row => [idKey(row.contactId) + idKey(row.topicId), row.subscribed === 1]))
  return contactId =>
    topics
      .filter(topic => {
        const byDefault = topic.defaultSubscription === 'opt_in'
        return !(choices.get(idKey(contactId) + idKey(topic.id)) ?? byDefault)
      })
      .map(({ id }) => id)
}

/** Part of a command. Replaces previous subscriptions. Each contact and topic occurs once. */
export async function putSubscriptions(tx: Tx, rows: readonly ContactTopicRow[]): Promise<void> {
  const known = await tx.rows.find(
    'contactTopics',
    rows.map(({ contactId, topicId }) => ({ contactId, topicId })),
    ['subscribed'],
  )
  await tx.rows.insert(
    'contactTopics',
    rows.filter((_, i) => known[i] === undefined),
  )
  await tx.rows.update(
    'contactTopics',
    ['contactId', 'topicId'],
    rows.filter((_, i) => known[i] !== undefined),
  )
}
