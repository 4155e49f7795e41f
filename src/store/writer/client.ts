/** The writer as the other threads see it: run a command, hear announcements. */
import type { MessagePort } from 'node:worker_threads'
import type { Clock, Timer } from '../../lib/clock.ts'
import { UnderWay } from '../../lib/under-way.ts'
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

export interface ClientOptions {
  clock: Clock
  /** Commands whose answer nobody is in a hurry for: they wait so long, ms, for company. */
  lazyMs?: Readonly<Record<string, number>> | undefined
}

interface Leaving {
  request: WriteRequest
  memory: readonly ArrayBuffer[]
}

const MOST_IN_A_POST = 8
/** Of those that nobody is in a hurry for. */
const MOST_LAZY_IN_A_POST = 32

/** Requests made in one turn of the event loop leave together, but the writer can begin with the first few. */
export function createWriterClient<C extends Commands>(
  port: MessagePort,
  { clock, lazyMs = {} }: ClientOptions,
): WriterClient<C> {
  const pending = new UnderWay<Pending>()
  const listeners = new Map<string, ((payloads: unknown[]) => void)[]>()
  const outbox = createOutbox(port, clock, (seq, error) => pending.take(seq)?.reject(error))
  let closed = false

  port.on('message', ({ replies, announcements }: GroupReport) => {
    for (const reply of replies) settle(pending, reply)
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
      const seq = pending.put({ name, resolve, reject })
      const request: WriteRequest = { seq, name, input }
      outbox.add({ request, memory }, lazyMs[name] ?? 0)
    })
  return {
    run: run as Run<C>,
    on: (topic, listener) => void listeners.set(topic, [...(listeners.get(topic) ?? []), listener]),
    pendingCount: () => pending.size,
    close() {
      outbox.flush()
      port.close()
    },
  }
}

function createOutbox(port: MessagePort, clock: Clock, onUnsendable: (seq: number, error: Error) => void) {
  let outgoing: Leaving[] = []
  let soon: NodeJS.Immediate | undefined
  let later: Timer | undefined

  const flush = () => {
    clearImmediate(soon)
    later?.cancel()
    soon = undefined
    later = undefined
    if (outgoing.length === 0) return
    const leaving = outgoing
    outgoing = []
    try {
      post(leaving)
    } catch {
      for (const one of leaving) postAlone(one)
    }
  }
  const post = (leaving: readonly Leaving[]) => {
    const moved = leaving.flatMap(({ memory }) => memory)
    port.postMessage(
      leaving.map(({ request }) => request),
      moved,
    )
  }
  /** One that cannot be cloned must not hold up the others. */
  const postAlone = (leaving: Leaving) => {
    try {
      post([leaving])
    } catch (error) {
      onUnsendable(leaving.request.seq, error as Error)
    }
  }

  return {
    flush,
    add(leaving: Leaving, patienceMs: number) {
      outgoing.push(leaving)
      const most = soon || patienceMs === 0 ? MOST_IN_A_POST : MOST_LAZY_IN_A_POST
      if (outgoing.length >= most) flush()
      else if (patienceMs === 0) soon ??= setImmediate(flush)
      else later ??= clock.timer(patienceMs, flush)
    },
  }
}

function settle(pending: UnderWay<Pending>, reply: WriteReply) {
  const waiting = pending.take(reply.seq)
  if (!waiting) return
  if (reply.ok) return waiting.resolve(reply.output)
  if (reply.unavailable) return waiting.reject(new StorageUnavailable(reply.message))
  const error = new Error(`command ${waiting.name}: ${reply.message}`)
  if (reply.stack !== undefined) error.stack = reply.stack
  waiting.reject(error)
}
