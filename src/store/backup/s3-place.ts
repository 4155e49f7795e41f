/** A complete backup in a bucket, whose files are downloaded to a temporary folder when they are needed. */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { blobPath } from '../blobs/blobs.ts'
import { BackupFault } from './backup-fault.ts'
import { type HashedFile, hashOfPieces } from './hashing.ts'
import { type BackupPlace, backupNames, MANIFEST_FILE, POOL_FOLDER } from './layout.ts'
import type { S3Place } from './s3-address.ts'
import { blobKey, download } from './s3-pool.ts'

export class PlaceInBucket implements BackupPlace {
  readonly name: string
  readonly path: string
  readonly blobFolder: string
  readonly #all: S3Place
  readonly #folder: string

  /**
   * @param all place of all backups
   * @param folder folder of downloaded files, which is removed at the close
   */
  constructor(all: S3Place, name: string, folder: string) {
    this.name = name
    this.path = `${all.address}/${name}`
    this.blobFolder = join(folder, POOL_FOLDER)
    this.#all = all
    this.#folder = folder
  }

  async file(name: string): Promise<string> {
    const path = join(this.#folder, name)
    if (!existsSync(path)) await this.copy(name, path)
    return path
  }

  copy(name: string, target: string): Promise<void> {
    return download(this.#all.bucket, `${this.#all.prefix}${this.name}/${name}`, target)
  }

  blobPath(name: string): string {
    return blobKey(`${this.#all.address}/`, name)
  }

  async fetchBlob(name: string): Promise<void> {
    const path = blobPath(this.blobFolder, name)
    if (existsSync(path)) return
    await mkdir(dirname(path), { recursive: true })
    await this.copyBlob(name, path)
  }

  copyBlob(name: string, target: string): Promise<void> {
    return download(this.#all.bucket, blobKey(this.#all.prefix, name), target)
  }

  hashOfBlob(name: string): Promise<HashedFile> {
    return hashOfPieces(this.#all.bucket.pieces(blobKey(this.#all.prefix, name)))
  }

  close(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true })
  }
}

/**
 * @param at a backup, or the place of all backups, which stands for the newest one
 * @param parent place of all backups, if the address is that of one backup
 * @throws BackupFault when there is none
 */
export async function findInBucket(at: S3Place, parent: S3Place | undefined): Promise<BackupPlace> {
  const isIn = async ({ bucket, prefix }: S3Place, name: string) => {
    const key = `${prefix}${name === '' ? '' : `${name}/`}${MANIFEST_FILE}`
    return (await bucket.get(key)) !== undefined
  }
  const open = async (all: S3Place, name: string) =>
    new PlaceInBucket(all, name, await mkdtemp(join(tmpdir(), 'mailhorn-backup-')))
  const own = at.address.slice(at.address.lastIndexOf('/') + 1)
  if (parent && backupNames([own]).length > 0) {
    if (await isIn(at, '')) return open(parent, own)
    throw new BackupFault(`${at.address} is not complete, or not there: it has no ${MANIFEST_FILE}`)
  }
  for (const name of backupNames(await at.bucket.folders(at.prefix)).reverse())
    if (await isIn(at, name)) return open(at, name)
  throw new BackupFault(`there is no backup in ${at.address}`)
}
