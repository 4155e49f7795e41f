/** Client of the writer thread: runs commands and receives announcements. */
import type { MessagePort } from 'node:worker_threads'
import type { Clock } from '../../lib/clock.ts'
import { Slab } from '../../lib/slab.ts'
import { type Commands, type Run, StorageUnavailable } from '../model/command.ts'
import { createOutbox } from './outbox.ts'
import type { GroupReport, WriteReply } from './protocol.ts'

export interface WriterClient<C extends Commands> {
  run: Run<C>
  /** Calls `listener` with everything that a committed group announced under `topic`. */
  on(topic: string, listener: (payloads: unknown[]) => void): void
  /** Number of requests that have not been answered. */
  pendingCount(): number
  /** Monotonic time in ms of the last command that could not be stored; undefined if all could. */
  unavailableAt(): number | undefined
  close(): void
}

interface Pending {
  name: string
  resolve(output: unknown): void
  reject(error: Error): void
}

export interface ClientOptions {
  clock: Clock
  /**
   * Commands that no caller waits for, with the time in ms that each may wait to share a commit under load.
   */
  lazyMs?: Readonly<Record<string, number>> | undefined
}

export function createWriterClient<C extends Commands>(
  port: MessagePort,
  { clock, lazyMs = {} }: ClientOptions,
): WriterClient<C> {
  const pending = new Slab<Pending>()
  const listeners = new Map<string, ((payloads: unknown[]) => void)[]>()
  const outbox = createOutbox(port, clock, (seq, error) => pending.take(seq)?.reject(error))
  let closed = false
  let unavailableAt: number | undefined

  port.on('message', ({ replies, announcements }: GroupReport) => {
    for (const reply of replies) {
      if (!reply.ok && reply.unavailable) unavailableAt = clock.monotonic()
      settle(pending, reply)
    }
    for (const { topic, payloads } of announcements)
      for (const listener of listeners.get(topic) ?? []) listener(payloads)
  })
  port.on('close', () => {
    closed = true
    for (const waiting of pending.takeAll()) waiting.reject(new StorageUnavailable('the writer has ended'))
  })

  const run = (name: string, input: unknown, memory: readonly ArrayBuffer[] = []) =>
    new Promise<unknown>((resolve, reject) => {
      if (closed) return reject(new StorageUnavailable('the writer has ended'))
      const patienceMs = lazyMs[name] ?? 0
      const seq = pending.put({ name, resolve, reject })
      outbox.add({ request: { seq, name, input }, memory, patienceMs })
    })
  return {
    run: run as Run<C>,
    on: (topic, listener) => void listeners.set(topic, [...(listeners.get(topic) ?? []), listener]),
    pendingCount: () => pending.size,
    unavailableAt: () => unavailableAt,
    close() {
      outbox.flush()
      port.close()
    },
  }
}

function settle(pending: Slab<Pending>, reply: WriteReply) {
  const waiting = pending.take(reply.seq)
  if (!waiting) return
  if (reply.ok) return waiting.resolve(reply.output)
  if (reply.unavailable) return waiting.reject(new StorageUnavailable(reply.message))
  const error = new Error(`command ${waiting.name}: ${reply.message}`)
  if (reply.stack !== undefined) error.stack = reply.stack
  waiting.reject(error)
}
