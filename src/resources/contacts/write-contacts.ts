/**
 * Writes contacts: rows, indexed property values for segments, counts and events, in one transaction. No
 * other code writes them.
 *
 * In: rows before and after the change. Out: the rows as written. Called by the commands of this folder.
 */

import { type Id, idKey } from '../../lib/ids.ts'
import type { Tx } from '../../store/model/command.ts'
import type { ContactRow, ContactValueRow } from '../../store/model/schema.ts'
import { findActivity } from '../events/contact-activity.ts'
import { recordEvents } from '../events/record.ts'
import type { EventType } from '../events/types.ts'
import { type ContactPlace, contactView } from './contact.ts'
import { optOutsOf } from './opt-outs.ts'
import { foldValue, type Properties, readProperties } from './properties.ts'
import { addPropertyKeys, countProperties } from './property-keys.ts'
import { putSubscriptions, unsubscribedTopicsOf } from './subscriptions.ts'

/** `before` is null for a new contact, `after` for a deleted one. A contact occurs at most once per call. */
export interface ContactWrite {
  before: ContactRow | null
  after: ContactRow | null
}

const NONE: Properties = new Map()

/**
 * Writes contacts of one existing audience. The caller checks the number of property keys (see
 * `hasRoomForKeys`).
 *
 * @returns the rows as written; a contact with a new address is unsubscribed if the owner of the address has
 * opted out
 */
export async function writeContacts(
  tx: Tx,
  place: ContactPlace,
  wanted: readonly ContactWrite[],
  at: number,
): Promise<(ContactRow | null)[]> {
  if (wanted.length === 0) return []
  const writes = await heedOptOuts(tx, place, wanted, at)
  const gone = writes.flatMap(({ before, after }) => (before && !after ? [before] : []))
  const telling = await toldOf(tx, place.accountId, gone)
  await writeEverything(tx, place, writes)
  const rest = writes.flatMap(({ after }) => (after ? [after] : []))
  const told = await toldOf(tx, place.accountId, rest)
  await recordEvents(
    tx,
    writes.map(({ before, after }) => {
      const contact = (after ?? before)!
      const type: EventType = !before ? 'contact.created' : after ? 'contact.updated' : 'contact.deleted'
      return {
        ...{ accountId: place.accountId, subjectId: contact.id, type, recipient: null, at, origin: null },
        data: after ? told(after) : telling(contact),
      }
    }),
  )
  return writes.map(({ after }) => after)
}

/**
 * Moves a contact to another audience of the account, which must not have its address. It keeps its id, its
 * subscriptions and its activity. Receivers of events see a change of its audience.
 */
export async function moveContact(tx: Tx, before: ContactRow, after: ContactRow): Promise<void> {
  const { accountId, audienceId, id } = before
  const choices = await tx.db.selectFrom('contactTopics').selectAll().where('contactId', '=', id).execute()
  const activity = await findActivity(tx.db, id)
  await writeEverything(tx, { accountId, audienceId }, [{ before, after: null }])
  await writeEverything(tx, { accountId, audienceId: after.audienceId }, [{ before: null, after }])
  await tx.rows.insert('contactTopics', choices)
  if (activity) await tx.rows.insert('contactActivity', [activity])
  const told = await toldOf(tx, accountId, [after])
  const data = told(after)
  const type = 'contact.updated' as const
  await recordEvents(tx, [
    { accountId, subjectId: id, type, recipient: null, at: after.updatedAt, origin: null, data },
  ])
}

/** Writes everything but events. */
async function writeEverything(tx: Tx, place: ContactPlace, writes: readonly ContactWrite[]): Promise<void> {
  await writeRows(tx, place, writes)
  await writeValues(tx, place.audienceId, writes)
  await countContacts(tx, place, writes)
}

/** Applies existing opt-outs to contacts whose address is new. */
async function heedOptOuts(
  tx: Tx,
  { accountId }: ContactPlace,
  writes: readonly ContactWrite[],
  at: number,
): Promise<readonly ContactWrite[]> {
  const isNew = ({ before, after }: ContactWrite) => after !== null && before?.email !== after.email
  const emails = writes.filter(isNew).map(({ after }) => after!.email)
  const optOuts = await optOutsOf(tx.db, accountId, emails)
  if (optOuts.size === 0) return writes
  const heeded: ContactWrite[] = []
  for (const write of writes) {
    const { before, after } = write
    const optOut = after && isNew(write) ? optOuts.get(after.email) : undefined
    if (after && optOut) await leaveTopics(tx, after, optOut.topicIds, at)
    heeded.push(optOut?.isFromEverything && after ? { before, after: { ...after, unsubscribed: 1 } } : write)
  }
  return heeded
}

async function leaveTopics(tx: Tx, contact: ContactRow, topicIds: readonly Id[], changedAt: number) {
  const { accountId, id: contactId } = contact
  const keys = topicIds.map(topicId => ({ contactId, topicId }))
  const topics = await tx.rows.find(
    'topics',
    topicIds.map(id => ({ accountId, id })),
    ['id'],
  )
  const present = keys.filter((_, i) => topics[i] !== undefined)
  await putSubscriptions(
    tx,
    present.map(key => ({ ...key, subscribed: 0, changedAt })),
  )
}

/** Renders contacts for events, with their current subscriptions. */
async function toldOf(tx: Tx, accountId: Id, contacts: readonly ContactRow[]) {
  const topicsOf = await unsubscribedTopicsOf(
    tx.db,
    accountId,
    contacts.map(({ id }) => id),
  )
  return (contact: ContactRow) => contactView(contact, topicsOf(contact.id))
}

async function writeRows(tx: Tx, { audienceId }: ContactPlace, writes: readonly ContactWrite[]) {
  await tx.rows.insert(
    'contacts',
    writes.flatMap(({ before, after }) => (before === null && after ? [after] : [])),
  )
  const changed = writes.flatMap(({ before, after }) => (before && after ? [after] : []))
  await tx.rows.update('contacts', ['audienceId', 'id'], changed.map(changeable))
  const gone = writes.flatMap(({ before, after }) => (before && !after ? [before.id] : []))
  if (gone.length === 0) return
  await tx.db.deleteFrom('contacts').where('audienceId', '=', audienceId).where('id', 'in', gone).execute()
  await tx.db.deleteFrom('contactTopics').where('contactId', 'in', gone).execute()
  await tx.db.deleteFrom('contactActivity').where('contactId', 'in', gone).execute()
}

function changeable({ accountId: _, createdAt: __, ...row }: ContactRow) {
  return row
}

/** Updates the indexed property values that segments use. */
async function writeValues(tx: Tx, audienceId: Id, writes: readonly ContactWrite[]) {
  const known = writes.map(({ before, after }) => ({
    contactId: (after ?? before)!.id,
    before: before ? readProperties(before.properties) : NONE,
    after: after ? readProperties(after.properties) : NONE,
  }))
  const keys = new Set(known.flatMap(({ before, after }) => [...before.keys(), ...after.keys()]))
  const propertyIds = await addPropertyKeys(tx, audienceId, [...keys])
  const added: ContactValueRow[] = []
  const changed: ContactValueRow[] = []
  const counts = new Map<number, number>()
  const count = (id: number, delta: number) => counts.set(id, (counts.get(id) ?? 0) + delta)
  for (const { contactId, before, after } of known) {
    for (const [key, value] of after) {
      const row = { contactId, propertyId: propertyIds.get(key)!, foldedValue: foldValue(value) }
      if (!before.has(key)) {
        added.push(row)
        count(row.propertyId, 1)
      } else if (before.get(key) !== value) changed.push(row)
    }
    const lost = [...before.keys()].filter(key => !after.has(key)).map(key => propertyIds.get(key)!)
    for (const id of lost) count(id, -1)
    if (lost.length > 0) await deleteValues(tx, contactId, lost)
  }
  await tx.rows.insert('contactValues', added)
  await tx.rows.update('contactValues', ['contactId', 'propertyId'], changed)
  await countProperties(tx, counts)
}

async function deleteValues({ db }: Tx, contactId: Id, propertyIds: readonly number[]) {
  await db
    .deleteFrom('contactValues')
    .where('contactId', '=', contactId)
    .where('propertyId', 'in', propertyIds)
    .execute()
}

async function countContacts(
  tx: Tx,
  { accountId, audienceId }: ContactPlace,
  writes: readonly ContactWrite[],
) {
  let contacts = 0
  let unsubscribed = 0
  for (const { before, after } of writes) {
    contacts += Number(after !== null) - Number(before !== null)
    unsubscribed += (after?.unsubscribed ?? 0) - (before?.unsubscribed ?? 0)
  }
  if (contacts === 0 && unsubscribed === 0) return
  await tx.db
    .updateTable('audiences')
    .set(eb => ({
      contactCount: eb('contactCount', '+', contacts),
      unsubscribedCount: eb('unsubscribedCount', '+', unsubscribed),
    }))
    .where('accountId', '=', accountId)
    .where('id', '=', audienceId)
    .execute()
}

/**
 * Reads contacts that are about to be changed.
 * @returns one row per reference, in order
 */
export async function findContacts(
  find: Tx['rows']['find'],
  { accountId, audienceId }: ContactPlace,
  refs: readonly ({ id: Id } | { email: string })[],
): Promise<(ContactRow | undefined)[]> {
  const byEmail = refs.flatMap(ref => ('email' in ref ? [{ accountId, email: ref.email, audienceId }] : []))
  const byId = refs.flatMap(ref => ('id' in ref ? [{ audienceId, id: ref.id }] : []))
  const [ofEmail, ofId] = [
    await find('contacts', byEmail, CONTACT_COLUMNS),
    await find('contacts', byId, CONTACT_COLUMNS),
  ]
  const [nextOfEmail, nextOfId] = [ofEmail.values(), ofId.values()]
  return refs.map(ref => {
    const row = ('email' in ref ? nextOfEmail : nextOfId).next().value
    return row && idKey(row.accountId) === idKey(accountId) ? row : undefined
  })
}

const CONTACT_COLUMNS = [
  'accountId',
  'audienceId',
  'id',
  'email',
  'foldedEmail',
  'firstName',
  'foldedFirstName',
  'lastName',
  'foldedLastName',
  'unsubscribed',
  'properties',
  'createdAt',
  'updatedAt',
  'importId',
  'importRow',
] as const
