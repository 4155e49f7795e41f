/**
 * Backups in a bucket of an S3-compatible store. The database is copied to a folder in the data folder and
 * uploaded from there; the manifest is stored last and removed first, and what has none is not a backup.
 */
import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { readBlobList } from './blob-list.ts'
import { lockForBackup } from './folder-repository.ts'
import {
  BLOB_LIST,
  backupNames,
  beyond,
  DATABASE_COPY,
  DATABASE_DUMP,
  MANIFEST_FILE,
  newBackupName,
  SEALED_SECRET,
} from './layout.ts'
import { unlisted } from './pool.ts'
import type { BackupDraft, BackupRepository } from './repository.ts'
import { requireRoom } from './room.ts'
import type { S3Place } from './s3-address.ts'
import { S3Lock } from './s3-lock.ts'
import { blobKey, download, namesInBucket, S3Pool } from './s3-pool.ts'

const UPLOAD_FOLDER = 'backup-upload'
const HOLDER_FILE = 'holder'
/** In their order. */
const UPLOADED = [DATABASE_COPY, DATABASE_DUMP, BLOB_LIST, SEALED_SECRET, MANIFEST_FILE]
const ADVICE = ': free some, or enlarge the disk; the database is copied there before it is uploaded'

export class S3Repository implements BackupRepository {
  readonly #place: S3Place
  readonly #upload: string
  readonly #lock: S3Lock
  /** Names of the backups that were there at the beginning. */
  #former: string[] = []

  constructor(place: S3Place, dataDir: string, clock: Clock) {
    this.#place = place
    this.#upload = join(dataDir, UPLOAD_FOLDER)
    this.#lock = new S3Lock(place, join(this.#upload, HOLDER_FILE), clock)
  }

  async alone<T>(run: () => Promise<T>): Promise<T> {
    const { bucket, prefix, address } = this.#place
    await mkdir(this.#upload, { recursive: true, mode: 0o700 })
    const lock = lockForBackup(this.#upload, address)
    try {
      await rm(this.#work, { recursive: true, force: true })
      return await this.#lock.held(async () => {
        await bucket.endUploads(prefix)
        this.#former = await this.#completeOrRemoved()
        return run()
      })
    } finally {
      lock.release()
    }
  }

  async begin({ nowMs, find, bytes }: Parameters<BackupRepository['begin']>[0]): Promise<BackupDraft> {
    const { bucket, prefix, address } = this.#place
    const work = this.#work
    requireRoom(this.#upload, bytes, 'the backup', ADVICE)
    await mkdir(work, { mode: 0o700 })
    const name = newBackupName(nowMs, each => this.#former.includes(each))
    return {
      ...{ name, work, path: `${address}/${name}` },
      pool: new S3Pool(this.#place, find, work),
      async publish() {
        for (const file of UPLOADED)
          if (existsSync(join(work, file))) await bucket.putFile(`${prefix}${name}/${file}`, join(work, file))
        await rm(work, { recursive: true, force: true })
      },
      discard: () => rm(work, { recursive: true, force: true }),
    }
  }

  async prune({ keep, made }: { keep: number | null; made: string }): Promise<string[]> {
    const { address } = this.#place
    const all = backupNames([...new Set([...this.#former, made])])
    const old = beyond(all, keep).filter(name => name !== made)
    for (const name of old) await this.#remove(name)
    await mkdir(this.#work, { mode: 0o700 })
    try {
      await this.#removeUnlisted(all.filter(name => !old.includes(name)))
    } finally {
      await rm(this.#work, { recursive: true, force: true })
    }
    return old.map(name => `${address}/${name}`)
  }

  get #work(): string {
    return join(this.#upload, 'work')
  }

  /** Removes what a killed process has left. @returns the names of the complete backups, the oldest first */
  async #completeOrRemoved(): Promise<string[]> {
    const { bucket, prefix } = this.#place
    const complete: string[] = []
    for (const name of backupNames(await bucket.folders(prefix))) {
      const keys = await Array.fromAsync(bucket.keys(`${prefix}${name}/`))
      if (keys.includes(`${prefix}${name}/${MANIFEST_FILE}`)) complete.push(name)
      else for (const key of keys) await bucket.remove(key)
    }
    return complete
  }

  /** A backup without its manifest is none. */
  async #remove(name: string): Promise<void> {
    const { bucket, prefix } = this.#place
    await bucket.remove(`${prefix}${name}/${MANIFEST_FILE}`)
    for await (const key of bucket.keys(`${prefix}${name}/`)) await bucket.remove(key)
  }

  /** @param names names of the backups whose files stay */
  async #removeUnlisted(names: readonly string[]): Promise<void> {
    const { bucket, prefix, address } = this.#place
    const lists: AsyncIterator<string>[] = []
    for (const name of names) {
      const path = join(this.#work, name)
      await download(bucket, `${prefix}${name}/${BLOB_LIST}`, path)
      lists.push(readBlobList(path, `${address}/${name}/${BLOB_LIST}`))
    }
    for await (const name of unlisted(namesInBucket(this.#place), lists))
      await bucket.remove(blobKey(prefix, name))
  }
}
