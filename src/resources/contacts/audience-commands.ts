/**
 * Commands that create, rename and delete audiences. `deleted-audiences.ts` deletes the contacts of a deleted
 * audience.
 */
import { command, type Tx } from '../../store/model/command.ts'
import { changeOwn, deleteOwn, type OwnKey } from '../../store/model/own-row.ts'
import type { AudienceRow } from '../../store/model/schema.ts'
import type { ContactPlace } from './contact.ts'
import { AUDIENCES_MAX } from './limits.ts'

/** Topic of announcements with the id of a deleted audience or topic. */
export const CONTACTS_DELETED = 'contacts_deleted'

export const audienceCommands = {
  /** Returns undefined if the account has the maximum number of audiences. */
  createAudience: command<OwnKey & { name: string; at: number }, AudienceRow | undefined>(
    async ({ db }, { accountId, id, name, at }) => {
      const { count } = await db
        .selectFrom('audiences')
        .select(eb => eb.fn.countAll<number>().as('count'))
        .where('accountId', '=', accountId)
        .executeTakeFirstOrThrow()
      if (Number(count) >= AUDIENCES_MAX) return undefined
      return insertAudience({ db }, { accountId, id, name, at })
    },
  ),

  /** Returns undefined if the account has no such audience. */
  renameAudience: command<OwnKey & { name: string }, AudienceRow | undefined>(({ db }, { name, ...key }) =>
    changeOwn(db, 'audiences', key, { name }),
  ),

  /** Hides the audience at once. Returns false if the account has no such audience. */
  deleteAudience: command<OwnKey & { at: number }, boolean>(async (tx, { accountId, id, at }) => {
    if (!(await deleteOwn(tx.db, 'audiences', { accountId, id }))) return false
    await tx.db.insertInto('deletedAudiences').values({ id, accountId, deletedAt: at }).execute()
    tx.announce(CONTACTS_DELETED, id)
    return true
  }),
}

/** Inserts an audience as part of a command. The caller checks the maximum number of audiences. */
export async function insertAudience(
  { db }: Pick<Tx, 'db'>,
  { accountId, id, name, at }: OwnKey & { name: string; at: number },
): Promise<AudienceRow> {
  const row = { accountId, id, name, contactCount: 0, unsubscribedCount: 0, createdAt: at }
  await db.insertInto('audiences').values(row).execute()
  return row
}

/** Tells whether an audience exists, for commands that write to it. */
export async function hasAudience({ rows }: Tx, { accountId, audienceId }: ContactPlace): Promise<boolean> {
  const [audience] = await rows.find('audiences', [{ accountId, id: audienceId }], ['id'])
  return audience !== undefined
}
