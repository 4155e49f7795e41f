/**
 * The files of all backups, in a folder. A file enters under its hash in one step, so it is whole
 * or not there, and only when its bytes have that hash.
 */
import { constants } from 'node:fs'
import { copyFile, link, mkdir, readdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { synced } from '../../lib/synced.ts'
import { blobPath } from '../blobs/blobs.ts'
import { codeOf } from '../model/errors.ts'
import { hashOfFile } from './hashing.ts'

interface PoolOptions {
  /** Folder of the files of all backups. */
  pool: string
  find: LiveFile
  /** Folder for copies that are being written, on the disk of the pool. */
  work: string
}

/**
 * Finds a file in use by its name.
 * @param work folder in which the file may be written, to be read there until the next one is searched for
 * @returns its path, at which it may be missing; undefined when it is known to be missing
 */
export type LiveFile = (name: string, work: string) => Promise<string | undefined>

/** The files of all backups, each once. */
export interface FilePool {
  /** Adds a file in use, unless it is there. Names are added in their order. */
  add(name: string): Promise<AddResult>
  /** Makes sure that what was added stays. */
  sync(): Promise<void>
}

export type AddResult = 'known' | 'added' | 'missing' | 'damaged'

/** Reasons for which a file cannot be linked but may be copied. */
const UNLINKABLE = new Set(['EXDEV', 'EPERM', 'EMLINK', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])
const INNER_FOLDER = /^[0-9a-f]{2}$/
export const BLOB_NAME = /^[0-9a-f]{64}$/

export class BlobPool implements FilePool {
  readonly #options: PoolOptions
  /** Names in one inner folder; names are added in their order. */
  #known: { inner: string; names: Set<string> } = { inner: '', names: new Set() }
  readonly #changed = new Set<string>()

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** Links the file that is found, or copies it from another disk. */
  async add(name: string): Promise<AddResult> {
    const names = await this.#namesBeside(name)
    if (names.has(name)) return 'known'
    const { pool, find, work } = this.#options
    const target = blobPath(pool, name)
    try {
      const path = await find(name, work)
      if (path === undefined) return 'missing'
      if ((await hashOfFile(path)).sha256 !== name) return 'damaged'
      await mkdir(dirname(target), { recursive: true, mode: 0o700 })
      if (!(await this.#place(path, target, name))) return 'damaged'
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
      return 'missing'
    }
    names.add(name)
    this.#changed.add(dirname(target))
    return 'added'
  }

  /** Syncs the folders of files that were added. */
  async sync(): Promise<void> {
    if (this.#changed.size === 0) return
    for (const folder of this.#changed) await synced(folder)
    this.#changed.clear()
    await synced(this.#options.pool)
  }

  /** @returns false when the copy has other bytes */
  async #place(path: string, target: string, name: string): Promise<boolean> {
    try {
      await link(path, target)
      return true
    } catch (error) {
      if (!UNLINKABLE.has(codeOf(error))) throw error
    }
    const copy = join(this.#options.work, 'copied-blob')
    await copyFile(path, copy, constants.COPYFILE_FICLONE)
    if ((await hashOfFile(copy)).sha256 !== name) return false
    await synced(copy)
    await rename(copy, target)
    return true
  }

  async #namesBeside(name: string): Promise<Set<string>> {
    const inner = name.slice(0, 2)
    if (this.#known.inner !== inner)
      this.#known = { inner, names: new Set(await entriesOf(join(this.#options.pool, inner))) }
    return this.#known.names
  }
}

/** Lists the files in the folder in the order of their names. */
export async function* namesInPool(pool: string): AsyncGenerator<string> {
  for (const inner of (await entriesOf(pool)).filter(name => INNER_FOLDER.test(name)).sort())
    for (const name of (await entriesOf(join(pool, inner))).sort())
      if (BLOB_NAME.test(name) && name.startsWith(inner)) yield name
}

/**
 * Finds the files that no list names.
 * @param names names of the files, sorted
 * @param lists names of the files of each backup, sorted
 */
export async function* unlisted(
  names: AsyncIterable<string>,
  lists: readonly AsyncIterator<string>[],
): AsyncGenerator<string> {
  const heads = await Promise.all(lists.map(list => list.next()))
  let last = ''
  for await (const name of names) {
    // files that are wanted would be found unlisted
    if (name <= last) throw new Error(`the files of the backups are not listed in order: ${name}`)
    last = name
    let isListed = false
    for (const [i, list] of lists.entries()) {
      while (!heads[i]!.done && heads[i]!.value < name) heads[i] = await list.next()
      if (heads[i]!.value === name) isListed = true
    }
    if (!isListed) yield name
  }
}

/** @returns no names when there is no such folder */
async function entriesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    return []
  }
}
