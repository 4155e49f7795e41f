/**
 * Reads and changes the subscription preferences of an address at an account. A change applies to the
 * contacts with the address in all audiences, and is stored by address, too, for deleted and future contacts.
 */

import { type Id, sameId } from '../../lib/ids.ts'
import { changedContact } from '../../resources/contacts/contact.ts'
import { forgetOptOut, isOutOf, optOutsOf, rememberOptOut } from '../../resources/contacts/opt-outs.ts'
import { readProperties } from '../../resources/contacts/properties.ts'
import { contactsByAddress } from '../../resources/contacts/read.ts'
import { unsubscribedTopicsOf } from '../../resources/contacts/subscriptions.ts'
import { setSubscriptions } from '../../resources/contacts/topic-commands.ts'
import { unsubscribeContact } from '../../resources/contacts/unsubscribe.ts'
import { writeContacts } from '../../resources/contacts/write-contacts.ts'
import { type Brand, findBrand, NO_BRAND } from '../../resources/domains/brands.ts'
import { parseStoredMailboxes } from '../../resources/emails/email-rows.ts'
import { recordUnsubscribed } from '../../resources/events/broadcast-outcomes.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { ContactRow, Db, TopicRow } from '../../store/model/schema.ts'
import type { Subscription } from './unsubscribe-token.ts'

export interface TopicPreference extends Pick<TopicRow, 'id' | 'name' | 'description'> {
  /** True when all contacts with the address are subscribed to the topic. */
  isWanted: boolean
}

/** The sender as its recipients know it. The name of the account is internal. */
export interface PageSender extends Omit<Brand, 'name'> {
  /**
   * Name of the domain's brand, else that in `From`, else the domain; undefined when the sender is not known
   * any more.
   */
  name: string | undefined
}

export interface Preferences {
  sender: PageSender
  /** Unsubscribed from everything: all contacts with the address, or the stored opt-out if there are none. */
  isUnsubscribed: boolean
  /**
   * Topics of the account in the order of creation: public ones, those that the address is subscribed to, and
   * the topic of the link.
   */
  topics: TopicPreference[]
  /** Language tags in the properties `language` and `locale` of the contacts with the address. */
  languages: string[]
}

type Owner = Pick<Subscription, 'accountId' | 'address'>

export async function readPreferences(db: Db, owner: Subscription): Promise<Preferences> {
  const { accountId, topicId } = owner
  const contacts = await contactsByAddress(db, accountId, owner.address)
  const topics = await db
    .selectFrom('topics')
    .select(['id', 'name', 'description', 'defaultSubscription', 'visibility'])
    .where('accountId', '=', accountId)
    .orderBy('id')
    .execute()
  const ids = contacts.map(({ id }) => id)
  const unwantedBy = await unsubscribedTopicsOf(db, accountId, ids)
  const optOut = (await optOutsOf(db, accountId, [owner.address])).get(owner.address)
  const isLeft = (topicId: Id) => optOut?.topicIds.some(id => sameId(id, topicId)) ?? false
  return {
    sender: await senderOf(db, owner),
    isUnsubscribed:
      contacts.length === 0
        ? (optOut?.isFromEverything ?? false)
        : contacts.every(({ unsubscribed }) => unsubscribed === 1),
    topics: topics.flatMap(({ defaultSubscription, visibility, ...topic }) => {
      const isWanted =
        ids.length === 0
          ? defaultSubscription === 'opt_in' && !isLeft(topic.id)
          : ids.every(id => !unwantedBy(id).some(unwanted => sameId(unwanted, topic.id)))
      const isOfLink = topicId !== null && sameId(topic.id, topicId)
      return visibility === 'public' || isWanted || isOfLink ? [{ ...topic, isWanted }] : []
    }),
    languages: contacts.flatMap(languagesOf),
  }
}

async function senderOf(db: Db, { accountId, broadcastId, senderDomain }: Subscription): Promise<PageSender> {
  const broadcast = broadcastId
    ? await db
        .selectFrom('broadcasts')
        .select('sender')
        .where('accountId', '=', accountId)
        .where('id', '=', broadcastId)
        .executeTakeFirst()
    : undefined
  const mailbox = broadcast && parseStoredMailboxes(broadcast.sender)[0]
  const { name, domain } = { name: undefined, domain: senderDomain, ...mailbox }
  const brand = (domain !== undefined && (await findBrand(db, accountId, domain))) || NO_BRAND
  return { ...brand, name: brand.name ?? (name || domain) }
}

/** Returns the language tags of the contacts with the address. */
export async function readLanguages(db: Db, accountId: Id, address: string): Promise<string[]> {
  return (await contactsByAddress(db, accountId, address)).flatMap(languagesOf)
}

/** The case of the keys is ignored, because imported files have columns such as `Language`. */
function languagesOf({ properties }: ContactRow): string[] {
  const values = [...readProperties(properties)].map(([key, value]) => [key.toLowerCase(), value] as const)
  return ['language', 'locale'].flatMap(name =>
    values.filter(([key]) => key === name).map(([, value]) => String(value)),
  )
}

/** Whether the change was made, or the preference was `known` already. */
export type PreferenceResult = 'done' | 'known'

export const preferenceCommands = {
  /** Unsubscribes from the topic, or from everything, and records it for the broadcast that had the link. */
  leave: command<Subscription & { at: number }, PreferenceResult>(leaveLists),

  /**
   * Subscribes the address to exactly these of the topics that the page shows. An earlier opt-out from
   * everything ends unless the choice is empty. Other topics are ignored. A topic that is left is recorded
   * for the broadcast with the link.
   */
  setPreferences: command<NewPreferences, PreferenceResult>(setPreferences),

  /**
   * Takes an unsubscription back: an opt-out from everything ends, and the address is subscribed to the topic
   * of the link. Other topics are not changed.
   */
  takeBack: command<Subscription & { at: number }, PreferenceResult>(async (tx, subscription) => {
    const { isUnsubscribed, topics } = await readPreferences(tx.db, subscription)
    const { topicId, at, ...owner } = subscription
    const isOfLink = ({ id }: TopicPreference) => topicId !== null && sameId(id, topicId)
    const returning = topics
      .filter(topic => isOfLink(topic) && !topic.isWanted)
      .map(({ id }) => ({ id, isWanted: true }))
    if (!isUnsubscribed && returning.length === 0) return 'known'
    await choose(tx, owner, { topics: returning, isBack: true }, at)
    return 'done'
  }),
}

interface NewPreferences extends Subscription {
  topics: readonly Id[]
  at: number
}

async function setPreferences(
  tx: Tx,
  { topics: chosen, broadcastId, topicId, at, ...owner }: NewPreferences,
): Promise<PreferenceResult> {
  const before = await readPreferences(tx.db, { ...owner, topicId, broadcastId })
  const topics = before.topics.map(({ id }) => ({ id, isWanted: includes(chosen, id) }))
  const isBack = topics.length === 0 || topics.some(({ isWanted }) => isWanted)
  if (before.isUnsubscribed && !isBack) return 'known'
  await choose(tx, owner, { topics, isBack }, at)
  const isLeft = ({ id, isWanted }: TopicPreference) => isWanted && !includes(chosen, id)
  if (!before.isUnsubscribed && before.topics.some(isLeft))
    await recordUnsubscribed(tx, { ...owner, broadcastId }, at)
  return 'done'
}

/** Runs inside a command. If the topic has been deleted, the address is unsubscribed from everything. */
export async function leaveLists(
  tx: Tx,
  { accountId, address: email, topicId: id, broadcastId, at }: Subscription & { at: number },
): Promise<PreferenceResult> {
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
  await recordUnsubscribed(tx, { accountId, broadcastId, address: email }, at)
  return 'done'
}

interface ChosenTopics {
  /** Topics to subscribe to or to leave; others are not changed. */
  topics: readonly { id: Id; isWanted: boolean }[]
  /** Ends an earlier opt-out from everything. */
  isBack: boolean
}

/** Stores the choice by address, and applies it to all contacts with the address. */
async function choose(tx: Tx, owner: Owner, choice: ChosenTopics, at: number): Promise<void> {
  await rememberChoice(tx, owner, choice, at)
  for (const contact of await contactsByAddress(tx.db, owner.accountId, owner.address))
    await applyChoice(tx, contact, choice, at)
}

/** Stores the choice by address. */
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

/** Changes only what differs from the contact's current state. */
async function applyChoice(
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
