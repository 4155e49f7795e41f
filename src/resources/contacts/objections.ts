/** Reasons why a contact does not receive a broadcast, evaluated at the time of sending. */
import { type RawBuilder, sql } from 'kysely'
import type { Id } from '../../lib/ids.ts'
import type { Tx } from '../../store/model/command.ts'
import type { ContactRow, Db } from '../../store/model/schema.ts'
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

/**
 * Returns the same decision, and suppressions, as an expression over `contacts`, for counting many contacts:
 * `unsubscribed`, `opted_out`, `suppressed` or `none`.
 */
export async function obstacleOf(
  db: Db,
  { accountId, topicId }: { accountId: Id; topicId: Id | null },
): Promise<RawBuilder<string>> {
  const topic =
    topicId &&
    (await db
      .selectFrom('topics')
      .select('defaultSubscription')
      .where('accountId', '=', accountId)
      .where('id', '=', topicId)
      .executeTakeFirst())
  const saying = (subscribed: 0 | 1) =>
    sql`exists (select 1 from contact_topics as said where said.contact_id = contacts.id
      and said.topic_id = ${topicId} and said.subscribed = ${sql.lit(subscribed)})`
  const optsOut = !topic
    ? sql`1 = 0`
    : topic.defaultSubscription === 'opt_in'
      ? saying(0)
      : sql`not ${saying(1)}`
  // contacts and suppressions store addresses in the same folded form
  return sql`case
    when contacts.unsubscribed = 1 then 'unsubscribed'
    when ${optsOut} then 'opted_out'
    when exists (select 1 from suppressions where suppressions.account_id = ${accountId}
      and suppressions.email = contacts.email) then 'suppressed'
    else 'none' end`
}
