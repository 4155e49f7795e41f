/**
 * Loop of the writer thread. While a group commits, requests of all clients gather for the next one. Each
 * client gets one report per group. Checkpoints and vacuum run when no request waits.
 */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { Announcement, GroupReport, WriteReply, WriteRequest } from './protocol.ts'

export interface ServedStore {
  run(requests: readonly WriteRequest[]): Promise<{ replies: WriteReply[]; announcements: Announcement[] }>
  /** 1 for a usual request. */
  weigh(request: WriteRequest): number
  /** How many groups it takes at once. */
  groupsAtOnce: number
  /** Moves the log into the database file, where there is one. */
  checkpoint(): void
  /** Does a little of what can wait for an idle moment; false when there is nothing to do. */
  tidy(): boolean
}

/** The writing half of a store, with the present schema. */
export interface WritingStore extends Omit<ServedStore, 'weigh'> {
  /** Names of the migrations applied now. */
  migrations: string[]
  /** Calls `listener` with what other processes announce, where there may be any. */
  onHeard(listener: (announcements: Announcement[]) => void): void
  close(): Promise<void>
}

interface WriterLoop {
  connect(port: MessagePort): void
  /** Tells all clients. */
  announce(announcements: Announcement[]): void
  /** Answers what has been asked, then lets go of all clients. */
  end(): Promise<void>
}

interface Waiting {
  port: MessagePort
  request: WriteRequest
  weight: number
}

/** By weight; so much memory a group takes, and so long its last request waits. */
const GROUP_WEIGHT_MAX = 1_000
const IDLE_MS = 50
/** About 64 MiB of log, when no idle moment comes. */
const CHECKPOINT_AFTER = 8_000

export function serveWriter(store: ServedStore): WriterLoop {
  const ports = new Set<MessagePort>()
  const line = createLine(ports, store.weigh)
  const running = new Set<Promise<void>>()
  let sinceCheckpoint = 0
  let idle: NodeJS.Timeout | undefined

  const checkpoint = () => {
    sinceCheckpoint = 0
    store.checkpoint()
  }

  const loop = async () => {
    clearTimeout(idle)
    while (!line.isEmpty()) {
      line.gather()
      const { group, weight } = line.takeGroup()
      const { replies, announcements } = await store.run(group.map(({ request }) => request))
      report(ports, group, replies, announcements)
      sinceCheckpoint += weight
      if (sinceCheckpoint >= CHECKPOINT_AFTER) checkpoint()
      line.gather()
    }
  }

  const whenIdle = () => {
    checkpoint()
    if (store.tidy()) idle = setTimeout(whenIdle, IDLE_MS)
  }

  const start = () => {
    if (line.isEmpty() || running.size >= store.groupsAtOnce) return
    const queueKey = loop().finally(() => {
      running.delete(queueKey)
      if (running.size === 0) idle = setTimeout(whenIdle, IDLE_MS)
    })
    running.add(queueKey)
  }

  return {
    connect(port) {
      ports.add(port)
      port.on('message', (requests: WriteRequest[]) => {
        line.add(port, requests)
        start()
      })
      port.on('close', () => ports.delete(port))
    },
    announce(announcements) {
      for (const port of ports) port.postMessage({ replies: [], announcements } satisfies GroupReport)
    },
    async end() {
      line.gather()
      start()
      while (running.size > 0) await Promise.all(running)
      clearTimeout(idle)
      for (const port of ports) port.close()
    },
  }
}

/** Requests that wait for their group. */
function createLine(ports: ReadonlySet<MessagePort>, weigh: ServedStore['weigh']) {
  let waiting: Waiting[] = []
  let waitingWeight = 0

  const add = (port: MessagePort, requests: readonly WriteRequest[]) => {
    for (const request of requests) {
      const weight = weigh(request)
      waiting.push({ port, request, weight })
      waitingWeight += weight
    }
  }
  return {
    add,
    isEmpty: () => waiting.length === 0,
    /** From each client in turn, so that none with very much to ask keeps the others from being heard. */
    gather() {
      let heard = true
      while (heard && waitingWeight < GROUP_WEIGHT_MAX) {
        heard = false
        for (const port of ports) {
          const received = receiveMessageOnPort(port)
          if (!received) continue
          heard = true
          add(port, received.message as WriteRequest[])
        }
      }
    },
    /** The next group, in the order of asking: what is too heavy for any goes alone. */
    takeGroup() {
      let weight = 0
      let count = 0
      do weight += waiting[count++]!.weight
      while (count < waiting.length && weight + waiting[count]!.weight <= GROUP_WEIGHT_MAX)
      const group = waiting.slice(0, count)
      waiting = waiting.slice(count)
      waitingWeight -= weight
      return { group, weight }
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
