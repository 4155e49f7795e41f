/**
 * Finds what keeps the service from starting, before the start writes anything: a refused start leaves the
 * data folder and the database as they were, so that another version or a restored file can still use them.
 *
 * In: the settings of the store, from `app/app.ts`. Out: the secret, or a `StartFault` with one line for the
 * operator.
 */
import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { openFileLimit } from '../../lib/open-files.ts'
import { StartFault } from '../../lib/start-fault.ts'
import { migrations } from '../migrations/index.ts'
import { emptyText, pendingAfter, requireKnownVersion } from '../migrations/migrate.ts'
import type { AskDatabase } from '../model/inspection.ts'
import {
  checkNeededFor,
  damageText,
  databaseFile,
  describe,
  faultInPages,
  inspectStore,
  isBlank,
  lacksTable,
  locate,
  RESTORE_QUERY,
  type StoreLocation,
} from './dialect.ts'
import { accessAdvice } from './file-modes.ts'
import { LOCK_FILE } from './lock.ts'
import { givenSecrets, hasBeenUsed, SECRET_CHECK_SETTING, SECRET_FILE, secretOf } from './secret-file.ts'
import { newestSnapshot, RETURNING, snapshotFolder } from './snapshots.ts'

interface StartCheckOptions {
  dataDir: string
  /** `database.url` */
  url: string
  /** `secret_key` of the configuration. */
  secretKey: string | null
  /** Whether the database may be empty although the data folder has been used. */
  startNew: boolean
}

interface StartCheck {
  /** Undefined when the first start has to create a secret. */
  secret: Buffer | undefined
  /** Whether the pages of the database are to be checked while the service runs. */
  needsCheck: boolean
  /** Names of the migrations that a database of an older version lacks; empty for a new database. */
  pending: string[]
  /** What the operator should know although the service starts. */
  notes: string[]
}

/** Threads, listeners and the database of an idle service need about 150 descriptors. */
const OPEN_FILES_MIN = 224
/** A start writes some MB: the write-ahead log, new tables and the first results. */
const FREE_BYTES_MIN = 32 * 1024 * 1024
const MB_BYTES = 1024 * 1024
/** Database of the product under its former name, whose data no version reads. */
const FORMER_DATABASE = 'posthorn.db'
const NAMES_SHOWN_MAX = 12
/** Ending of the name of a database that is being restored. */
export const RESTORING = '.restoring'

/** @throws StartFault; the error of a damaged database, which `isDamaged` recognizes */
export async function checkBeforeStart(options: StartCheckOptions): Promise<StartCheck> {
  const { dataDir } = options
  const location = locate(options)
  const file = databaseFile(location)
  if (file !== undefined && existsSync(file + RESTORING))
    throw new StartFault(
      `a restore into ${dirname(file)} was interrupted: empty the folder, and run \`mailhorn restore\` again`,
    )
  if (file !== undefined && !existsSync(file) && existsSync(file + RETURNING))
    throw new StartFault(
      `the return to a snapshot was interrupted: run \`mailhorn restore ${snapshotFolder(file)}\` again`,
    )
  requireOpenFiles()
  requireUsable(resolve(dataDir), 'folder')
  if (file !== undefined && dirname(file) !== resolve(dataDir)) requireUsable(dirname(file), 'folder')
  requireUsable(location.blobFolder, 'folder')
  const files = file === undefined ? [] : [file, `${file}-wal`, `${file}-shm`]
  for (const path of [...files, join(dataDir, LOCK_FILE), join(dataDir, SECRET_FILE)])
    requireUsable(path, 'file')
  for (const folder of [dataDir, ...(file === undefined ? [] : [dirname(file)])]) requireRoom(folder)

  const secrets = givenSecrets(dataDir, options.secretKey)
  const mayBegin = options.startNew || !hasBeenUsed(dataDir, location.blobFolder)
  const seen = isBlank(location) ? EMPTY : await inspectStore(location, readState)
  if (seen.isRestoring)
    throw new StartFault(
      `a restore into ${describe(location)} was interrupted: drop the database, create it again, and run \`mailhorn restore\` again`,
    )
  if (seen.migrations.length === 0 && !mayBegin)
    throw new StartFault([emptyText(describe(location), namesIn(dataDir)), ...notesOn(dataDir)].join('. '))
  requireKnownVersion(seen.migrations, migrations, wayBack(file))
  const secret = secretOf(seen.secretCheck, secrets, {
    folder: dataDir,
    isConfigured: options.secretKey !== null,
  })
  return {
    secret,
    needsCheck: !isBlank(location) && needsCheckLater(location),
    pending: pendingOf(seen.migrations),
    notes: secrets.length === 0 || seen.migrations.length === 0 ? notesOn(dataDir) : [],
  }
}

function pendingOf(applied: readonly string[]): string[] {
  return applied.length === 0 ? [] : pendingAfter(applied).map(({ name }) => name)
}

/** @returns names of the migrations of the database in their order; empty for a new database */
export async function appliedMigrations(location: StoreLocation): Promise<string[]> {
  if (isBlank(location)) return []
  return (await inspectStore(location, readState)).migrations
}

/** @returns the rest of a sentence, on the snapshot of this version's schema; empty when there is none */
function wayBack(file: string | undefined): string {
  if (file === undefined)
    return ', or go back by `mailhorn restore` with a backup from before the upgrade, which holds the mail that was due'
  const snapshot = newestSnapshot(snapshotFolder(file))
  if (!snapshot) return ''
  return `, or go back to the snapshot of ${snapshot.madeAt} by \`mailhorn restore ${snapshot.path}\`, which holds the mail that was due`
}

/** @throws StartFault when the last service was killed and the database has a fault that is found at once */
function needsCheckLater(location: StoreLocation): boolean {
  const needed = checkNeededFor(location)
  const fault = needed === 'at-once' ? faultInPages(location) : undefined
  if (fault !== undefined) throw new StartFault(damageText(location, new Error(fault)))
  return needed === 'later'
}

interface DatabaseState {
  /** Names of the migrations that were applied; empty for a new database. */
  migrations: string[]
  secretCheck: string | undefined
  /** Whether a restore into it was interrupted. */
  isRestoring: boolean
}

const EMPTY: DatabaseState = { migrations: [], secretCheck: undefined, isRestoring: false }

async function readState(ask: AskDatabase): Promise<DatabaseState> {
  const migrations = await rowsOf(ask, 'select name from migrations order by name')
  const settings = await rowsOf(ask, `select value from settings where key = '${SECRET_CHECK_SETTING}'`)
  return {
    migrations: migrations.map(({ name }) => name as string),
    secretCheck: settings[0]?.value as string | undefined,
    isRestoring: (await rowsOf(ask, RESTORE_QUERY)).length > 0,
  }
}

/** @returns no rows when the table does not exist */
async function rowsOf(ask: AskDatabase, sql: string): Promise<Record<string, unknown>[]> {
  try {
    return await ask(sql)
  } catch (error) {
    if (!lacksTable(error)) throw error
    return []
  }
}

function requireOpenFiles() {
  const limit = openFileLimit()
  if (limit !== undefined && limit < OPEN_FILES_MIN)
    throw new StartFault(
      `the limit of open files is ${limit}, and the service needs at least ${OPEN_FILES_MIN}: raise it ` +
        '(`ulimit -n 65536`; in systemd: LimitNOFILE=65536)',
    )
}

/** @throws StartFault unless the path does not exist, or is of the kind and can be read and written */
function requireUsable(path: string, kind: 'file' | 'folder') {
  const entry = statSync(existing(path))
  const isFolder = entry.isDirectory()
  if (existing(path) !== path) {
    // A missing folder is created in the one above it, a missing file in its folder, which is checked.
    if (kind === 'folder') requireUsable(existing(path), 'folder')
    return
  }
  if (kind === 'folder' && !isFolder)
    throw new StartFault(`${path} is not a folder (ENOTDIR): move the file away, or correct data_dir`)
  if (kind === 'file' && !entry.isFile())
    throw new StartFault(
      `${path} is ${isFolder ? 'a folder' : 'no regular file'}; a file is needed: move it away`,
    )
  const mode = isFolder ? constants.R_OK | constants.W_OK | constants.X_OK : constants.R_OK | constants.W_OK
  try {
    accessSync(path, mode)
  } catch (error) {
    throw new StartFault(deniedText(path, (error as NodeJS.ErrnoException).code), { cause: error })
  }
}

/** @returns the path, or the nearest folder above it that exists */
function existing(path: string): string {
  return existsSync(path) ? path : existing(dirname(path))
}

function deniedText(path: string, code = ''): string {
  if (code === 'EROFS')
    return `${path} cannot be written (EROFS): its file system is mounted read-only; mount it writable`
  if (code === 'EPERM')
    return `${path} cannot be written (EPERM): it is marked as immutable; remove the mark (\`chattr -i\`)`
  return `${path} cannot be read and written (${code}): ${accessAdvice(path)}`
}

function requireRoom(folder: string) {
  const place = existing(resolve(folder))
  const { bavail, bsize, files, ffree } = statfsSync(place)
  const free = bavail * bsize
  if (free < FREE_BYTES_MIN)
    throw new StartFault(
      `the disk of ${place} is full: ${(free / MB_BYTES).toFixed(1)} MB are free, and a start needs ` +
        `${FREE_BYTES_MIN / MB_BYTES} MB: free some, or enlarge the disk`,
    )
  if (files > 0 && ffree === 0)
    throw new StartFault(`the file system of ${place} has no inodes left: delete some of its files`)
}

function namesIn(folder: string): string[] {
  const names = readdirSync(folder)
    .filter(name => name !== LOCK_FILE)
    .sort()
  const rest = names.length - NAMES_SHOWN_MAX
  return rest > 0 ? [...names.slice(0, NAMES_SHOWN_MAX), `${rest} more`] : names
}

/** @returns a sentence on the data of the former product, if its database lies in the folder */
function notesOn(dataDir: string): string[] {
  if (!existsSync(join(dataDir, FORMER_DATABASE))) return []
  return [
    `The data of ${FORMER_DATABASE}, which the product wrote under its former name, is not carried over`,
  ]
}
