/** The files of all backups, in a bucket. A file appears there only when all of it was received. */
import { rm } from 'node:fs/promises'
import type { S3Bucket } from '../../protocols/s3/bucket.ts'
import { codeOf } from '../model/errors.ts'
import { hashOfFile, writeHashed } from './hashing.ts'
import { POOL_FOLDER } from './layout.ts'
import { type AddResult, BLOB_NAME, type FilePool, type LiveFile } from './pool.ts'
import type { S3Place } from './s3-address.ts'

export function blobKey(prefix: string, name: string): string {
  return `${prefix}${POOL_FOLDER}/${name.slice(0, 2)}/${name}`
}

/** Downloads an object to a path at which there is no file. */
export async function download(bucket: S3Bucket, key: string, path: string): Promise<void> {
  try {
    await writeHashed(path, bucket.pieces(key))
  } catch (error) {
    await rm(path, { force: true })
    throw error
  }
}

/** Lists the files in the order of their names. */
export async function* namesInBucket({ bucket, prefix }: S3Place, inner = ''): AsyncGenerator<string> {
  for await (const key of bucket.keys(`${prefix}${POOL_FOLDER}/${inner}`)) {
    const name = key.slice(key.lastIndexOf('/') + 1)
    if (BLOB_NAME.test(name) && key === blobKey(prefix, name)) yield name
  }
}

export class S3Pool implements FilePool {
  readonly #place: S3Place
  readonly #find: LiveFile
  readonly #work: string
  /** Names that begin with two digits; names are added in their order. */
  #known: { inner: string; names: Set<string> } = { inner: '', names: new Set() }

  /** @param work folder in which files may be written before they are uploaded */
  constructor(place: S3Place, find: LiveFile, work: string) {
    this.#place = place
    this.#find = find
    this.#work = work
  }

  async add(name: string): Promise<AddResult> {
    const names = await this.#namesBeside(name)
    if (names.has(name)) return 'known'
    const { bucket, prefix } = this.#place
    try {
      const path = await this.#find(name, this.#work)
      if (path === undefined) return 'missing'
      if ((await hashOfFile(path)).sha256 !== name) return 'damaged'
      await bucket.putFile(blobKey(prefix, name), path)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
      return 'missing'
    }
    names.add(name)
    return 'added'
  }

  async sync(): Promise<void> {} // what the store has received stays

  async #namesBeside(name: string): Promise<Set<string>> {
    const inner = name.slice(0, 2)
    if (this.#known.inner !== inner) {
      const names = await Array.fromAsync(namesInBucket(this.#place, `${inner}/`))
      this.#known = { inner, names: new Set(names) }
    }
    return this.#known.names
  }
}
