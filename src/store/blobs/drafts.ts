/**
 * Files that are being written under temporary names. Nothing refers to a draft until it is moved to its
 * final name, so a draft can be deleted at any time.
 */
import { randomBytes } from 'node:crypto'
import { createReadStream, rmSync } from 'node:fs'
import { mkdir, open, rename, rm, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { synced } from '../../lib/synced.ts'
import { StorageUnavailable } from '../model/command.ts'

export interface Drafts {
  /** @throws StorageUnavailable */
  create(): Promise<BlobDraft>
  /**
   * Writes bytes to a new draft. A failed write leaves no file.
   * @returns the name of the draft
   * @throws StorageUnavailable
   */
  write(bytes: Uint8Array): Promise<string>
  /**
   * Syncs and renames a draft and syncs its folder. If a file with the final name exists, only its time is
   * updated.
   * @param nowMs time of the file, in ms since the epoch
   * @throws StorageUnavailable
   */
  place(name: string, path: string, nowMs: number): Promise<void>
  /**
   * Reads a draft piece by piece, for a database that stores the bytes. The draft stays. A caller that does
   * not read to the end must call `destroy`.
   */
  pieces(name: string, size: number): AsyncIterable<Uint8Array> & { destroy(): void }
  /** Deletes a draft, unless it was moved. */
  discard(name: string): Promise<void>
}

interface BlobDraft {
  name: string
  path: string
  /** @throws StorageUnavailable */
  append(pieces: readonly Uint8Array[]): Promise<void>
  close(): Promise<void>
}

/** Name of the folder of drafts, in the folder of stored files. */
export const DRAFTS_FOLDER = 'drafts'
/**
 * Error codes of a machine that cannot store files at the moment: the disk is full, read-only or failing, or
 * too many files are open.
 */
const UNAVAILABLE = new Set([
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EIO',
  'EACCES',
  'EPERM',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
])

/** @param folder folder of the blobs */
export function createDrafts(folder: string): Drafts {
  const pathOf = (name: string) => join(folder, DRAFTS_FOLDER, name)
  const newDraft = () => orUnavailable(create(join(folder, DRAFTS_FOLDER)))
  const discard = (name: string) => rm(pathOf(name), { force: true })
  return {
    create: newDraft,
    async write(bytes) {
      const draft = await newDraft()
      try {
        await draft.append([bytes])
      } catch (error) {
        await discard(draft.name).catch(() => {}) // the next start deletes drafts that cannot be deleted now
        throw error
      } finally {
        await draft.close()
      }
      return draft.name
    },
    place: (name, path, nowMs) => orUnavailable(place(pathOf(name), path, nowMs / 1_000)),
    pieces(name, highWaterMark) {
      const stream = createReadStream(pathOf(name), { highWaterMark })
      // A file that cannot be opened may fail before anybody reads the stream. Whoever reads it gets the
      // error.
      return stream.on('error', () => {})
    },
    discard,
  }
}

/**
 * Deletes the drafts that a previous process left. The caller must hold the lock of the data folder.
 * @param folder folder of the blobs
 */
export function clearDrafts(folder: string): void {
  rmSync(join(folder, DRAFTS_FOLDER), { recursive: true, force: true })
}

async function create(folder: string): Promise<BlobDraft> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const name = randomBytes(16).toString('hex')
  const path = join(folder, name)
  const file = await open(path, 'wx', 0o600)
  return {
    name,
    path,
    append: async pieces => {
      for (const piece of pieces) await orUnavailable(file.writeFile(piece))
    },
    close: () => file.close(),
  }
}

/** @param now time of the file, in seconds since the epoch */
async function place(draft: string, path: string, now: number): Promise<void> {
  if (await touched(path, now)) return rm(draft)
  await utimes(draft, now, now)
  await synced(draft)
  const folder = dirname(path)
  const made = await mkdir(folder, { recursive: true })
  await rename(draft, path)
  await synced(folder)
  if (made) await synced(dirname(folder))
}

async function touched(path: string, now: number): Promise<boolean> {
  try {
    await utimes(path, now, now)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return false
  }
}

/** Turns errors of a full or failing disk into StorageUnavailable. */
async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const { code = '', syscall } = error as NodeJS.ErrnoException
    // Node reports any failure to create a folder recursively as ENOENT
    if (!UNAVAILABLE.has(code) && syscall !== 'mkdir') throw error
    throw new StorageUnavailable(`no file can be stored at the moment (${code})`, { cause: error })
  }
}
