/** The writer as the other threads see it: run a command, hear announcements. */
import type { MessagePort } from 'node:worker_threads'
import { type Commands, type Run, StorageUnavailable } from '../command.ts'
import type { GroupReport, WriteReply, WriteRequest } from './protocol.ts'

export interface WriterClient<C extends Commands> {
  run: Run<C>
  /** Calls `listener` with everything a committed group announced under `topic`. */
  on(topic: string, listener: (payloads: unknown[]) => void): void
  /** Requests not answered yet. */
  pendingCount(): number
  close(): void
}

interface Pending {
  name: string
  resolve(output: unknown): void
  reject(error: Error): void
}

export function createWriterClient<C extends Commands>(port: MessagePort): WriterClient<C> {
  const pending = new Map<number, Pending>()
  const listeners = new Map<string, ((payloads: unknown[]) => void)[]>()
  let seq = 0
  let closed = false

  port.on('message', ({ replies, announcements }: GroupReport) => {
    for (const reply of replies) settle(pending, reply)
    for (const { topic, payloads } of announcements)
      for (const listener of listeners.get(topic) ?? []) listener(payloads)
  })
  port.on('close', () => {
    closed = true
    for (const { reject } of pending.values()) reject(new StorageUnavailable('the writer has ended'))
    pending.clear()
  })

  const run = (name: string, input: unknown) =>
    new Promise<unknown>((resolve, reject) => {
      if (closed) return reject(new StorageUnavailable('the writer has ended'))
      const request: WriteRequest = { seq: ++seq, name, input }
      port.postMessage(request)
      pending.set(request.seq, { name, resolve, reject })
    })
  return {
    run: run as Run<C>,
    on: (topic, listener) => void listeners.set(topic, [...(listeners.get(topic) ?? []), listener]),
    pendingCount: () => pending.size,
    close: () => port.close(),
  }
}

function settle(pending: Map<number, Pending>, reply: WriteReply) {
  const waiting = pending.get(reply.seq)
  if (!waiting) return
  pending.delete(reply.seq)
  if (reply.ok) return waiting.resolve(reply.output)
  if (reply.unavailable) return waiting.reject(new StorageUnavailable(reply.message))
  const error = new Error(`command ${waiting.name}: ${reply.message}`)
  if (reply.stack !== undefined) error.stack = reply.stack
  waiting.reject(error)
}
