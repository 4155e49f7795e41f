/**
 * The loop of the writer thread: while one group commits, requests of all clients gather for the next;
 * each client gets one report a group; checkpoints run, and space is given back, when nobody waits.
 */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { Announcement, GroupReport, WriteReply, WriteRequest } from './protocol.ts'

export interface ServedStore {
  run(requests: readonly WriteRequest[]): Promise<{ replies: WriteReply[]; announcements: Announcement[] }>
  /** Moves the log into the database file. */
  checkpoint(): void
  /** Does a little of what can wait for an idle moment; false when there is nothing to do. */
  tidy(): boolean
}

export interface WriterLoop {
  connect(port: MessagePort): void
  /** Answers what has been asked, then lets go of all clients. */
  end(): Promise<void>
}

interface Waiting {
  port: MessagePort
  request: WriteRequest
}

const LARGEST_GROUP = 1_000
const IDLE_MS = 50
/** About 64 MiB of log, when no idle moment comes. */
const CHECKPOINT_AFTER_REQUESTS = 8_000

export function serveWriter(store: ServedStore): WriterLoop {
  const ports = new Set<MessagePort>()
  let waiting: Waiting[] = []
  let running: Promise<void> | undefined
  let sinceCheckpoint = 0
  let idle: NodeJS.Timeout | undefined

  const gather = () => {
    for (const port of ports)
      while (waiting.length < LARGEST_GROUP) {
        const received = receiveMessageOnPort(port)
        if (!received) break
        for (const request of received.message as WriteRequest[]) waiting.push({ port, request })
      }
  }

  const checkpoint = () => {
    sinceCheckpoint = 0
    store.checkpoint()
  }

  const loop = async () => {
    clearTimeout(idle)
    while (waiting.length > 0) {
      gather()
      const group = waiting
      waiting = []
      const { replies, announcements } = await store.run(group.map(({ request }) => request))
      report(ports, group, replies, announcements)
      sinceCheckpoint += group.length
      if (sinceCheckpoint >= CHECKPOINT_AFTER_REQUESTS) checkpoint()
      gather()
    }
    idle = setTimeout(whenIdle, IDLE_MS)
  }

  const whenIdle = () => {
    checkpoint()
    if (store.tidy()) idle = setTimeout(whenIdle, IDLE_MS)
  }

  const start = () => {
    running ??= loop().finally(() => {
      running = undefined
    })
    return running
  }

  return {
    connect(port) {
      ports.add(port)
      port.on('message', (requests: WriteRequest[]) => {
        for (const request of requests) waiting.push({ port, request })
        void start()
      })
      port.on('close', () => ports.delete(port))
    },
    async end() {
      gather()
      await start()
      clearTimeout(idle)
      for (const port of ports) port.close()
    },
  }
}

function report(
  ports: ReadonlySet<MessagePort>,
  group: readonly Waiting[],
  replies: readonly WriteReply[],
  announcements: Announcement[],
) {
  const byPort = new Map<MessagePort, WriteReply[]>()
  for (const [i, { port }] of group.entries()) {
    const known = byPort.get(port)
    if (known) known.push(replies[i]!)
    else byPort.set(port, [replies[i]!])
  }
  for (const port of ports) {
    const own = byPort.get(port) ?? []
    if (own.length === 0 && announcements.length === 0) continue
    port.postMessage({ replies: own, announcements } satisfies GroupReport)
  }
}
