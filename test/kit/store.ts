/**
 * Real stores for tests, each on a database of its own: the whole store with its writer thread, or the
 * writer's group runner in this process, where a test can look at one group.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/clock.ts'
import { createIdSource } from '../../src/lib/ids.ts'
import { type Commands, type Run, StorageUnavailable } from '../../src/store/model/command.ts'
import { createRecentEmails } from '../../src/store/model/recent.ts'
import { locate, openReader, openWriting, type StoreLocation } from '../../src/store/opening/dialect.ts'
import { openStore, type Store } from '../../src/store/opening/open.ts'
import type { Reader } from '../../src/store/reading/read.ts'
import { openForWriting, type SqliteConnection } from '../../src/store/sqlite/connection.ts'
import { sqliteSession } from '../../src/store/sqlite/group.ts'
import { type GroupResult, type GroupRunner, SessionGroups } from '../../src/store/writer/group.ts'
import type { Announcement, WriteReply } from '../../src/store/writer/protocol.ts'
import { commands as allCommands } from '../../src/workers/commands.ts'
import { createDatabase, isOnPostgres, sqliteDatabase, type TestDatabase } from './database.ts'
import { migratedDatabase, STORE_EPOCH } from './migrated-database.ts'

export { STORE_EPOCH }

export interface TempFolder {
  path: string
  close(): void
}

export function tempFolder(): TempFolder {
  const path = mkdtempSync(join(tmpdir(), 'mailhorn-test-'))
  return { path, close: () => rmSync(path, { recursive: true, force: true }) }
}

/** The store as the service opens it. A folder that is given, with its database, is left in place. */
export async function openThreadStore<C extends Commands = typeof allCommands>({
  folder,
  database = isOnPostgres && folder === undefined ? createDatabase('', { isMigrated: true }) : undefined,
  writerThread = new URL('../../src/workers/writer.ts', import.meta.url),
  onLoss = (error: Error) => {
    throw error
  },
}: {
  folder?: string
  /** Given together with the folder. */
  database?: TestDatabase | undefined
  writerThread?: URL
  onLoss?: (error: Error) => void
} = {}): Promise<Store<C>> {
  const own = folder === undefined ? tempFolder() : undefined
  const url = database?.url ?? 'sqlite:test.db'
  const store = await openStore<C>({
    dataDir: folder ?? own!.path,
    url,
    writerThread,
    clock: { ...systemClock, now: () => STORE_EPOCH },
    onLoss,
  })
  const close = async () => {
    await store.close()
    own?.close()
    if (own) database?.drop()
  }
  return { ...store, close }
}

export interface GroupRequest {
  name: string
  input: unknown
}

export interface LocalStore<C extends Commands> extends Reader, Pick<TestDatabase, 'rows' | 'change'> {
  location: StoreLocation
  blobFolder: string
  /** Runs one command, in a group of its own. */
  run: Run<C>
  /** Runs several commands in one group, after those that run already. */
  group(...requests: GroupRequest[]): Promise<GroupResult>
  /** Returns the payloads that all groups have announced on the topic. */
  announced(topic: string): unknown[]
  /** Calls `listener` with what each group announces, once it is committed. */
  on(topic: string, listener: (payloads: unknown[]) => void): void
  close(): Promise<void>
}

/** A migrated database and the group runner over it. Its `db` sees what is committed. */
export async function openLocalStore<C extends Commands = typeof allCommands>(
  commands: C = allCommands as unknown as C,
): Promise<LocalStore<C>> {
  if (!isOnPostgres) return openSqliteStore(commands)
  const folder = tempFolder()
  const database = createDatabase('', { isMigrated: true })
  const location = locate({ dataDir: folder.path, url: database.url })
  const writing = await openWriting(location, groupOptions(commands), STORE_EPOCH)
  const reader = openReader(location)
  return {
    ...localStore(writing, reader, database, location),
    async close() {
      await reader.db.destroy()
      await writing.close()
      database.drop()
      folder.close()
    },
  }
}

/** For tests that speak to SQLite itself. */
export interface SqliteStore<C extends Commands> extends LocalStore<C> {
  /** The write connection. */
  connection: SqliteConnection
  file: string
}

export async function openSqliteStore<C extends Commands = typeof allCommands>(
  commands: C = allCommands as unknown as C,
): Promise<SqliteStore<C>> {
  const folder = tempFolder()
  const file = join(folder.path, 'test.db')
  writeFileSync(file, await migratedDatabase())
  const connection = openForWriting(file)
  const runner = new SessionGroups(sqliteSession(connection), groupOptions(commands))
  const location = locate({ dataDir: folder.path, url: 'sqlite:test.db' })
  const reader = openReader(location)
  const { rows, release } = sqliteDatabase(file)
  const change = (sql: string, ...parameters: unknown[]) => void connection.prepare(sql).run(...parameters)
  return {
    ...localStore(runner, reader, { rows, change }, location),
    connection,
    file,
    async close() {
      await reader.db.destroy()
      release()
      connection.close()
      folder.close()
    },
  }
}

function groupOptions(commands: Commands) {
  return { commands, recent: createRecentEmails(), newId: createIdSource() }
}

function localStore<C extends Commands>(
  runner: GroupRunner,
  reader: Reader,
  { rows, change }: Pick<TestDatabase, 'rows' | 'change'>,
  location: StoreLocation,
): Omit<LocalStore<C>, 'close'> {
  const announcements: Announcement[] = []
  const listeners = new Map<string, ((payloads: unknown[]) => void)[]>()
  let seq = 0

  let last: Promise<unknown> = Promise.resolve()
  const group = (...requests: GroupRequest[]): Promise<GroupResult> => {
    const running = last.then(async () => {
      const result = await runner.run(requests.map(request => ({ seq: ++seq, ...request })))
      announcements.push(...result.announcements)
      for (const { topic, payloads } of result.announcements)
        for (const listener of listeners.get(topic) ?? []) listener(payloads)
      return result
    })
    last = running.catch(() => {})
    return running
  }
  const run = async (name: string, input: unknown) => outputOf((await group({ name, input })).replies[0]!)
  return {
    ...reader,
    run: run as Run<C>,
    group,
    announced: topic =>
      announcements.flatMap(announcement => (announcement.topic === topic ? announcement.payloads : [])),
    on: (topic, listener) => void listeners.set(topic, [...(listeners.get(topic) ?? []), listener]),
    rows,
    change,
    location,
    blobFolder: location.blobFolder,
  }
}

/** @throws as the writer's clients do */
export function outputOf(reply: WriteReply): unknown {
  if (reply.ok) return reply.output
  throw reply.unavailable ? new StorageUnavailable(reply.message) : new Error(reply.message)
}

/** Why a command was not carried out. */
export function refusalOf(replies: readonly WriteReply[], at = 0): string {
  const reply = replies[at]!
  if (reply.ok) throw new Error('the command was carried out')
  return `${reply.unavailable ? 'unavailable: ' : ''}${reply.message}`
}
