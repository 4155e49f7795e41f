/**
 * Files that are being written under temporary names. Nothing refers to a draft until it is moved to its
 * final name, so a draft can be deleted at any time.
 */
import { randomBytes } from 'node:crypto'
import { createReadStream, rmSync } from 'node:fs'
import { mkdir, open, rename, rm, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StorageUnavailable } from '../command.ts'

export interface Drafts {
  /** @throws StorageUnavailable */
  create(): Promise<BlobDraft>
  /** @returns the draft's name @throws StorageUnavailable, and leaves nothing */
  write(bytes: Uint8Array): Promise<string>
  /**
   * Synced, renamed, and the folder synced; a file already there is only marked as fresh.
   * @param nowMs epoch ms, which the file bears
   * @throws StorageUnavailable
   */
  place(name: string, path: string, nowMs: number): Promise<void>
  /**
   * Piece by piece, for a place that is no file; the draft stays. To be destroyed by those who do not read it
   * to its end.
   */
  pieces(name: string, size: number): AsyncIterable<Uint8Array> & { destroy(): void }
  /** Nothing happens where it has been placed. */
  discard(name: string): Promise<void>
}

interface BlobDraft {
  name: string
  path: string
  /** @throws StorageUnavailable */
  append(pieces: readonly Uint8Array[]): Promise<void>
  close(): Promise<void>
}

/** Below the folder of stored files. */
export const DRAFTS_FOLDER = 'drafts'
/** Of a machine that cannot store files at the moment: full, read-only, failing, or busy with too many. */
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

/** @param folder of the blobs */
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
        await discard(draft.name).catch(() => {}) // the next start clears what has to stay
        throw error
      } finally {
        await draft.close()
      }
      return draft.name
    },
    place: (name, path, nowMs) => orUnavailable(place(pathOf(name), path, nowMs / 1_000)),
    pieces: (name, highWaterMark) => createReadStream(pathOf(name), { highWaterMark }),
    discard,
  }
}

/** What a former process has left; for the one to whom the folder belongs. @param folder of the blobs */
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

/** @param now epoch seconds */
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

/** A file or a folder. */
async function synced(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** What the machine cannot do at the moment is no fault of the program. */
async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const { code = '', syscall } = error as NodeJS.ErrnoException
    // a folder that cannot be made, for whatever reason, is told of as one that is not there
    if (!UNAVAILABLE.has(code) && syscall !== 'mkdir') throw error
    throw new StorageUnavailable(`no file can be stored at the moment (${code})`, { cause: error })
  }
}
