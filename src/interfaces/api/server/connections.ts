/**
 * The connections of one HTTP listener: how many there may be, how many of one client network, and which of
 * them are closed when a new one needs the place.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Networks, networks } from '../../../lib/networks.ts'
import { Slab } from '../../../lib/slab.ts'
import { clientNetworkOf } from '../../../protocols/dns/netblock.ts'

/** What the connections of one client network have in common. */
interface ClientNetwork {
  readonly name: string
  readonly mostConnections: number
  /** Of a proxy: many clients share it, so it is not told apart as one. */
  readonly isTrusted: boolean
  connectionCount: number
}

/**
 * What a connection is doing. The lower the number, the sooner it makes room for another one; `busy` never
 * does.
 */
const PHASE = { handshake: 0, silent: 1, closing: 2, idle: 3, stalled: 4, busy: 5 } as const

const CONNECTION = Symbol('connection')
type Tracked = object & { [CONNECTION]?: ClientConnection }

/** One connection, from the first packet until the socket is closed. */
export class ClientConnection {
  /** As it was accepted: under TLS the carrier of `stream`. */
  readonly socket: Socket
  /** What requests are read from; undefined during the TLS handshake. */
  stream: Socket | undefined
  /** In monotonic time: the accept, or the end of the TLS handshake. */
  since: number
  /** So many requests have begun. */
  requestCount = 0
  /** So many of them have not been answered to the end. */
  openReplies = 0
  /** Begins the requests that came behind one that is being answered. */
  readonly pipelined: (() => void)[] = []
  /** The last request that has begun, and its reply; undefined when all have been answered. */
  request: IncomingMessage | undefined
  reply: ServerResponse | undefined
  /** It has had its last reply, and is destroyed soon. */
  isClosing = false
  /** The peer has not read anything of a reply for a while. */
  isStalled = false
  /** Called when nothing is under way any more. */
  onAnswered: (() => void) | undefined
  readonly network: ClientNetwork
  /** Its number among those that are open. */
  number = -1

  constructor(socket: Socket, network: ClientNetwork, now: number) {
    this.socket = socket
    this.network = network
    this.since = now
  }

  get phase(): number {
    if (this.isClosing) return PHASE.closing
    if (this.stream === undefined) return PHASE.handshake
    if (this.requestCount === 0) return PHASE.silent
    if (this.openReplies === 0) return PHASE.idle
    return this.isStalled ? PHASE.stalled : PHASE.busy
  }

  /** Nothing has come by it yet, or nothing more will. */
  get isUnused(): boolean {
    return this.isClosing || !this.stream || (this.requestCount === 0 && this.stream.bytesRead === 0)
  }

  destroy(): void {
    // a TLS socket is destroyed with its carrier
    this.socket.destroy()
  }
}

/** @returns the connection that a request, or what is left of one, came by */
export function connectionOf(stream: object): ClientConnection | undefined {
  return (stream as Tracked)[CONNECTION]
}

interface ConnectionLimits {
  /** Number of connections of the listener. */
  mostConnections: number
  /** Number of connections of one client network. */
  mostPerClient: number
  /** Addresses or CIDR ranges to which `mostPerClient` does not apply. */
  trustedProxies: readonly string[]
}

const LOOPBACK = networks(['127.0.0.0/8', '::1'])

/** The connections that are open. */
export class Connections implements Iterable<ClientConnection> {
  readonly #open = new Slab<ClientConnection>()
  readonly #networks = new Map<string, ClientNetwork>()
  readonly #limits: ConnectionLimits
  readonly #trusted: Networks

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
    this.#trusted = networks(limits.trustedProxies)
  }

  get size(): number {
    return this.#open.size
  }

  [Symbol.iterator](): Iterator<ClientConnection> {
    return this.#open[Symbol.iterator]()
  }

  /**
   * Gives a socket that was just accepted a place, for which another connection may be closed.
   *
   * @returns undefined when there is no place; the socket has been destroyed
   */
  admit(socket: Socket, now: number): ClientConnection | undefined {
    const network = this.#networkOf(socket.remoteAddress ?? '')
    const isCrowd = network.connectionCount >= network.mostConnections
    const hasRoom =
      (!isCrowd || this.#makeRoom(network)) &&
      (this.#open.size < this.#limits.mostConnections || this.#makeRoom())
    if (!hasRoom || socket.remoteAddress === undefined) {
      socket.destroy()
      return undefined
    }
    const connection = new ClientConnection(socket, network, now)
    connection.number = this.#open.put(connection)
    network.connectionCount++
    this.#networks.set(network.name, network)
    socket.once('close', () => this.#forget(connection))
    return connection
  }

  /** Requests are read from this stream from now on. */
  open(connection: ClientConnection, stream: Socket, now: number): void {
    connection.stream = stream
    connection.since = now
    ;(stream as Tracked)[CONNECTION] = connection
  }

  #networkOf(address: string): ClientNetwork {
    const name = clientNetworkOf(address)
    const known = this.#networks.get(name)
    if (known) return known
    const { mostConnections, mostPerClient } = this.#limits
    const half = Math.ceil(mostConnections / 2)
    const isTrusted = this.#trusted.contains(address)
    const most = isTrusted
      ? Number.POSITIVE_INFINITY
      : LOOPBACK.contains(address)
        ? Math.max(mostPerClient, half)
        : Math.min(mostPerClient, half)
    return { name, mostConnections: most, isTrusted, connectionCount: 0 }
  }

  /**
   * Closes the connection that is the least loss: by its phase, then of the network that holds the most, then
   * the oldest.
   *
   * @param network among whose connections alone
   * @returns false when all of them are at work
   */
  #makeRoom(network?: ClientNetwork): boolean {
    let chosen: ClientConnection | undefined
    let chosenPhase: number = PHASE.busy
    for (const connection of this.#open) {
      if (network !== undefined && connection.network !== network) continue
      const { phase } = connection
      if (phase === PHASE.busy || phase > chosenPhase) continue
      if (phase === chosenPhase && !isRatherClosed(connection, chosen!)) continue
      chosen = connection
      chosenPhase = phase
    }
    if (!chosen) return false
    chosen.destroy()
    this.#forget(chosen)
    return true
  }

  #forget(connection: ClientConnection): void {
    if (connection.number < 0) return
    this.#open.drop(connection.number)
    connection.number = -1
    const { network } = connection
    network.connectionCount--
    if (network.connectionCount === 0) this.#networks.delete(network.name)
  }
}

/** Tells which of two connections in the same phase is closed first. */
function isRatherClosed(one: ClientConnection, other: ClientConnection): boolean {
  const weight = weightOf(one.network) - weightOf(other.network)
  return weight === 0 ? one.since < other.since : weight > 0
}

function weightOf({ isTrusted, connectionCount }: ClientNetwork): number {
  return isTrusted ? 0 : connectionCount
}
