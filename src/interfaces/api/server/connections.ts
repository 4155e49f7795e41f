/**
 * Limits the connections of an HTTP listener, in total and per client network, and chooses which connection
 * is closed when a new one needs its place.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Networks, networks } from '../../../lib/networks.ts'
import { Slab } from '../../../lib/slab.ts'
import { clientNetworkOf } from '../../../protocols/dns/netblock.ts'
import type { ReceivedRequest } from './received-request.ts'

/** State that the connections of one client network share. */
interface ClientNetwork {
  readonly name: string
  readonly maxConnections: number
  /**
   * Whether the network is a trusted proxy. Many clients share a proxy, so the limit per client does not
   * apply to it.
   */
  readonly isTrusted: boolean
  connectionCount: number
  /** Size of the long replies that are being sent to it (see `unread-replies.ts`). */
  unreadBytes: number
}

/**
 * State of a connection. Connections with a lower number are closed first; a `busy` connection is never
 * closed.
 */
const PHASE = { handshake: 0, silent: 1, closing: 2, idle: 3, stalled: 4, busy: 5 } as const

const CONNECTION = Symbol('connection')
type Tracked = object & { [CONNECTION]?: ClientConnection }

/** One connection, from the first packet until the socket is closed. */
export class ClientConnection {
  /** Accepted socket; for TLS, the carrier of `stream`. */
  readonly socket: Socket
  /** Stream from which requests are read; undefined during the PROXY header and the TLS handshake. */
  stream: Socket | undefined
  /** Bytes that the stream had read before the first request. */
  #bytesBefore = 0
  /** Address of the client, as a trusted proxy has named it before the first request, or that of the socket. */
  address: string
  /** Monotonic time of the accept or of the end of the TLS handshake, in ms. */
  since: number
  /** Number of requests that have started. */
  requestCount = 0
  /** Number of requests whose replies are not complete. */
  openReplies = 0
  /**
   * Handles the request that was just read. Called when the parser has returned, so that a short body is
   * complete.
   */
  start: (() => void) | undefined
  /** Functions that start the pipelined requests; `request-feed.ts` limits their number. */
  readonly pipelined: (() => void)[] = []
  /** Request whose head was read last. */
  latest: ReceivedRequest | undefined
  /** Request in progress and its reply; undefined when all requests have been answered. */
  request: ReceivedRequest | undefined
  reply: ServerResponse | undefined
  /** Whether the input cannot be understood or is refused, so that nothing more is parsed. */
  isRefused = false
  /** Whether the last reply was sent, so that the connection is about to be closed. */
  isClosing = false
  /** Whether the peer has not read a reply for a while. */
  isStalled = false
  /** Called when no request is in progress any more. */
  onAnswered: (() => void) | undefined
  /** Called after each reply. Reads on if reading was stopped because requests wait. */
  readOn: (() => void) | undefined
  network: ClientNetwork
  /** Index in the array of open connections. */
  number = -1

  constructor(socket: Socket, address: string, network: ClientNetwork, now: number) {
    this.socket = socket
    this.address = address
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

  /** Tells whether no byte of a request has arrived yet, or none will be read any more. */
  get isUnused(): boolean {
    return this.isClosing || !this.stream || (this.requestCount === 0 && !this.hasReceived)
  }

  /** Tells whether the stream has read bytes since it was opened. */
  get hasReceived(): boolean {
    return this.stream !== undefined && this.stream.bytesRead > this.#bytesBefore
  }

  /** Sets the stream from which requests are read. */
  open(stream: Socket, now: number): void {
    this.stream = stream
    this.#bytesBefore = stream.bytesRead - stream.readableLength
    this.since = now
    ;(stream as Tracked)[CONNECTION] = this
  }

  /** Must be called when the request is the next to be answered. */
  take(request: ReceivedRequest, reply: ServerResponse): void {
    this.request = request
    this.reply = reply
  }

  destroy(): void {
    // destroying the carrier destroys the TLS socket, too
    this.socket.destroy()
  }
}

/** @returns the connection of a request or of its socket */
export function connectionOf(stream: object): ClientConnection | undefined {
  return (stream as Tracked)[CONNECTION]
}

interface ConnectionLimits {
  /** Maximum number of connections of the listener. */
  maxConnections: number
  /** Maximum number of connections of one client network. */
  maxPerClient: number
  /** Addresses or CIDR ranges to which `maxPerClient` does not apply. */
  trustedProxies: readonly string[]
}

const LOOPBACK = networks(['127.0.0.0/8', '::1'])

/** Open connections of a listener. */
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
   * Admits an accepted socket, and closes another connection if that is needed.
   *
   * @returns undefined if there is no place; the socket is destroyed
   */
  admit(socket: Socket, now: number): ClientConnection | undefined {
    const address = socket.remoteAddress ?? ''
    const network = this.#networkOf(address)
    const hasRoom =
      this.#hasRoomIn(network) && (this.#open.size < this.#limits.maxConnections || this.#makeRoom())
    if (!hasRoom || address === '') {
      socket.destroy()
      return undefined
    }
    const connection = new ClientConnection(socket, address, network, now)
    connection.number = this.#open.put(connection)
    this.#enter(network)
    socket.once('close', () => this.#forget(connection))
    return connection
  }

  /** Tells whether the connection is from a trusted proxy, which may name its client. */
  isOfProxy({ address }: ClientConnection): boolean {
    return this.#trusted.contains(address)
  }

  /**
   * Counts the connection for the client that a proxy has named, and closes another one of that client if
   * that is needed.
   *
   * @returns false if there is no place; the connection is destroyed
   */
  moveTo(address: string, connection: ClientConnection): boolean {
    if (connection.number < 0) return false
    const network = this.#networkOf(address)
    if (!this.#hasRoomIn(network)) {
      connection.destroy()
      return false
    }
    this.#leave(connection.network)
    this.#enter(network)
    connection.address = address
    connection.network = network
    return true
  }

  #hasRoomIn(network: ClientNetwork): boolean {
    return network.connectionCount < network.maxConnections || this.#makeRoom(network)
  }

  #enter(network: ClientNetwork): void {
    network.connectionCount++
    this.#networks.set(network.name, network)
  }

  #leave(network: ClientNetwork): void {
    network.connectionCount--
    if (network.connectionCount === 0) this.#networks.delete(network.name)
  }

  #networkOf(address: string): ClientNetwork {
    const name = clientNetworkOf(address)
    const known = this.#networks.get(name)
    if (known) return known
    const { maxConnections, maxPerClient } = this.#limits
    const half = Math.ceil(maxConnections / 2)
    const isTrusted = this.#trusted.contains(address)
    const max = isTrusted
      ? Number.POSITIVE_INFINITY
      : LOOPBACK.contains(address)
        ? Math.max(maxPerClient, half)
        : Math.min(maxPerClient, half)
    return { name, maxConnections: max, isTrusted, connectionCount: 0, unreadBytes: 0 }
  }

  /**
   * Closes one connection: the one in the lowest phase, then of the network with the most connections, then
   * the oldest.
   *
   * @param network restricts the choice to one network
   * @returns false if all connections are busy
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
    this.#leave(connection.network)
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
