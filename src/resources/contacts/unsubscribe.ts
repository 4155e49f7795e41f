/** Unsubscribes an address from one topic or from all mail, in all audiences of the account. */
import type { Id } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/command.ts'
import type { ContactRow } from '../../store/schema.ts'
import { setUnsubscribed } from './contact-commands.ts'
import { rememberOptOut } from './opt-outs.ts'
import { contactsByAddress } from './read.ts'
import { setSubscriptions } from './topic-commands.ts'

export interface Unsubscription {
  accountId: Id
  /** Address in lower case. */
  email: string
  /** Topic; null for all mail. */
  topicId: Id | null
  at: number
}

export const unsubscribeCommands = {
  unsubscribe: command<Unsubscription, number>(unsubscribeContact),
}

/**
 * Part of a command. What is so already stays untouched, and nothing tells of it. It is remembered by the
 * address, too: whoever has it later has left already.
 *
 * @returns how many contacts have the address
 */
export async function unsubscribeContact(
  tx: Tx,
  { accountId, email, topicId, at }: Unsubscription,
): Promise<number> {
  await rememberOptOut(tx, { accountId, email }, topicId, at)
  const contacts = await contactsByAddress(tx.db, accountId, email)
  for (const contact of contacts)
    if (topicId === null) await setUnsubscribed(tx, contact, true, at)
    else await unsubscribeFromTopic(tx, contact, topicId, at)
  return contacts.length
}

async function unsubscribeFromTopic(tx: Tx, contact: ContactRow, topicId: Id, at: number) {
  const [topic] = await tx.rows.find('topics', [{ accountId: contact.accountId, id: topicId }], ['id'])
  const [said] = await tx.rows.find('contactTopics', [{ contactId: contact.id, topicId }], ['subscribed'])
  if (!topic || said?.subscribed === 0) return
  await setSubscriptions(tx, contact, [{ topicId, subscribed: false }], at)
}
