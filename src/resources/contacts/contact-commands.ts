/**
 * Commands that create, change and delete single contacts.
 *
 * In: the audience and the changes. Out: the contact as the API shows it, or a `ContactRefusal`. Called by
 * the contact routes of the API through the writer.
 */
import { type Id, sameId } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { ContactRow } from '../../store/model/schema.ts'
import { hasAudience } from './audience-commands.ts'
import {
  type ContactChanges,
  type ContactFields,
  type ContactPlace,
  type ContactRef,
  type ContactView,
  changedContact,
  contactView,
  newContact,
  type Reach,
} from './contact.ts'
import { PROPERTIES_MAX } from './limits.ts'
import { forgetOptOut, rememberOptOut } from './opt-outs.ts'
import { readProperties } from './properties.ts'
import { hasRoomForKeys } from './property-keys.ts'
import { contactsByAddress } from './read.ts'
import { unsubscribedTopicsOf } from './subscriptions.ts'
import { findContacts, writeContacts } from './write-contacts.ts'

/**
 * Reason why nothing was changed: audience or contact does not exist, the address is taken, the contact would
 * have too many properties, or the audience would have too many different property keys.
 */
export type ContactRefusal = 'no-audience' | 'no-contact' | 'taken' | 'too-many-properties' | 'too-many-keys'

export type ContactAnswer = { contact: ContactView } | { refused: ContactRefusal }

export const contactCommands = {
  addContact: command<ContactPlace & { id: Id; fields: ContactFields; at: number }, ContactAnswer>(
    async (tx, { id, fields, at, ...place }) => {
      if (!(await hasAudience(tx, place))) return { refused: 'no-audience' }
      return store(tx, place, null, newContact(place, id, fields, at))
    },
  ),

  changeContact: command<
    ContactPlace & { ref: ContactRef; changes: ContactChanges; reach?: Reach; at: number },
    ContactAnswer
  >(async (tx, { ref, changes, reach, at, accountId, audienceId }) => {
    const place = { accountId, audienceId }
    if (!(await hasAudience(tx, place))) return { refused: 'no-audience' }
    const [before] = await findContacts(tx.rows.find, place, [ref])
    if (!before) return { refused: 'no-contact' }
    const after = changedContact(before, changes, at)
    const answer = await store(tx, place, before, after)
    if ('refused' in answer || changes.unsubscribed === undefined) return answer
    if (!answer.contact.unsubscribed) await forgetOptOut(tx, { accountId, email: after.email }, null)
    if (reach === 'account') await setUnsubscribedOfOthers(tx, before, changes.unsubscribed, at)
    if (reach === 'account' && changes.unsubscribed) await rememberOptOut(tx, after, null, at)
    return answer
  }),

  /** Returns the contact before its deletion. */
  removeContact: command<ContactPlace & { ref: ContactRef; at: number }, ContactAnswer>(
    async (tx, { ref, at, ...place }) => {
      if (!(await hasAudience(tx, place))) return { refused: 'no-audience' }
      const [before] = await findContacts(tx.rows.find, place, [ref])
      if (!before) return { refused: 'no-contact' }
      const contact = await viewOf(tx, before)
      await writeContacts(tx, place, [{ before, after: null }], at)
      return { contact }
    },
  ),
}

/** Applies the change to contacts with the same address in other audiences. */
async function setUnsubscribedOfOthers(
  tx: Tx,
  { id, accountId, email }: ContactRow,
  unsubscribed: boolean,
  at: number,
) {
  for (const other of await contactsByAddress(tx.db, accountId, email))
    if (!sameId(other.id, id)) await setUnsubscribed(tx, other, unsubscribed, at)
}

/** Part of a command. Contacts that already have the value are not changed and cause no event. */
export async function setUnsubscribed(tx: Tx, before: ContactRow, unsubscribed: boolean, at: number) {
  if ((before.unsubscribed === 1) === unsubscribed) return
  const { accountId, audienceId } = before
  const after = changedContact(before, { unsubscribed }, at)
  await writeContacts(tx, { accountId, audienceId }, [{ before, after }], at)
}

async function store(
  tx: Tx,
  place: ContactPlace,
  before: ContactRow | null,
  after: ContactRow,
): Promise<ContactAnswer> {
  const refused = await refusalOf(tx, place, before, after)
  if (refused) return { refused }
  const [written] = await writeContacts(tx, place, [{ before, after }], after.updatedAt)
  return { contact: await viewOf(tx, written!) }
}

/** Part of a command for an existing audience. Returns undefined if the contact can be written. */
export async function refusalOf(
  tx: Tx,
  place: ContactPlace,
  before: ContactRow | null,
  after: ContactRow,
): Promise<ContactRefusal | undefined> {
  if (before?.email !== after.email) {
    const [holder] = await findContacts(tx.rows.find, place, [{ email: after.email }])
    if (holder && !(before && sameId(holder.id, before.id))) return 'taken'
  }
  const keys = [...readProperties(after.properties).keys()]
  if (keys.length > PROPERTIES_MAX) return 'too-many-properties'
  return (await hasRoomForKeys(tx, place.audienceId, keys)) ? undefined : 'too-many-keys'
}

/** Part of a command. Returns the contact as the API shows it. */
export async function viewOf(tx: Tx, contact: ContactRow): Promise<ContactView> {
  const topicsOf = await unsubscribedTopicsOf(tx.db, contact.accountId, [contact.id])
  return contactView(contact, topicsOf(contact.id))
}
