/** Backups in a folder. Each is written to a folder with another name, which is renamed at the end. */
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { synced } from '../../lib/synced.ts'
import { blobPath } from '../blobs/blobs.ts'
import { FolderInUse, lockFolder } from '../opening/lock.ts'
import { BackupInProgress } from './backup-fault.ts'
import { readBlobList } from './blob-list.ts'
import { BLOB_LIST, beyond, INCOMPLETE, listBackups, newBackupName, POOL_FOLDER } from './layout.ts'
import { BlobPool, namesInPool, unlisted } from './pool.ts'
import type { BackupDraft, BackupRepository } from './repository.ts'
import { requireRoom } from './room.ts'

const ADVICE = ': free some, keep fewer backups, or use another disk'

export class FolderRepository implements BackupRepository {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  async alone<T>(run: () => Promise<T>): Promise<T> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const lock = lockForBackup(this.#folder, this.#folder)
    try {
      for (const name of await readdir(this.#folder))
        if (name.startsWith(INCOMPLETE)) await rm(join(this.#folder, name), { recursive: true, force: true })
      return await run()
    } finally {
      lock.release()
    }
  }

  async begin({ nowMs, find, bytes }: Parameters<BackupRepository['begin']>[0]): Promise<BackupDraft> {
    const folder = this.#folder
    requireRoom(folder, bytes, 'the backup', ADVICE)
    const name = newBackupName(nowMs, each => existsSync(join(folder, each)))
    const work = join(folder, INCOMPLETE + name)
    const path = join(folder, name)
    await mkdir(work, { mode: 0o700 })
    return {
      ...{ name, path, work },
      pool: new BlobPool({ pool: join(folder, POOL_FOLDER), find, work }),
      async publish() {
        await synced(work)
        await rename(work, path)
        await synced(folder)
        await synced(dirname(folder))
      },
      discard: () => rm(work, { recursive: true, force: true }),
    }
  }

  async prune({ keep, made }: { keep: number | null; made: string }): Promise<string[]> {
    const folder = this.#folder
    const old = beyond(listBackups(folder), keep).filter(({ name }) => name !== made)
    for (const { name, path } of old) {
      // a backup that is half removed must not look like one
      await rename(path, join(folder, INCOMPLETE + name))
      await synced(folder)
      await rm(join(folder, INCOMPLETE + name), { recursive: true })
    }
    const lists = listBackups(folder).map(({ path }) => readBlobList(join(path, BLOB_LIST)))
    const pool = join(folder, POOL_FOLDER)
    for await (const name of unlisted(namesInPool(pool), lists)) await rm(blobPath(pool, name))
    return old.map(({ path }) => path)
  }
}

/**
 * @param folder folder that is locked
 * @param target path or URL of the backups, for the message
 * @throws BackupInProgress
 */
export function lockForBackup(folder: string, target: string) {
  try {
    return lockFolder(folder)
  } catch (error) {
    if (error instanceof FolderInUse) throw new BackupInProgress(`another backup to ${target} is being made`)
    throw error
  }
}
