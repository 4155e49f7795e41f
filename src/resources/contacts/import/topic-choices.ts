/**
 * Decides which topic subscriptions an import writes. An import can unsubscribe a contact from a topic, but
 * cannot subscribe a contact that has chosen to leave it.
 */
import { type Id, idKey } from '../../../lib/ids.ts'
import type { Tx } from '../../../store/model/command.ts'
import type { ContactTopicRow } from '../../../store/model/schema.ts'
import type { TopicSubscription } from '../topic-commands.ts'

/** Returns the rows to write for a contact; an empty list from the second call for the same contact. */
type ChooseTopics = (contactId: Id) => ContactTopicRow[]

/**
 * Part of a command. Topics that were deleted meanwhile are ignored.
 * @param known contacts that existed before the batch
 */
export async function openTopicChoices(
  tx: Tx,
  accountId: Id,
  subscriptions: readonly TopicSubscription[],
  known: readonly Id[],
  at: number,
): Promise<ChooseTopics> {
  if (subscriptions.length === 0) return () => []
  const wanted = [...new Map(subscriptions.map(one => [idKey(one.topicId), one])).values()]
  const topics = await tx.rows.find(
    'topics',
    wanted.map(({ topicId: id }) => ({ accountId, id })),
    ['defaultSubscription'],
  )
  const saidBy = await readChoices(tx, known, wanted)
  const done = new Set<string>()
  return contactId => {
    if (done.has(idKey(contactId))) return []
    done.add(idKey(contactId))
    return wanted.flatMap(({ topicId, subscribed }, i) => {
      if (!topics[i]) return []
      const choice = saidBy.get(idKey(contactId) + idKey(topicId))
      const isSubscribed = choice ?? topics[i].defaultSubscription === 'opt_in'
      if (subscribed === isSubscribed || (subscribed && choice === false)) return []
      return [{ contactId, topicId, subscribed: subscribed ? 1 : 0, changedAt: at }]
    })
  }
}

/** Reads whether contacts have subscribed explicitly, by contact and topic. */
async function readChoices(
  { db }: Tx,
  contactIds: readonly Id[],
  wanted: readonly TopicSubscription[],
): Promise<ReadonlyMap<string, boolean>> {
  if (contactIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('contactTopics')
    .select(['contactId', 'topicId', 'subscribed'])
    .where('contactId', 'in', contactIds)
    .where(
      'topicId',
      'in',
      wanted.map(({ topicId }) => topicId),
    )
    .execute()
  return new Map(rows.map(row => [idKey(row.contactId) + idKey(row.topicId), row.subscribed === 1]))
}
