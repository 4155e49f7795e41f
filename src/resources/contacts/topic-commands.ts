/** Commands that create, change and delete topics, and set the topic subscriptions of contacts. */
import { type Id, idKey, sameId } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/model/command.ts'
import { changeOwn, deleteOwn, type OwnKey } from '../../store/model/own-row.ts'
import type { ContactRow, TopicRow } from '../../store/model/schema.ts'
import { CONTACTS_DELETED, hasAudience } from './audience-commands.ts'
import { type ContactPlace, type ContactRef, changedContact, contactView, type Reach } from './contact.ts'
import type { ContactAnswer } from './contact-commands.ts'
import { TOPICS_MAX } from './limits.ts'
import { forgetOptOut, rememberOptOut } from './opt-outs.ts'
import { contactsByAddress } from './read.ts'
import { putSubscriptions, unsubscribedTopicsOf } from './subscriptions.ts'
import { findContacts, writeContacts } from './write-contacts.ts'

export type TopicFields = Pick<TopicRow, 'name' | 'description' | 'defaultSubscription' | 'visibility'>

/** Subscription of a contact to a topic. */
export interface TopicSubscription {
  topicId: Id
  subscribed: boolean
}

export const topicCommands = {
  /** Returns undefined if the account has the maximum number of topics. */
  createTopic: command<OwnKey & { fields: TopicFields; at: number }, TopicRow | undefined>(
    async ({ db }, { accountId, id, fields, at }) => {
      const { count } = await db
        .selectFrom('topics')
        .select(eb => eb.fn.countAll<number>().as('count'))
        .where('accountId', '=', accountId)
        .executeTakeFirstOrThrow()
      if (Number(count) >= TOPICS_MAX) return undefined
      const row = { accountId, id, ...fields, createdAt: at, updatedAt: at }
      await db.insertInto('topics').values(row).execute()
      return row
    },
  ),

  /** Returns undefined if the account has no such topic. The default subscription never changes. */
  changeTopic: command<
    OwnKey & { changes: Partial<Omit<TopicFields, 'defaultSubscription'>>; at: number },
    TopicRow | undefined
  >(({ db }, { changes, at, ...key }) => changeOwn(db, 'topics', key, { ...changes, updatedAt: at })),

  /**
   * Deletes the topic. Its subscriptions are deleted later in steps. Returns false if the account has no such
   * topic.
   */
  deleteTopic: command<OwnKey & { at: number }, boolean>(async (tx, { accountId, id, at }) => {
    if (!(await deleteOwn(tx.db, 'topics', { accountId, id }))) return false
    await tx.db.insertInto('deletedTopics').values({ id, deletedAt: at }).execute()
    tx.announce(CONTACTS_DELETED, id)
    return true
  }),

  /** Sets subscriptions of a contact. Returns 'no-topic' if a topic does not belong to the account. */
  subscribe: command<
    ContactPlace & {
      ref: ContactRef
      subscriptions: readonly TopicSubscription[]
      reach?: Reach
      at: number
    },
    ContactAnswer | 'no-topic'
  >(async (tx, { ref, subscriptions, reach, at, ...place }) => {
    if (!(await hasAudience(tx, place))) return { refused: 'no-audience' }
    const [contact] = await findContacts(tx.rows.find, place, [ref])
    if (!contact) return { refused: 'no-contact' }
    if (!(await hasTopics(tx, place.accountId, subscriptions))) return 'no-topic'
    const after = await setSubscriptions(tx, contact, subscriptions, at)
    if (reach === 'account') {
      for (const other of await contactsByAddress(tx.db, place.accountId, contact.email))
        if (!sameId(other.id, contact.id)) await setSubscriptions(tx, other, subscriptions, at)
      for (const { topicId, subscribed } of latest(subscriptions))
        if (!subscribed) await rememberOptOut(tx, contact, topicId, at)
    }
    const topicsOf = await unsubscribedTopicsOf(tx.db, place.accountId, [contact.id])
    return { contact: contactView(after, topicsOf(contact.id)) }
  }),
}

/**
 * Part of a command. The topics must belong to the account.
 * @returns the contact after the change
 */
export async function setSubscriptions(
  tx: Tx,
  contact: ContactRow,
  subscriptions: readonly TopicSubscription[],
  at: number,
): Promise<ContactRow> {
  const { accountId, audienceId, id: contactId } = contact
  const choices = latest(subscriptions)
  await putSubscriptions(
    tx,
    choices.map(({ topicId, subscribed }) => ({
      ...{ contactId, topicId, changedAt: at },
      subscribed: subscribed ? 1 : 0,
    })),
  )
  for (const { topicId, subscribed } of choices) if (subscribed) await forgetOptOut(tx, contact, topicId)
  const after = changedContact(contact, {}, at)
  await writeContacts(tx, { accountId, audienceId }, [{ before: contact, after }], at)
  return after
}

/** Of several entries for a topic, the last one counts. */
function latest(subscriptions: readonly TopicSubscription[]): TopicSubscription[] {
  return [...new Map(subscriptions.map(one => [idKey(one.topicId), one])).values()]
}

/** Part of a command. Tells whether all topics belong to the account. */
export async function hasTopics(
  tx: Tx,
  accountId: Id,
  subscriptions: readonly TopicSubscription[],
): Promise<boolean> {
  const keys = subscriptions.map(({ topicId: id }) => ({ accountId, id }))
  return (await tx.rows.find('topics', keys, ['id'])).every(topic => topic !== undefined)
}
