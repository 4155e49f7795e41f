/**
 * Decides which addresses do not get mail about a topic, and why. The subscriptions of all contacts with the
 * address count, in all audiences of the account.
 *
 * In: topics and addresses of the emails of a transaction. Out: the reason per topic and address. Called by
 * `pipeline/accept` and `pipeline/queue` before an email is stored or sent.
 */
import { type Id, idKey } from '../../lib/ids.ts'
import { foldAddress } from '../../protocols/smtp/address.ts'
import type { Tx } from '../../store/model/command.ts'
import type { ContactRow, ContactTopicRow, DefaultSubscription } from '../../store/model/schema.ts'
import { isOutOf, type OptOut, optOutsOf } from './opt-outs.ts'

interface TopicRef {
  accountId: Id
  topicId: Id
}

/** Topic of an email and the addresses of its recipients. */
export interface TopicMail extends TopicRef {
  addresses: readonly string[]
}

/** Subscriptions as of the transaction, for the topics and addresses that it was opened with. */
export interface ConsentBook {
  /** Tells whether the topic belongs to the account. */
  knows(topic: TopicRef): boolean
  /**
   * Returns the reason why the address does not get mail about the topic, or null if it does. An address
   * without a contact gets mail about opt-in topics.
   */
  objectionOf(topic: TopicRef, address: string): string | null
}

export const LEFT_EVERYTHING = 'The recipient has unsubscribed from everything.'
export const LEFT_TOPIC = 'The recipient has unsubscribed from the topic.'
const NEVER_JOINED = 'The recipient has not subscribed to the topic.'

/** Number of addresses per statement. */
const ADDRESSES_AT_ONCE = 1_000

interface Contact {
  isUnsubscribed: boolean
  /** Explicit subscriptions by topic. */
  choices: Map<string, boolean>
}

/** Reads the data of all emails together. Reads nothing if no email has a topic. */
export async function openConsentBook(tx: Tx, mail: readonly TopicMail[]): Promise<ConsentBook> {
  const accounts = byAccount(mail)
  const [defaults, contacts, optOuts] = await Promise.all([
    defaultsOf(tx, mail),
    contactsOf(tx, accounts),
    leftBy(tx, accounts),
  ])
  return {
    knows: topic => defaults.has(topicKey(topic)),
    objectionOf(topic, address) {
      const isOptIn = defaults.get(topicKey(topic)) === 'opt_in'
      const optOut = optOuts.get(addressKey(topic.accountId, address))
      if (optOut && isOutOf(optOut, topic.topicId))
        return optOut.isFromEverything ? LEFT_EVERYTHING : LEFT_TOPIC
      const found = contacts.get(addressKey(topic.accountId, address)) ?? []
      if (found.some(({ isUnsubscribed }) => isUnsubscribed)) return LEFT_EVERYTHING
      const answers = found.map(contact => contact.choices.get(idKey(topic.topicId)))
      if (answers.includes(false)) return LEFT_TOPIC
      const isSilent = answers.length === 0 || answers.includes(undefined)
      return isSilent && !isOptIn ? NEVER_JOINED : null
    },
  }
}

interface AccountMail {
  accountId: Id
  topicIds: Id[]
  /** Distinct addresses in lower case. */
  emails: string[]
}

function byAccount(mail: readonly TopicMail[]): AccountMail[] {
  return [...Map.groupBy(mail, ({ accountId }) => idKey(accountId)).values()].map(ofOne => ({
    accountId: ofOne[0]!.accountId,
    topicIds: [...new Map(ofOne.map(({ topicId }) => [idKey(topicId), topicId])).values()],
    emails: [...new Set(ofOne.flatMap(({ addresses }) => addresses.map(foldAddress)))],
  }))
}

async function defaultsOf(tx: Tx, mail: readonly TopicMail[]): Promise<Map<string, DefaultSubscription>> {
  const wanted = new Map(mail.map(one => [topicKey(one), one]))
  const keys = [...wanted.values()].map(({ accountId, topicId: id }) => ({ accountId, id }))
  const rows = await tx.rows.find('topics', keys, ['defaultSubscription'])
  return new Map(
    [...wanted.keys()].flatMap((key, i) => (rows[i] ? [[key, rows[i].defaultSubscription] as const] : [])),
  )
}

/** Reads opt-outs by account and address, including addresses without a contact. */
async function leftBy({ db }: Tx, accounts: readonly AccountMail[]): Promise<Map<string, OptOut>> {
  const left = new Map<string, OptOut>()
  for (const { accountId, emails } of accounts)
    for (const [email, optOut] of await optOutsOf(db, accountId, emails))
      left.set(addressKey(accountId, email), optOut)
  return left
}

type Row = Pick<ContactRow, 'accountId' | 'audienceId' | 'id' | 'email' | 'unsubscribed'> & {
  [K in 'topicId' | 'subscribed']: ContactTopicRow[K] | null
}

/** Reads contacts of existing audiences by account and address. */
async function contactsOf(tx: Tx, accounts: readonly AccountMail[]): Promise<Map<string, Contact[]>> {
  const rows = (await Promise.all(accounts.flatMap(one => rowsOf(tx, one)))).flat()
  const audiences = await tx.rows.find(
    'audiences',
    rows.map(({ accountId, audienceId: id }) => ({ accountId, id })),
    ['id'],
  )
  const contacts = new Map<string, Contact[]>()
  const present = rows.filter((_, i) => audiences[i] !== undefined)
  for (const answers of Map.groupBy(present, ({ id }) => idKey(id)).values()) {
    const { accountId, email, unsubscribed } = answers[0]!
    const key = addressKey(accountId, email)
    contacts.set(key, [
      ...(contacts.get(key) ?? []),
      { isUnsubscribed: unsubscribed === 1, choices: new Map(answers.flatMap(sayingOf)) },
    ])
  }
  return contacts
}

/** Looks up the contacts of one account. */
function rowsOf({ db }: Tx, { accountId, topicIds, emails }: AccountMail): Promise<Row[]>[] {
  const batchCount = Math.ceil(emails.length / ADDRESSES_AT_ONCE)
  return Array.from({ length: batchCount }, (_, i) =>
    db
      .selectFrom('contacts')
      .leftJoin('contactTopics', join =>
        join.onRef('contactTopics.contactId', '=', 'contacts.id').on('contactTopics.topicId', 'in', topicIds),
      )
      .select(['accountId', 'audienceId', 'contacts.id', 'email', 'unsubscribed', 'topicId', 'subscribed'])
      .where('accountId', '=', accountId)
      .where('email', 'in', emails.slice(i * ADDRESSES_AT_ONCE, (i + 1) * ADDRESSES_AT_ONCE))
      .execute(),
  )
}

function sayingOf({ topicId, subscribed }: Row): [string, boolean][] {
  return topicId === null ? [] : [[idKey(topicId), subscribed === 1]]
}

function topicKey({ accountId, topicId }: TopicRef): string {
  return idKey(accountId) + idKey(topicId)
}

function addressKey(accountId: Id, address: string): string {
  return idKey(accountId) + foldAddress(address)
}
