/**
 * Opens the store: locks the data folder, starts the writer thread and opens the reading connection of the
 * main thread.
 *
 * In: the location and the entry file of the writer, from `app/app.ts` and the command line. Out: `run` for
 * commands, `db` and `find` for queries, `on` for announcements.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'
import { type Clock, every, sleep, type Timer } from '../../lib/clock.ts'
import { BUSY_THREAD } from '../../lib/thread-memory.ts'
import { RunningWorker } from '../../lib/worker.ts'
import type { BlobFiles } from '../blobs/blobs.ts'
import { clearDrafts } from '../blobs/drafts.ts'
import type { Commands } from '../model/command.ts'
import type { Db } from '../model/schema.ts'
import type { Find, ReadTogether } from '../reading/read.ts'
import { type ClientOptions, createWriterClient, type WriterClient } from '../writer/client.ts'
import { NO_FIGURES, type WriterFigures } from '../writer/figures.ts'
import { databaseFile, isShared, locate, openReader, type StoreLocation } from './dialect.ts'
import { tightenFiles } from './file-modes.ts'
import { FolderInUse, type FolderLock, LOCK_FILE, lockFolder } from './lock.ts'
import type { WriterNotice, WriterOrder, WriterThreadData } from './writer-thread.ts'

/** Interval between two attempts to lock the folder. */
const LOCK_RETRY_MS = 100
/** Interval between two checks of the database file. */
const CHECK_INTERVAL_MS = 5_000

export interface StoreOptions {
  dataDir: string
  /** `sqlite:<file in dataDir>`, or `postgres://…` */
  url: string
  /** Entry file of the writer thread, which lists the commands. */
  writerThread: URL
  clock: Clock
  /** Called when nothing can be stored any more: the writer thread has died, or the database file is gone. */
  onLoss(error: Error): void
  /**
   * Commands whose answer the main thread does not wait for, with the time in ms that each may wait to share
   * a commit.
   */
  lazyMs?: ClientOptions['lazyMs']
  /** Time that another process may still hold the folder, in ms. The default is 0. */
  patienceMs?: number
  /** Called while the folder is locked, before the database is opened and migrated. */
  prepare?(location: StoreLocation): Promise<void>
}

export interface Store<C extends Commands> {
  run: WriterClient<C>['run']
  on: WriterClient<C>['on']
  unavailableAt: WriterClient<C>['unavailableAt']
  /** Read-only queries. Every statement sees the last commit. */
  db: Db
  find: Find
  readTogether: ReadTogether
  blobs: BlobFiles
  location: StoreLocation
  /** Whether other processes may use the store at the same time. */
  isShared: boolean
  /** Names of the migrations applied by this start. */
  migrations: string[]
  /** Figures of the writer, at most about a second old. */
  figures(): WriterFigures
  /** Returns the end of a channel to the writer, for another thread. */
  connectThread(): MessagePort
  close(): Promise<void>
}

/**
 * An empty database becomes a store; `start-check.ts` decides before whether it may.
 * @throws StartFault when the folder is in use or cannot be written, or when the database is newer than this
 * version
 */
export async function openStore<C extends Commands>(options: StoreOptions): Promise<Store<C>> {
  const location = locate(options)
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 })
  const lock = await lockPatiently(options)
  try {
    tightenFiles({ ...options, blobFolder: location.blobFolder, databaseFile: databaseFile(location) })
    clearDrafts(location.blobFolder)
    await options.prepare?.(location)
  } catch (error) {
    lock.release()
    throw error
  }
  const writer = new RunningWorker(
    {
      name: 'writer',
      entry: options.writerThread,
      data: { location, nowMs: options.clock.now() } satisfies WriterThreadData,
      limits: BUSY_THREAD,
    },
    (error, wasReady) => wasReady && options.onLoss(error),
  )
  const { thread } = writer
  let figures = NO_FIGURES
  thread.on('message', (notice: WriterNotice) => {
    if (notice.notice === 'figures') ({ figures } = notice)
  })
  try {
    const notice = (await writer.ready) as WriterNotice
    const migrations = notice.notice === 'ready' ? notice.migrations : []
    const watch = watchDatabase(location, options)
    const client = createWriterClient<C>(connect(thread), options)
    const { db, find, readTogether, blobs } = openReader(location, options.clock.now)
    return {
      run: client.run,
      on: client.on,
      unavailableAt: client.unavailableAt,
      db,
      find,
      readTogether,
      blobs,
      location,
      isShared: isShared(location),
      migrations,
      figures: () => figures,
      connectThread: () => connect(thread),
      async close() {
        watch?.cancel()
        await db.destroy()
        await writer.stop({ order: 'stop' } satisfies WriterOrder)
        lock.release()
      },
    }
  } catch (error) {
    await writer.terminate()
    lock.release()
    throw error
  }
}

function watchDatabase(location: StoreLocation, { clock, onLoss }: StoreOptions): Timer | undefined {
  const file = databaseFile(location)
  return file === undefined ? undefined : watchSameFile(file, clock, onLoss)
}

/**
 * Resolves when no other process uses the folder. Writes nothing.
 * @throws FolderInUse
 */
export async function awaitFolder(options: Pick<StoreOptions, 'dataDir' | 'clock' | 'patienceMs'>) {
  if (existsSync(join(options.dataDir, LOCK_FILE))) (await lockPatiently(options)).release()
}

/** @throws FolderInUse */
async function lockPatiently({
  dataDir,
  clock,
  patienceMs = 0,
}: Pick<StoreOptions, 'dataDir' | 'clock' | 'patienceMs'>): Promise<FolderLock> {
  for (const endsAt = clock.monotonic() + patienceMs; ; ) {
    try {
      return lockFolder(dataDir)
    } catch (error) {
      if (!(error instanceof FolderInUse) || clock.monotonic() >= endsAt) throw error
      await sleep(clock, LOCK_RETRY_MS)
    }
  }
}

function connect(thread: Worker): MessagePort {
  const { port1, port2 } = new MessageChannel()
  thread.postMessage({ order: 'connect', port: port2 } satisfies WriterOrder, [port2])
  return port1
}

/**
 * Checks that the database file is still the one that was opened. Data written to a file that was removed or
 * replaced would be lost without notice at the next start.
 * @param onOther called once, when the file was removed or replaced
 */
export function watchSameFile(path: string, clock: Clock, onOther: (error: Error) => void): Timer {
  const opened = placeOf(path)
  const looking = every(clock, CHECK_INTERVAL_MS, () => {
    const place = placeOf(path)
    if (place === opened) return
    looking.cancel()
    onOther(new Error(`${path} has been ${place === undefined ? 'removed' : 'replaced'}`))
  })
  return looking
}

/**
 * @returns device and inode of the file; undefined when it does not exist
 * @throws when the path cannot be examined for another reason
 */
function placeOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true })
  return found && `${found.dev} ${found.ino}`
}
