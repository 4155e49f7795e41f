/** Reference counts of stored contents. A content is deleted with its last reference. */
import type { Tx } from '../../store/model/command.ts'
import { type Content, encodeContent } from './content.ts'

/**
 * Stores a content with one reference.
 * @returns its key
 */
export async function storeContent(tx: Tx, content: Content): Promise<number> {
  const [id] = await tx.rows.reserve('contents', 1)
  await tx.rows.insert('contents', [{ id: id!, ...encodeContent(content), refs: 1 }])
  return id!
}

/** Adds references. */
export async function shareContent(tx: Tx, id: number, users = 1): Promise<void> {
  await tx.db
    .updateTable('contents')
    .set(eb => ({ refs: eb('refs', '+', users) }))
    .where('id', '=', id)
    .execute()
}

/** Removes one reference for each occurrence of a key, and deletes contents without references. */
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
