/** Contents in the store: each is there once, as long as it has users. */
import type { Tx } from '../../store/command.ts'
import { type Content, encodeContent } from './content.ts'

/** Returns the key of a content that has one user. */
export async function storeContent(tx: Tx, content: Content): Promise<number> {
  const [id] = await tx.rows.reserve('contents', 1)
  await tx.rows.insert('contents', [{ id: id!, ...encodeContent(content), refs: 1 }])
  return id!
}

/** One user more, or several. */
export async function shareContent(tx: Tx, id: number, users = 1): Promise<void> {
  await tx.db
    .updateTable('contents')
    .set(eb => ({ refs: eb('refs', '+', users) }))
    .where('id', '=', id)
    .execute()
}

/** One user less for every time a key is named; what nobody uses any more goes. */
export async function releaseContents(tx: Tx, ids: readonly number[]): Promise<void> {
  for (const [id, users] of Map.groupBy(ids, each => each)) {
    await tx.db
      .updateTable('contents')
      .set(eb => ({ refs: eb('refs', '-', users.length) }))
      .where('id', '=', id)
      .execute()
    await tx.db.deleteFrom('contents').where('id', '=', id).where('refs', '<=', 0).execute()
  }
}
