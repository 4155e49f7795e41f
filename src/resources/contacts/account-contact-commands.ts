/**
 * Commands for API calls that name no audience: add a contact to the oldest audience or to several, copy it
 * to others, remove it from some. They keep a contact that exists, and one that is in no other audience.
 */
import { type Id, sameId } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { ContactRow } from '../../store/model/schema.ts'
import { copyActivity } from '../events/contact-activity.ts'
import { hasAudience, insertAudience } from './audience-commands.ts'
import { type ContactFields, type ContactPlace, type ContactView, newContact } from './contact.ts'
import { type ContactAnswer, type ContactRefusal, refusalOf, viewOf } from './contact-commands.ts'
import { rememberOptOut } from './opt-outs.ts'
import { audiencesWith, contactsByAddress, oldestAudience } from './read.ts'
import { hasTopics, setSubscriptions, type TopicSubscription } from './topic-commands.ts'
import { findContacts, moveContact, writeContacts } from './write-contacts.ts'

/** Name of the audience for contacts that are in no other; it is created with the first of them. */
const FIRST_AUDIENCE = 'Contacts'

interface NewAccountContact {
  accountId: Id
  /**
   * Distinct audiences. An empty list stands for an audience that has the address, or for the oldest one of
   * the account, which is created if there is none.
   */
  audienceIds: readonly Id[]
  /** Ids of the new contacts, one per audience. */
  ids: readonly Id[]
  /** Id of the audience if one is created. */
  newAudienceId: Id
  fields: ContactFields
  subscriptions: readonly TopicSubscription[]
  at: number
}

/** `kept` has the contacts that existed and were not changed. */
type AccountContactAnswer =
  | { contact: ContactView; existing: ContactView[] }
  | { refused: ContactRefusal }
  | 'no-topic'

interface ContactKey {
  audienceId: Id
  id: Id
}

export const accountContactCommands = {
  /** Returns the oldest audience of the account, which is created if there is none. */
  oldestOrNewAudience: command<{ accountId: Id; newAudienceId: Id; at: number }, Id>(
    async (tx, { accountId, newAudienceId, at }) => {
      const oldest = await oldestAudience(tx.db, accountId)
      return (
        oldest ?? (await insertAudience(tx, { accountId, id: newAudienceId, name: FIRST_AUDIENCE, at }))
      ).id
    },
  ),

  /**
   * Creates the contact in those of the audiences that do not have its address, or in none. Returns the
   * contact in the first of the audiences, or 'no-topic' if a topic does not belong to the account.
   */
  addAccountContact: command<NewAccountContact, AccountContactAnswer>(async (tx, input) => {
    const { accountId, ids, fields, subscriptions, at } = input
    if (!(await hasTopics(tx, accountId, subscriptions))) return 'no-topic'
    const known = await contactsByAddress(tx.db, accountId, fields.email)
    const oldest = await oldestAudience(tx.db, accountId)
    const isFirst = input.audienceIds.length === 0 && !oldest
    const home = known[0]?.audienceId ?? oldest?.id ?? input.newAudienceId
    const named = input.audienceIds.length > 0 ? input.audienceIds : [home]
    const holders = named.map(id => known.find(({ audienceId }) => sameId(audienceId, id)))
    // an address that has unsubscribed everywhere stays unsubscribed in further audiences
    const hasLeft = known.length > 0 && known.every(({ unsubscribed }) => unsubscribed === 1)
    const initial = hasLeft ? { ...fields, unsubscribed: true } : fields
    const rows = named.map(
      (audienceId, i) => holders[i] ?? newContact({ accountId, audienceId }, ids[i]!, initial, at),
    )
    const added = rows.filter((_, i) => !holders[i])
    for (const row of added) {
      if (!isFirst && !(await hasAudience(tx, row))) return { refused: 'no-audience' }
      const refused = await refusalOf(tx, row, null, row)
      if (refused) return { refused }
    }
    if (isFirst) await insertAudience(tx, { accountId, id: input.newAudienceId, name: FIRST_AUDIENCE, at })
    const views: ContactView[] = []
    for (const [i, row] of rows.entries()) {
      if (!holders[i] && known[0]) {
        await copySubscriptions(tx, known[0].id, row.id)
        await copyActivity(tx, known[0].id, row.id)
      }
      views.push(await viewOf(tx, holders[i] ?? (await writeNew(tx, row, subscriptions))))
    }
    // a call that names no audience is about the address
    if (input.audienceIds.length === 0 && added[0]?.unsubscribed) await rememberOptOut(tx, added[0], null, at)
    return { contact: views[0]!, existing: views.filter((_, i) => holders[i]) }
  }),

  /**
   * Copies a contact with its subscriptions and activity to another audience. Returns the contact there,
   * including one that existed before.
   */
  copyContact: command<ContactPlace & { from: ContactKey; id: Id; at: number }, ContactAnswer>(
    async (tx, { from, id, at, accountId, audienceId }) => {
      const place = { accountId, audienceId }
      if (!(await hasAudience(tx, place))) return { refused: 'no-audience' }
      const [source] = await findContacts(tx.rows.find, { accountId, audienceId: from.audienceId }, [from])
      if (!source) return { refused: 'no-contact' }
      const [holder] = await findContacts(tx.rows.find, place, [{ email: source.email }])
      if (holder) return { contact: await viewOf(tx, holder) }
      const after = { ...source, ...place, id, createdAt: at, updatedAt: at }
      const refused = await refusalOf(tx, place, null, after)
      if (refused) return { refused }
      await copySubscriptions(tx, source.id, id)
      await copyActivity(tx, source.id, id)
      const [written] = await writeContacts(tx, place, [{ before: null, after }], at)
      return { contact: await viewOf(tx, written!) }
    },
  ),

  /**
   * Deletes a contact from one of its audiences. If it is in no other, it is moved to the audience
   * "Contacts", which is created if there is none. Returns 'stays' if it is in no other audience than that
   * one.
   */
  removeFromAudience: command<
    ContactPlace & { email: string; newAudienceId: Id; at: number },
    { refused: ContactRefusal } | 'removed' | 'stays'
  >(async (tx, { email, newAudienceId, at, ...place }) => {
    if (!(await hasAudience(tx, place))) return { refused: 'no-audience' }
    const [before] = await findContacts(tx.rows.find, place, [{ email }])
    if (!before) return { refused: 'no-contact' }
    if ((await audiencesWith(tx.db, place.accountId, email)).length > 1) {
      await writeContacts(tx, place, [{ before, after: null }], at)
      return 'removed'
    }
    const list = await findContactList(tx, place.accountId)
    if (list && sameId(list, place.audienceId)) return 'stays'
    const audienceId = list ?? newAudienceId
    if (!list)
      await insertAudience(tx, { accountId: place.accountId, id: audienceId, name: FIRST_AUDIENCE, at })
    const after = { ...before, audienceId, updatedAt: at }
    const refused = await refusalOf(tx, after, null, after)
    if (refused) return { refused }
    await moveContact(tx, before, after)
    return 'removed'
  }),
}

/** Finds the list of contacts that are in no other audience. */
async function findContactList({ db }: Tx, accountId: Id): Promise<Id | undefined> {
  const list = await db
    .selectFrom('audiences')
    .select('id')
    .where('accountId', '=', accountId)
    .where('name', '=', FIRST_AUDIENCE)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  return list?.id
}

/** Runs before the contact is written, so that an opt-out that happened in the meantime takes precedence. */
async function copySubscriptions({ db, rows }: Tx, from: Id, contactId: Id): Promise<void> {
  const choices = await db.selectFrom('contactTopics').selectAll().where('contactId', '=', from).execute()
  await rows.insert(
    'contactTopics',
    choices.map(row => ({ ...row, contactId })),
  )
}

async function writeNew(
  tx: Tx,
  row: ContactRow,
  subscriptions: readonly TopicSubscription[],
): Promise<ContactRow> {
  const { accountId, audienceId, createdAt: at } = row
  const [written] = await writeContacts(tx, { accountId, audienceId }, [{ before: null, after: row }], at)
  return subscriptions.length === 0 ? written! : setSubscriptions(tx, written!, subscriptions, at)
}
