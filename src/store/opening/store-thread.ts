/**
 * The parts that every thread with access to the store opens first and closes last: clock, log, reader and
 * client of the writer.
 *
 * In: `workerData` of the thread. Called by entries in `workers`.
 */
import { type MessagePort, parentPort } from 'node:worker_threads'
import { type ClockSeat, createAdjustableClock } from '../../lib/adjustable-clock.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { createLog, type Log, type LogLevel } from '../../lib/log.ts'
import type { Commands } from '../model/command.ts'
import type { Reader } from '../reading/read.ts'
import { type ClientOptions, createWriterClient, type WriterClient } from '../writer/client.ts'
import { openReader, type StoreLocation } from './dialect.ts'

export interface StoreThreadData {
  location: StoreLocation
  writer: MessagePort
  /** Handle of the test clock; null with the system clock. */
  clockSeat: ClockSeat | null
  logLevel: LogLevel
}

interface StoreThread<C extends Commands> extends Reader {
  clock: Clock
  log: Log
  writer: WriterClient<C>
  /** Closes what the thread has opened, in reverse order, when the main thread asks it to stop. */
  stack: AsyncDisposableStack
  /** Tells the main thread that the thread works, and from then on stops when the main thread asks. */
  ready(message?: unknown): void
}

/** @param name name of the thread in the log */
export function openStoreThread<C extends Commands>(
  name: string,
  data: StoreThreadData,
  lazyMs: ClientOptions['lazyMs'] = {},
): StoreThread<C> {
  const stack = new AsyncDisposableStack()
  const port = parentPort!
  stack.defer(() => port.close())
  const adjustable = data.clockSeat ? createAdjustableClock(data.clockSeat) : undefined
  stack.defer(() => adjustable?.close())
  const clock = adjustable ?? systemClock
  const reader = openReader(data.location)
  stack.defer(() => reader.db.destroy())
  const writer = createWriterClient<C>(data.writer, { clock, lazyMs })
  stack.defer(writer.close)
  return {
    ...reader,
    clock,
    log: createLog(data.logLevel).child({ thread: name }),
    writer,
    stack,
    ready(message = 'ready') {
      port.once('message', () => stack.disposeAsync())
      port.postMessage(message)
    },
  }
}
