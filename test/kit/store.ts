/**
 * Real stores for tests, on SQLite files in folders of their own: the whole store with its writer thread, or the
 * writer's group runner in this process, where a test can look at one group and reach the write connection.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import { commands as allCommands } from '../../src/commands.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { type BlobFiles, createBlobFiles } from '../../src/store/blobs.ts'
import { type Commands, type Run, StorageUnavailable } from '../../src/store/command.ts'
import { migrate } from '../../src/store/migrate.ts'
import { openStore, type Store } from '../../src/store/open.ts'
import type { Find, ReadTogether } from '../../src/store/read.ts'
import type { Db } from '../../src/store/schema.ts'
import { openForReading, openForWriting, type SqliteConnection } from '../../src/store/sqlite/connection.ts'
import { createGroupRunner, type GroupResult } from '../../src/store/sqlite/group.ts'
import { kyselyOver, readTogetherOver } from '../../src/store/sqlite/kysely.ts'
import { sqliteRows } from '../../src/store/sqlite/rows.ts'
import type { Announcement, WriteReply } from '../../src/store/writer/protocol.ts'

export const STORE_EPOCH = Date.UTC(2026, 10, 21, 13, 0, 0)

export interface TempFolder {
  path: string
  close(): void
}

export function tempFolder(): TempFolder {
  const path = mkdtempSync(join(tmpdir(), 'posthorn-test-'))
  return { path, close: () => rmSync(path, { recursive: true, force: true }) }
}

/** The store as the service opens it. A folder that is given is left in place. */
export async function openThreadStore<C extends Commands = typeof allCommands>({
  folder,
  writerThread = new URL('../../src/writer-thread.ts', import.meta.url),
  onWriterDeath = (error: Error) => {
    throw error
  },
}: {
  folder?: string
  writerThread?: URL
  onWriterDeath?: (error: Error) => void
} = {}): Promise<Store<C>> {
  const own = folder === undefined ? tempFolder() : undefined
  const store = await openStore<C>({
    dataDir: folder ?? own!.path,
    url: 'sqlite:test.db',
    writerThread,
    clock: { ...systemClock, now: () => STORE_EPOCH },
    onWriterDeath,
  })
  const close = async () => {
    await store.close()
    own?.close()
  }
  return { ...store, close }
}

export interface GroupRequest {
  name: string
  input: unknown
}

export interface LocalStore<C extends Commands> {
  /** Runs one command, in a group of its own. */
  run: Run<C>
  /** Runs several commands in one group, after those that run already. */
  group(...requests: GroupRequest[]): Promise<GroupResult>
  /** What all groups have announced, topic by topic. */
  announced(topic: string): unknown[]
  /** Calls `listener` with what each group announces, once it is committed. */
  on(topic: string, listener: (payloads: unknown[]) => void): void
  /** The write connection. */
  connection: SqliteConnection
  /** A reading connection of its own: it sees what is committed. */
  db: Db
  find: Find
  readTogether: ReadTogether
  blobs: BlobFiles
  blobFolder: string
  file: string
  rows<T = Record<string, unknown>>(sql: string, ...parameters: unknown[]): T[]
  close(): Promise<void>
}

/** A migrated database and the group runner over it. */
export async function openLocalStore<C extends Commands = typeof allCommands>(
  commands: C = allCommands as unknown as C,
): Promise<LocalStore<C>> {
  const folder = tempFolder()
  const file = join(folder.path, 'test.db')
  const connection = openForWriting(file)
  connection.raw.exec('begin')
  await migrate(kyselyOver(connection) as unknown as Kysely<unknown>, 'sqlite', STORE_EPOCH)
  connection.raw.exec('commit')
  const runner = createGroupRunner(connection, commands)
  const reading = openForReading(file)
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
    run: run as Run<C>,
    group,
    announced: topic =>
      announcements.flatMap(announcement => (announcement.topic === topic ? announcement.payloads : [])),
    on: (topic, listener) => void listeners.set(topic, [...(listeners.get(topic) ?? []), listener]),
    connection,
    db: kyselyOver(reading),
    find: sqliteRows(reading).find,
    readTogether: readTogetherOver(reading),
    blobs: createBlobFiles(join(folder.path, 'blobs')),
    blobFolder: join(folder.path, 'blobs'),
    file,
    rows: <T>(sql: string, ...parameters: unknown[]) => reading.raw.prepare(sql).all(...parameters) as T[],
    async close() {
      reading.close()
      connection.close()
      folder.close()
    },
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
