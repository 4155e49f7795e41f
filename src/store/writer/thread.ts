/** What the writer thread does: opens and migrates the database, serves clients, and checkpoints before it ends. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { Kysely } from 'kysely'
import type { Commands } from '../command.ts'
import { migrate } from '../migrate.ts'
import { openForWriting, type SqliteConnection } from '../sqlite/connection.ts'
import { createGroupRunner } from '../sqlite/group.ts'
import { kyselyOver } from '../sqlite/kysely.ts'
import { giveSpaceBack } from '../sqlite/space.ts'
import { isFatal, isUnavailable } from '../sqlite/trouble.ts'
import { serveWriter } from './serve.ts'

export interface WriterThreadData {
  file: string
  nowMs: number
}

export type WriterOrder = { order: 'connect'; port: MessagePort } | { order: 'stop' }
export type WriterNotice = { notice: 'ready'; migrations: string[] } | { notice: 'stopped' }

/** The body of the writer thread's entry file. A failure ends the thread, and with it the process. */
export async function runWriterThread(commands: Commands): Promise<void> {
  const control = parentPort!
  const { file, nowMs } = workerData as WriterThreadData
  const connection = openForWriting(file)
  const migrations = await migrated(connection, nowMs)
  const runner = createGroupRunner(connection, commands)
  const loop = serveWriter({
    run: runner.run,
    weigh: ({ name, input }) => (Object.hasOwn(commands, name) && commands[name]!.weigh?.(input)) || 1,
    checkpoint: () => attempted(() => checkpoint(connection, 'PASSIVE')),
    tidy: () => attempted(() => giveSpaceBack(connection)),
  })
  control.on('message', (message: WriterOrder) => {
    if (message.order === 'connect') return loop.connect(message.port)
    loop.end().then(() => {
      attempted(() => checkpoint(connection, 'TRUNCATE'))
      connection.close()
      control.postMessage({ notice: 'stopped' } satisfies WriterNotice)
      control.close()
    })
  })
  control.postMessage({ notice: 'ready', migrations } satisfies WriterNotice)
}

async function migrated(connection: SqliteConnection, nowMs: number): Promise<string[]> {
  connection.raw.exec('begin immediate')
  try {
    const applied = await migrate(kyselyOver(connection) as unknown as Kysely<unknown>, 'sqlite', nowMs)
    connection.raw.exec('commit')
    return applied
  } catch (error) {
    connection.raw.exec('rollback')
    throw error
  }
}

/** Moves the log into the database file. */
function checkpoint(connection: SqliteConnection, mode: 'PASSIVE' | 'TRUNCATE'): boolean {
  connection.raw.pragma(`wal_checkpoint(${mode})`)
  return true
}

/** False also when the disk has no room for it: it waits for another time. */
function attempted(upkeep: () => boolean): boolean {
  try {
    return upkeep()
  } catch (error) {
    if (isFatal(error) || !isUnavailable(error)) throw error
    return false
  }
}
