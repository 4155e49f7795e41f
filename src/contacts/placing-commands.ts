/** Contacts for those who name no audience: put into the oldest one, or into several at once. */
import type { Id } from '../lib/ids.ts'
import { command, type Tx } from '../store/command.ts'
import type { ContactRow } from '../store/schema.ts'
import { hasAudience, insertAudience } from './audience-commands.ts'
import { type ContactFields, newContact } from './contact.ts'
import { type ContactAnswer, refusalOf, viewOf } from './contact-commands.ts'
import { audiencesOf } from './read.ts'
import { hasTopics, type Subscription, setSubscriptions } from './topic-commands.ts'
import { writeContacts } from './write-contacts.ts'

/** Of the audience that the first contact of an account makes. */
const FIRST_AUDIENCE = 'Contacts'

interface NewPlacedContact {
  accountId: Id
  /** Different ones; none stands for the oldest of the account, which is made where it has none. */
  audienceIds: readonly Id[]
  /** For the contacts, one an audience. */
  ids: readonly Id[]
  /** For an audience, where one is made. */
  newAudienceId: Id
  fields: ContactFields
  subscriptions: readonly Subscription[]
  at: number
}

export const placingCommands = {
  /** In all of the audiences, or in none. The contact of the first of them; 'no-topic' names none of the account's. */
  placeContact: command<NewPlacedContact, ContactAnswer | 'no-topic'>(async (tx, input) => {
    const { accountId, ids, fields, subscriptions, at } = input
    if (!(await hasTopics(tx, accountId, subscriptions))) return 'no-topic'
    const [oldest] = await audiencesOf(tx.db, accountId)
    const isFirst = input.audienceIds.length === 0 && !oldest
    const named = input.audienceIds.length > 0 ? input.audienceIds : [oldest ?? input.newAudienceId]
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
}

async function writeNew(
  tx: Tx,
  row: ContactRow,
  subscriptions: readonly Subscription[],
): Promise<ContactRow> {
  const { accountId, audienceId, createdAt: at } = row
  const [written] = await writeContacts(tx, { accountId, audienceId }, [{ before: null, after: row }], at)
  return subscriptions.length === 0 ? written! : setSubscriptions(tx, written!, subscriptions, at)
}
