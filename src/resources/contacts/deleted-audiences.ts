/**
 * Contacts of audiences that have been deleted, and what was said about topics that have been: they go in
 * small steps, between which others write. What is deleted stays on the list until nothing of it is left, so
 * that a crash forgets none.
 */

import { type Clock, systemClock } from '../../lib/clock.ts'
import type { Id } from '../../lib/ids.ts'
import { command, type Run, type Tx } from '../../store/model/command.ts'
import type { ContactRow, Db, DeletedAudienceRow } from '../../store/model/schema.ts'
import { recordEvents } from '../events/record.ts'
import { contactView } from './contact.ts'
import { forgetSomeOf } from './opt-outs.ts'
import { unsubscribedTopicsOf } from './subscriptions.ts'

/** Contacts that go together; the command goes on with others while it has time. */
const CONTACTS_AT_ONCE = 16
const CHOICES_AT_ONCE = 200
/** Everybody who writes waits meanwhile. */
const STEP_TARGET_MS = 8
const STEP_CONTACTS_MAX = 128

const weigh = () => STEP_CONTACTS_MAX

function deletedAudienceCommandsWith(clock: Pick<Clock, 'monotonic'>) {
  return {
    /** False when nothing of it is left. */
    deleteContactsOf: command<{ audience: DeletedAudienceRow; at: number }, boolean>(
      async (tx, { audience, at }) => {
        const endsAt = clock.monotonic() + STEP_TARGET_MS
        for (let count = 0; count < STEP_CONTACTS_MAX && (count === 0 || clock.monotonic() < endsAt); ) {
          const contacts = await tx.db
            .selectFrom('contacts')
            .selectAll()
            .where('audienceId', '=', audience.id)
            .orderBy('id')
            .limit(CONTACTS_AT_ONCE)
            .execute()
          await deleteContacts(tx, audience, contacts, at)
          count += contacts.length
          if (contacts.length < CONTACTS_AT_ONCE) {
            await deleteRest(tx, audience)
            return false
          }
        }
        return true
      },
      { weigh },
    ),

    /** False when nothing of it is left. */
    deleteSayingsOf: command<Id, boolean>(
      async ({ db }, topicId) => {
        const sayings = await db
          .selectFrom('contactTopics')
          .select('contactId')
          .where('topicId', '=', topicId)
          .orderBy('contactId')
          .limit(CHOICES_AT_ONCE)
          .execute()
        if (sayings.length > 0)
          await db
            .deleteFrom('contactTopics')
            .where('topicId', '=', topicId)
            .where(
              'contactId',
              'in',
              sayings.map(({ contactId }) => contactId),
            )
            .execute()
        if (sayings.length === CHOICES_AT_ONCE) return true
        if (await forgetSomeOf(db, topicId, CHOICES_AT_ONCE)) return true
        await db.deleteFrom('deletedTopics').where('id', '=', topicId).execute()
        return false
      },
      { weigh },
    ),
  }
}

export const deletedAudienceCommands = deletedAudienceCommandsWith(systemClock)

interface SweepOptions {
  db: Db
  run: Run<typeof deletedAudienceCommands>
  clock: Clock
}

/** Deletes the contacts of deleted audiences, in steps. */
export async function* sweepDeletedAudiences({ db, run, clock }: SweepOptions): AsyncGenerator<void> {
  for (const audience of await db.selectFrom('deletedAudiences').selectAll().orderBy('id').execute())
    while (await run('deleteContactsOf', { audience, at: clock.now() })) yield
  for (const { id } of await db.selectFrom('deletedTopics').selectAll().orderBy('id').execute())
    while (await run('deleteSayingsOf', id)) yield
}

async function deleteContacts(
  tx: Tx,
  { id: audienceId, accountId }: DeletedAudienceRow,
  contacts: readonly ContactRow[],
  at: number,
) {
  if (contacts.length === 0) return
  const { db } = tx
  const ids = contacts.map(({ id }) => id)
  const topicsOf = await unsubscribedTopicsOf(db, accountId, ids)
  await db.deleteFrom('contactValues').where('contactId', 'in', ids).execute()
  await db.deleteFrom('contactTopics').where('contactId', 'in', ids).execute()
  await db.deleteFrom('contactActivity').where('contactId', 'in', ids).execute()
  await db.deleteFrom('contacts').where('audienceId', '=', audienceId).where('id', 'in', ids).execute()
  await recordEvents(
    tx,
    contacts.map(contact => ({
      ...{ accountId, subjectId: contact.id, type: 'contact.deleted' as const, recipient: null, at },
      data: contactView(contact, topicsOf(contact.id)),
      origin: null,
    })),
  )
}

/** There are few of each. */
async function deleteRest({ db }: Tx, { id }: DeletedAudienceRow) {
  await db.deleteFrom('contactProperties').where('audienceId', '=', id).execute()
  await db.deleteFrom('segments').where('audienceId', '=', id).execute()
  await db.deleteFrom('contactImports').where('audienceId', '=', id).execute()
  await db.deleteFrom('deletedAudiences').where('id', '=', id).execute()
}
