/**
 * Loop of the writer thread. While a group commits, requests of all clients gather for the next one. Each
 * client gets one report per group. Checkpoints and vacuum run when no request waits.
 */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { GroupRunner } from './group.ts'
import type { Announcement, GroupReport, WriteReply, WriteRequest } from './protocol.ts'

export interface ServedStore {
  run(requests: readonly WriteRequest[]): Promise<{ replies: WriteReply[]; announcements: Announcement[] }>
  /** Relative cost of a request; 1 for a usual one. */
  weigh(request: WriteRequest): number
  /** Number of groups that may run at the same time. */
  groupsAtOnce: number
  /** Moves the write-ahead log into the database file, if the database has one. */
  checkpoint(): void
  /**
   * Does a small part of the maintenance.
   * @returns false when there is nothing to do
   */
  tidy(): boolean
}

/** The writing half of a store, with the current schema. */
export interface WritingStore extends Omit<ServedStore, 'weigh' | 'run'>, GroupRunner {
  /** Names of the migrations that were applied now. */
  migrations: string[]
  /** Calls `listener` with the announcements of other processes, if there are any. */
  onHeard(listener: (announcements: Announcement[]) => void): void
  close(): Promise<void>
}

interface WriterLoop {
  connect(port: MessagePort): void
  /** Sends announcements to all clients. */
  announce(announcements: Announcement[]): void
  /** Answers the requests received so far and disconnects all clients. */
  end(): Promise<void>
}

interface Waiting {
  port: MessagePort
  request: WriteRequest
  weight: number
}

/** Maximum weight of a group, which bounds its memory and the wait of its last request. */
const GROUP_WEIGHT_MAX = 1_000
const IDLE_DELAY_MS = 50
/** Weight of commands after which a checkpoint runs without an idle moment; about 64 MiB of log. */
const CHECKPOINT_WEIGHT = 8_000

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
      if (sinceCheckpoint >= CHECKPOINT_WEIGHT) checkpoint()
      line.gather()
    }
  }

  const whenIdle = () => {
    checkpoint()
    if (store.tidy()) idle = setTimeout(whenIdle, IDLE_DELAY_MS)
  }

  const start = () => {
    if (line.isEmpty() || running.size >= store.groupsAtOnce) return
    const group = loop().finally(() => {
      running.delete(group)
      if (running.size === 0) idle = setTimeout(whenIdle, IDLE_DELAY_MS)
    })
    running.add(group)
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

/** Queue of requests that wait for their group. */
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
    /**
     * Receives requests from each client in turn, so that one client with many requests does not block the
     * others.
     */
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
    /** Takes the next group, in the order of arrival. A request that exceeds the limit runs alone. */
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
