/** Unsubscribes an address from one topic or from all mail, in all audiences of the account. */
import type { Id } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { ContactRow } from '../../store/model/schema.ts'
import { setUnsubscribed } from './contact-commands.ts'
import { rememberOptOut } from './opt-outs.ts'
import { contactsByAddress } from './read.ts'
import { setSubscriptions } from './topic-commands.ts'

interface Unsubscription {
  accountId: Id
  /** Address in lower case. */
  email: string
  /** Id of the topic; null for all mail. */
  topicId: Id | null
  at: number
}

export const unsubscribeCommands = {
  unsubscribe: command<Unsubscription, number>(unsubscribeContact),
}

/**
 * Part of a command. Contacts that are already unsubscribed are not changed and cause no event. The opt-out
 * is also stored by address, for contacts created later.
 *
 * @returns the number of contacts with the address
 */
export async function unsubscribeContact(
  tx: Tx,
  { accountId, email, topicId, at }: Unsubscription,
): Promise<number> {
  const [account] = await tx.rows.find('accounts', [{ id: accountId }], ['deletedAt'])
  if (!account || account.deletedAt) return 0 // it sends no mail any more
  await rememberOptOut(tx, { accountId, email }, topicId, at)
  const contacts = await contactsByAddress(tx.db, accountId, email)
  for (const contact of contacts)
    if (topicId === null) await setUnsubscribed(tx, contact, true, at)
    else await unsubscribeFromTopic(tx, contact, topicId, at)
  return contacts.length
}

async function unsubscribeFromTopic(tx: Tx, contact: ContactRow, topicId: Id, at: number) {
  const [topic] = await tx.rows.find('topics', [{ accountId: contact.accountId, id: topicId }], ['id'])
  const [choice] = await tx.rows.find('contactTopics', [{ contactId: contact.id, topicId }], ['subscribed'])
  if (!topic || choice?.subscribed === 0) return
  await setSubscriptions(tx, contact, [{ topicId, subscribed: false }], at)
}
