/**
 * Opens the installation in a data folder. Reads go to the database directly, whether the service runs or
 * not. Changes run in the process that holds the lock of the folder: the service, over its control socket, or
 * else this program.
 */
import { existsSync, statSync } from 'node:fs'
import type { Kysely } from 'kysely'
import type { Clock } from '../../lib/clock.ts'
import { sleep } from '../../lib/clock.ts'
import { createIdSource } from '../../lib/ids.ts'
import type { PathState } from '../../pipeline/queue/paths.ts'
import { createPasswords } from '../../resources/accounts/password.ts'
import { isCurrent } from '../../store/migrations/migrate.ts'
import type { Commands } from '../../store/model/command.ts'
import {
  damageText,
  databaseExists,
  describe,
  isDamaged,
  lacksTable,
  locate,
  openReader,
  type StoreLocation,
} from '../../store/opening/dialect.ts'
import { isDiskFull } from '../../store/opening/disk-room.ts'
import { FolderInUse } from '../../store/opening/lock.ts'
import { openStore } from '../../store/opening/open.ts'
import type { DoctorReport } from '../doctor/finding.ts'
import type { Installation } from './command.ts'
import { askService, NOT_RUNNING } from './control/client.ts'
import { type OperationContext, OperationRefused } from './control/operation.ts'
import { type Change, carryOut } from './control/operations.ts'
import { CommandError } from './control/result.ts'

interface InstallationOptions {
  dataDir: string
  databaseUrl: string
  apiKeyPrefix: string
  accessTokenPrefix: string
  mailHost: string
  /** Entry file of the writer thread. */
  writerThread: URL
  clock: Clock
}

/**
 * Maximum time to wait for a service that is starting or stopping, which holds the lock without listening.
 */
const PATIENCE_MS = 10_000
const LOOK_EVERY_MS = 200

/** @throws CommandError */
export async function openInstallation(
  options: InstallationOptions,
): Promise<Installation & { close(): Promise<void> }> {
  const { dataDir, databaseUrl: url, clock } = options
  const location = locate({ dataDir, url })
  if (!databaseExists(location))
    throw new CommandError(
      `no database in ${dataDir}: start the service once, or specify its data directory ` +
        '(setting data_dir, MAILHORN_DATA_DIR or --data-dir)',
    )
  if (existsSync(dataDir)) actAsOwner(dataDir)
  const db = await readable(location)
  const { change, close } = changesIn(options)
  return {
    db,
    clock,
    change,
    pathsTo: destinations => pathsTo(dataDir, destinations),
    isDiskFull: () => isDiskFull({ dataDir, location }),
    async close() {
      await close()
      await db.destroy()
    },
  }
}

/** Switches to the owner of the folder, because the service could not access files that root creates. */
export function actAsOwner(folder: string): void {
  const { uid, gid } = statSync(folder)
  if (process.getuid?.() !== 0 || uid === 0) return
  process.setgroups!([gid])
  process.setgid!(gid)
  process.setuid!(uid)
}

async function readable(location: StoreLocation): Promise<Installation['db']> {
  const database = describe(location)
  try {
    const { db } = openReader(location)
    if (await isCurrent(db as unknown as Kysely<unknown>)) return db
    await db.destroy()
  } catch (error) {
    throw new CommandError(
      lacksTable(error)
        ? `${database} is empty: start the service once to initialize it`
        : isDamaged(error)
          ? damageText(location, error as Error)
          : `${database} cannot be read: ${(error as Error).message}`,
    )
  }
  throw new CommandError(`${database} has a schema of another version; start the service to migrate it`)
}

/** Makes changes through the service, or if it is not running in a store that stays open until the close. */
function changesIn(options: InstallationOptions): { change: Change; close(): Promise<void> } {
  const { dataDir, clock } = options
  let alone: OpenedStore | undefined
  const change = async (name: string, input: unknown) => {
    for (const endsAt = clock.monotonic() + PATIENCE_MS; ; ) {
      if (alone) return carryOut(alone.context, name, input)
      const answer = await askService(dataDir, name, input)
      if (answer !== NOT_RUNNING) return answer
      try {
        alone = await openAlone(options)
      } catch (error) {
        if (!(error instanceof FolderInUse)) throw error
        if (clock.monotonic() >= endsAt)
          throw new CommandError(`${error.message}. It does not respond, and nothing was changed`)
        await sleep(clock, LOOK_EVERY_MS)
      }
    }
  }
  return { change: change as Change, close: async () => alone?.close() }
}

/** Without a running service there is no delivery state. */
async function pathsTo(dataDir: string, destinations: readonly string[]) {
  const answer = await askService(dataDir, 'destination.paths', { destinations })
  return new Map(answer === NOT_RUNNING ? [] : (answer as [string, PathState[]][]))
}

/**
 * Has the running service run its diagnostics. Returns null if no service runs in the folder, or an older
 * version that cannot.
 */
export async function examineService(dataDir: string): Promise<DoctorReport | null> {
  try {
    const answer = await askService(dataDir, 'doctor.run', {})
    return answer === NOT_RUNNING ? null : (answer as DoctorReport)
  } catch (error) {
    if (error instanceof OperationRefused) return null
    throw error
  }
}

/** Tells whether a service runs in the folder. */
export async function isServiceRunning(dataDir: string): Promise<boolean> {
  return (await askService(dataDir, 'destination.paths', { destinations: [] })) !== NOT_RUNNING
}

interface OpenedStore {
  context: OperationContext
  close(): Promise<void>
}

/** @throws FolderInUse */
async function openAlone(options: InstallationOptions): Promise<OpenedStore> {
  const {
    dataDir,
    databaseUrl: url,
    apiKeyPrefix,
    accessTokenPrefix,
    mailHost,
    writerThread,
    clock,
  } = options
  const onLoss = (error: Error) => {
    throw error
  }
  const { db, run, close } = await openStore<Commands>({ dataDir, url, writerThread, clock, onLoss })
  const context = { db, run, clock, newId: createIdSource(), passwords: createPasswords() }
  return {
    context: {
      ...context,
      apiKeyPrefix,
      accessTokenPrefix,
      mailHost,
      pathsTo: async () => new Map(),
      sender: null,
      examine: null,
    },
    close,
  }
}
