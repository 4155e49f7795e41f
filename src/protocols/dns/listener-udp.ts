/**
 * UDP side of a DNS listener. For a wildcard address it binds one socket to each address of the host, since a
 * reply must leave from the address that was asked (RFC 2181 §4.1), and a wildcard socket leaves that choice
 * to the system.
 */
import dgram from 'node:dgram'
import { once } from 'node:events'
import { isIP, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type Clock, every } from '../../lib/clock.ts'
import { isWildcard } from '../../lib/host-port.ts'
import type { Log } from '../../lib/log.ts'
import { RoundRobin } from '../../lib/round-robin.ts'
import { clientNetworkOf } from './netblock.ts'

interface UdpOptions {
  /** An IP literal. */
  host: string
  port: number
  /** Returns the reply to a query from the address, or undefined for no reply. */
  respond: (query: Buffer, address: string) => Buffer | undefined | Promise<Buffer | undefined>
  /** Addresses of this host, link-local ones with their zone; by default those of its interfaces. */
  hostAddresses?: (() => readonly string[]) | undefined
  log: Log
  clock: Clock
}

export interface UdpService {
  /** Replies that are ready later are not sent. */
  close(): Promise<void>
}

/** Datagrams of one network that may wait, if no other network asks. Senders of dropped ones retry. */
const WAITING_DATAGRAMS_MAX = 4_000
/** Answers that are looked up at the same time. */
const LOOK_UPS_MAX = 1_000
/** Datagrams answered before the socket is read again: a flood waits here, in turns, not in the system. */
const DATAGRAMS_PER_TURN = 16
/** Linux grants no more than `net.core.rmem_max`, which is often 208 KiB, or some 250 short datagrams. */
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024
/** With `n` networks that have filled their shares one after the other, `ln n` times the room is in use. */
const ROOMS_MAX = 10
/** Interval at which the addresses of the host are read again. */
const RESCAN_INTERVAL_MS = 10_000

/** @throws the error of binding; no socket stays open then */
export function openUdpService(options: UdpOptions): Promise<UdpService> {
  return isWildcard(options.host) ? openEach(options) : openSocket(options, options.host)
}

/** Follows the addresses of the host: new ones are bound, and the sockets of former ones are closed. */
async function openEach(options: UdpOptions): Promise<UdpService> {
  const { host, hostAddresses = addressesOfInterfaces, port, log, clock } = options
  const family = isIP(host)
  const wanted = () => new Set(hostAddresses().filter(address => isIP(address) === family))
  const open = new Map<string, UdpService>()
  const closeAll = () => Promise.all([...open.values()].map(service => service.close()))
  const scan = async (onError: (error: unknown, address: string) => void) => {
    const present = wanted()
    for (const [address, service] of open) {
      if (present.has(address)) continue
      open.delete(address)
      await service.close()
    }
    for (const address of present)
      if (!open.has(address))
        await openSocket(options, address).then(
          service => void open.set(address, service),
          error => onError(error, address),
        )
  }
  await scan(error => {
    throw error
  }).catch(async error => {
    await closeAll()
    throw error
  })
  const warn = (error: unknown, address?: string) =>
    log.warn(
      { event: 'dns_address_not_bound', err: error, address, port },
      'An address of this host cannot be used by the DNS listener yet; retrying in 10 s',
    )
  let scanning = Promise.resolve()
  const rounds = every(clock, RESCAN_INTERVAL_MS, () => {
    scanning = scanning.then(() => scan(warn)).catch(warn)
  })
  return {
    async close() {
      rounds.cancel()
      await scanning
      await closeAll()
    },
  }
}

function addressesOfInterfaces(): string[] {
  return Object.entries(networkInterfaces()).flatMap(([name, entries = []]) =>
    entries.map(({ address, family, scopeid }) =>
      family === 'IPv6' && scopeid !== 0 ? `${address}%${name}` : address,
    ),
  )
}

async function openSocket({ port, respond, log }: UdpOptions, address: string): Promise<UdpService> {
  const is6 = isIPv6(address)
  const socket = dgram.createSocket({ type: is6 ? 'udp6' : 'udp4', ipv6Only: is6 })
  let open = true
  socket.bind(port, address)
  await once(socket, 'listening').catch(error => {
    socket.close()
    throw error
  })
  enlargeReceiveBuffer(socket)
  socket.on('error', error =>
    log.warn({ event: 'dns_udp_listener_failed', err: error }, 'The DNS listener failed (UDP)'),
  )

  const send = (reply: Buffer | undefined, peer: dgram.RemoteInfo) => {
    if (!reply || !open) return
    socket.send(reply, peer.port, peer.address, error => {
      if (error) log.debug({ event: 'dns_reply_not_sent', err: error }, 'A DNS reply could not be sent')
    })
  }
  const waiting = new FairDatagrams<{ query: Buffer; peer: dgram.RemoteInfo }>(WAITING_DATAGRAMS_MAX)
  let isAnswering = false
  let lookUpCount = 0
  const answerSome = () => {
    isAnswering = false
    for (let count = 0; count < DATAGRAMS_PER_TURN && lookUpCount < LOOK_UPS_MAX && open; count++) {
      const next = waiting.next()
      if (!next) return
      const reply = respond(next.query, next.peer.address)
      if (!(reply instanceof Promise)) {
        send(reply, next.peer)
        continue
      }
      lookUpCount++
      reply
        .then(ready => send(ready, next.peer))
        .catch(error =>
          log.error({ event: 'dns_query_failed', err: error }, 'A DNS query could not be answered'),
        )
        .finally(() => {
          lookUpCount--
          answerSoon()
        })
    }
    if (lookUpCount < LOOK_UPS_MAX) answerSoon()
  }
  const answerSoon = () => {
    if (isAnswering || waiting.size === 0 || !open) return
    isAnswering = true
    setImmediate(answerSome)
  }
  socket.on('message', (query, peer) => {
    // A datagram from port 0 is forged and cannot be answered.
    if (peer.port !== 0 && waiting.add(clientNetworkOf(peer.address), { query, peer })) answerSoon()
  })
  return {
    close() {
      open = false
      return new Promise(done => socket.close(done))
    },
  }
}

/** Lets a burst wait in the system. The default remains where the system refuses. */
function enlargeReceiveBuffer(socket: dgram.Socket): void {
  try {
    if (socket.getRecvBufferSize() < RECEIVE_BUFFER_BYTES) socket.setRecvBufferSize(RECEIVE_BUFFER_BYTES)
  } catch {} // the system has its own limit
}

/**
 * Datagrams that wait to be answered, in turns between client networks. The more networks wait, the fewer
 * datagrams of each: one network that floods the listener has all the room to itself, a hundred have a
 * hundredth each, and a network that asks little is not dropped. Nothing of a dropped datagram is decoded.
 */
export class FairDatagrams<T> {
  readonly #room: number
  readonly #waiting = new RoundRobin<T>()

  /** @param room number of datagrams of a single network that may wait */
  constructor(room: number) {
    this.#room = room
  }

  get size(): number {
    return this.#waiting.size
  }

  /**
   * @param network from `clientNetworkOf`
   * @returns false if there is no room for it
   */
  add(network: string, datagram: T): boolean {
    const ownCount = this.#waiting.countOf(network)
    const share = this.#room / Math.max(1, this.#waiting.ownerCount)
    if ((ownCount > 0 && ownCount >= share) || this.size >= ROOMS_MAX * this.#room) return false
    this.#waiting.add(network, datagram)
    return true
  }

  next(): T | undefined {
    return this.#waiting.take()
  }
}
