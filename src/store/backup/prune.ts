/** Removes old backups, and the files that no other backup names. */
import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { synced } from '../../lib/synced.ts'
import { readBlobList } from './blob-list.ts'
import { BLOB_LIST, INCOMPLETE, listBackups, POOL_FOLDER } from './layout.ts'
import { removeUnlisted } from './pool.ts'

/**
 * Runs while this process holds the lock of the folder.
 * @param keep number of backups that stay; null when all do
 * @param made name of the backup that was just made, which stays in any case
 * @returns paths of the backups that were removed
 */
export async function prune(
  folder: string,
  { keep, made }: { keep: number | null; made: string },
): Promise<string[]> {
  const all = listBackups(folder)
  const old =
    keep === null ? [] : all.slice(0, Math.max(0, all.length - keep)).filter(({ name }) => name !== made)
  for (const { name, path } of old) {
    // a backup that is half removed must not look like one
    await rename(path, join(folder, INCOMPLETE + name))
    await synced(folder)
    await rm(join(folder, INCOMPLETE + name), { recursive: true })
  }
  const lists = listBackups(folder).map(({ path }) => join(path, BLOB_LIST))
  if (existsSync(join(folder, POOL_FOLDER)))
    await removeUnlisted(
      join(folder, POOL_FOLDER),
      lists.map(path => readBlobList(path)),
    )
  return old.map(({ path }) => path)
}
