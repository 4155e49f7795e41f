/**
 * What the owner of an address wants to hear of an account: read for the page where it is said, and written
 * to the contacts that have the address, in all audiences; and remembered by the address, for contacts that
 * are gone or still to come.
 */

import { type Id, sameId } from '../../lib/ids.ts'
import { changedContact } from '../../resources/contacts/contact.ts'
import { forgetOptOut, isOutOf, optOutsOf, rememberOptOut } from '../../resources/contacts/opt-outs.ts'
import { contactsByAddress } from '../../resources/contacts/read.ts'
import { unsubscribedTopicsOf } from '../../resources/contacts/subscriptions.ts'
import { setSubscriptions } from '../../resources/contacts/topic-commands.ts'
import { unsubscribeContact } from '../../resources/contacts/unsubscribe.ts'
import { writeContacts } from '../../resources/contacts/write-contacts.ts'
import { type BroadcastRef, countForBroadcast } from '../../resources/events/broadcast-counts.ts'
import { command, type Tx } from '../../store/command.ts'
import type { ContactRow, Db, TopicRow } from '../../store/schema.ts'
import type { Subscription } from './unsubscribe-token.ts'

export interface TopicPreference extends Pick<TopicRow, 'id' | 'name' | 'description'> {
  /** By all contacts that have the address. */
  isWanted: boolean
}

export interface Preferences {
  /** Undefined when the account is gone. */
  accountName: string | undefined
  /** From everything: by all contacts that have the address, or by what is remembered of it. */
  isUnsubscribed: boolean
  /** All topics of the account, in the order of their making. */
  topics: TopicPreference[]
}

type Owner = Pick<Subscription, 'accountId' | 'address'>

export async function readPreferences(db: Db, owner: Owner): Promise<Preferences> {
  const { accountId } = owner
  const account = await db
    .selectFrom('accounts')
    .select('name')
    .where('id', '=', accountId)
    .executeTakeFirst()
  const contacts = await contactsByAddress(db, accountId, owner.address)
  const topics = await db
    .selectFrom('topics')
    .select(['id', 'name', 'description', 'defaultSubscription'])
    .where('accountId', '=', accountId)
    .orderBy('id')
    .execute()
  const ids = contacts.map(({ id }) => id)
  const unwantedBy = await unsubscribedTopicsOf(db, accountId, ids)
  const optOut = (await optOutsOf(db, accountId, [owner.address])).get(owner.address)
  const isLeft = (topicId: Id) => optOut?.topicIds.some(id => sameId(id, topicId)) ?? false
  return {
    accountName: account?.name,
    isUnsubscribed:
      contacts.length === 0
        ? (optOut?.isFromEverything ?? false)
        : contacts.every(({ unsubscribed }) => unsubscribed === 1),
    topics: topics.map(({ defaultSubscription, ...topic }) => ({
      ...topic,
      isWanted:
        ids.length === 0
          ? defaultSubscription === 'opt_in' && !isLeft(topic.id)
          : ids.every(id => !unwantedBy(id).some(unwanted => sameId(unwanted, topic.id))),
    })),
  }
}

/** What came of a wish: it may be `known` already. */
export type Wish = 'done' | 'known'

export const preferenceCommands = {
  /**
   * Leaves the topic, or everything, also where the topic is gone; counted for the broadcast that had the
   * link.
   */
  leave: command<Subscription & { at: number }, Wish>(leaveLists),

  /**
   * Hears of these topics and of no others, and is subscribed: who chooses none comes back to nothing. What
   * is not the account's counts for nothing. Leaving some of what was wanted is counted once for the
   * broadcast that had the link.
   */
  setPreferences: command<NewPreferences, Wish>(setPreferences),
}

interface NewPreferences extends Omit<Subscription, 'topicId'> {
  topics: readonly Id[]
  at: number
}

async function setPreferences(
  tx: Tx,
  { topics: chosen, broadcastId, at, ...owner }: NewPreferences,
): Promise<Wish> {
  const before = await readPreferences(tx.db, owner)
  const topics = before.topics.map(({ id }) => ({ id, isWanted: includes(chosen, id) }))
  const isBack = topics.length === 0 || topics.some(({ isWanted }) => isWanted)
  if (before.isUnsubscribed && !isBack) return 'known'
  await rememberChoice(tx, owner, { topics, isBack }, at)
  for (const contact of await contactsByAddress(tx.db, owner.accountId, owner.address))
    await want(tx, contact, { topics, isBack }, at)
  const isLeft = ({ id, isWanted }: TopicPreference) => isWanted && !includes(chosen, id)
  if (!before.isUnsubscribed && before.topics.some(isLeft)) countUnsubscribed(tx, { ...owner, broadcastId })
  return 'done'
}

/** Part of a command. Who leaves a topic that is gone leaves everything. */
export async function leaveLists(
  tx: Tx,
  { accountId, address: email, topicId: id, broadcastId, at }: Subscription & { at: number },
): Promise<Wish> {
  const contacts = await contactsByAddress(tx.db, accountId, email)
  const [topic] = id ? await tx.rows.find('topics', [{ accountId, id }], ['id']) : []
  const topicId = topic ? id : null
  const ids = contacts.map(({ id }) => id)
  const unwantedBy = await unsubscribedTopicsOf(tx.db, accountId, ids)
  const isLeft = ({ id, unsubscribed }: ContactRow) =>
    topicId === null ? unsubscribed === 1 : unwantedBy(id).some(unwanted => sameId(unwanted, topicId))
  const optOut = (await optOutsOf(tx.db, accountId, [email])).get(email)
  const isRemembered = topicId === null ? optOut?.isFromEverything : optOut && isOutOf(optOut, topicId)
  const wasLeft = contacts.length === 0 ? isRemembered === true : contacts.every(isLeft)
  await unsubscribeContact(tx, { accountId, email, topicId, at })
  if (wasLeft) return 'known'
  countUnsubscribed(tx, { accountId, broadcastId })
  return 'done'
}

function countUnsubscribed(tx: Tx, broadcast: BroadcastRef) {
  countForBroadcast(tx, broadcast, 'reaction.unsubscribed', 1)
}

interface ChosenTopics {
  /** All of the account. */
  topics: readonly { id: Id; isWanted: boolean }[]
  /** To where one may have left everything. */
  isBack: boolean
}

/** By the address. */
async function rememberChoice(
  tx: Tx,
  { accountId, address: email }: Owner,
  { topics, isBack }: ChosenTopics,
  at: number,
): Promise<void> {
  const owner = { accountId, email }
  if (isBack) await forgetOptOut(tx, owner, null)
  for (const { id, isWanted } of topics)
    if (isWanted) await forgetOptOut(tx, owner, id)
    else await rememberOptOut(tx, owner, id, at)
}

/** What is so already stays untouched. */
async function want(
  tx: Tx,
  contact: ContactRow,
  { topics, isBack }: ChosenTopics,
  at: number,
): Promise<void> {
  const { accountId, audienceId } = contact
  const unwanted = (await unsubscribedTopicsOf(tx.db, accountId, [contact.id]))(contact.id)
  const changes = topics
    .filter(({ id, isWanted }) => isWanted === includes(unwanted, id))
    .map(({ id: topicId, isWanted: subscribed }) => ({ topicId, subscribed }))
  const isReturning = isBack && contact.unsubscribed === 1
  const after = isReturning ? changedContact(contact, { unsubscribed: false }, at) : contact
  if (after !== contact) await writeContacts(tx, { accountId, audienceId }, [{ before: contact, after }], at)
  if (changes.length > 0) await setSubscriptions(tx, after, changes, at)
}

function includes(ids: readonly Id[], id: Id): boolean {
  return ids.some(other => sameId(other, id))
}
