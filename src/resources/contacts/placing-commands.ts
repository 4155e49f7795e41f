/**
 * Commands for API calls that name no audience: add a contact to the oldest audience or to several, copy it
 * to others, remove it from some.
 */
import type { Id } from '../../lib/ids.ts'
import { command, type Tx } from '../../store/command.ts'
import type { ContactRow } from '../../store/schema.ts'
import { hasAudience, insertAudience } from './audience-commands.ts'
import { type ContactFields, type ContactPlace, newContact } from './contact.ts'
import { type ContactAnswer, refusalOf, viewOf } from './contact-commands.ts'
import { audiencesWith, oldestAudience } from './read.ts'
import { hasTopics, setSubscriptions, type TopicSubscription } from './topic-commands.ts'
import { findContacts, writeContacts } from './write-contacts.ts'

/** Name of the audience that is created with the first contact of an account. */
const FIRST_AUDIENCE = 'Contacts'

interface NewPlacedContact {
  accountId: Id
  /**
   * Distinct audiences. An empty list stands for the oldest audience of the account, which is created if
   * there is none.
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

interface ContactKey {
  audienceId: Id
  id: Id
}

export const placingCommands = {
  /** Returns the oldest audience of the account, which is created if there is none. */
  homeAudience: command<{ accountId: Id; newAudienceId: Id; at: number }, Id>(
    async (tx, { accountId, newAudienceId, at }) => {
      const oldest = await oldestAudience(tx.db, accountId)
      return (
        oldest ?? (await insertAudience(tx, { accountId, id: newAudienceId, name: FIRST_AUDIENCE, at }))
      ).id
    },
  ),

  /**
   * Creates the contact in all of the audiences or in none. Returns the contact in the first of them, or
   * 'no-topic' if a topic does not belong to the account.
   */
  placeContact: command<NewPlacedContact, ContactAnswer | 'no-topic'>(async (tx, input) => {
    const { accountId, ids, fields, subscriptions, at } = input
    if (!(await hasTopics(tx, accountId, subscriptions))) return 'no-topic'
    const oldest = await oldestAudience(tx.db, accountId)
    const isFirst = input.audienceIds.length === 0 && !oldest
    const named = input.audienceIds.length > 0 ? input.audienceIds : [oldest?.id ?? input.newAudienceId]
    const rows = named.map((audienceId, i) => newContact({ accountId, audienceId }, ids[i]!, fields, at))
    for (const row of rows) {
      if (!isFirst && !(await hasAudience(tx, row))) return { refused: 'no-audience' }
      const refused = await refusalOf(tx, row, null, row)
      if (refused) return { refused }
    }
    if (isFirst) await insertAudience(tx, { accountId, id: input.newAudienceId, name: FIRST_AUDIENCE, at })
    const written: ContactRow[] = []
    for (const row of rows) written.push(await writeNew(tx, row, subscriptions))
    return { contact: await viewOf(tx, written[0]!) }
  }),

  /**
   * Copies a contact with its subscriptions to another audience. Returns the contact there, including one
   * that existed before.
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
      const [written] = await writeContacts(tx, place, [{ before: null, after }], at)
      return { contact: await viewOf(tx, written!) }
    },
  ),

  /**
   * Deletes a contact from one of its audiences. Returns 'only-audience' without a change if it is in no
   * other.
   */
  takeOutContact: command<ContactPlace & { email: string; at: number }, ContactAnswer | 'only-audience'>(
    async (tx, { email, at, ...place }) => {
      if (!(await hasAudience(tx, place))) return { refused: 'no-audience' }
      const [before] = await findContacts(tx.rows.find, place, [{ email }])
      if (!before) return { refused: 'no-contact' }
      if ((await audiencesWith(tx.db, place.accountId, email)).length < 2) return 'only-audience'
      const contact = await viewOf(tx, before)
      await writeContacts(tx, place, [{ before, after: null }], at)
      return { contact }
    },
  ),
}

/** Runs before the contact is written, so that an opt-out that happened in the meantime takes precedence. */
async function copySubscriptions({ db, rows }: Tx, from: Id, contactId: Id): Promise<void> {
  const said = await db.selectFrom('contactTopics').selectAll().where('contactId', '=', from).execute()
  await rows.insert(
    'contactTopics',
    said.map(row => ({ ...row, contactId })),
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
