/**
 * Guards the connections of a listener: admits them (`connections.ts`), reads them (`request-feed.ts`),
 * tracks their requests, and closes connections that do not speak HTTP or are too slow
 * (`connection-watch.ts`).
 */
import type { RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../../lib/clock.ts'
import { takeProxyHeader } from '../../../lib/proxy-header.ts'
import { ConnectionWatch } from './connection-watch.ts'
import { type ClientConnection, type Connections, connectionOf } from './connections.ts'
import { endConnection, headerLines, type RawRefusal, rawRefusal } from './last-words.ts'
import { HANDSHAKE_PIECES, ParserTurns } from './parser-turns.ts'
import type { ReceivedRequest } from './received-request.ts'
import { isEndless, RequestFeed } from './request-feed.ts'

interface GuardOptions {
  clock: Clock
  /** Headers of replies to input that is not a valid request. */
  headers: Readonly<Record<string, string>>
  /** Whether accepted sockets carry TLS. */
  isSecure: boolean
}

/** Must be called before the server listens. */
export function guardConnections(
  server: Server<typeof ReceivedRequest>,
  connections: Connections,
  { clock, headers, isSecure }: GuardOptions,
): void {
  const lines = headerLines(headers)
  /** Replies that are due are sent before the refusal of what follows them (RFC 9112 §9.3.2). */
  const refuse = (connection: ClientConnection, refusal: RawRefusal) => {
    connection.isRefused = true
    const { openReplies, latest, request, reply, pipelined } = connection
    const end = () => endConnection(connection, clock, rawRefusal(refusal, lines, clock.now()))
    const endSilently = () => endConnection(connection, clock)
    const isOfRequest = latest !== undefined && (!latest.complete || latest.isInCrumbs)
    if (openReplies === 0 && isOfRequest) endSilently()
    else if (openReplies === 0) end()
    else if (!isOfRequest) connection.onAnswered = end
    // the request waits for its turn and will never be complete
    else if (latest !== request) pipelined[pipelined.length - 1] = end
    else if (reply?.headersSent) connection.onAnswered = endSilently
    else end()
  }
  const watch = new ConnectionWatch(connections, { clock, onLate: connection => refuse(connection, 'late') })
  const turns = new ParserTurns()
  const open = (connection: ClientConnection, stream: Socket) => {
    connection.open(stream, clock.monotonic())
    const feed = new RequestFeed(connection, stream, turns, () => refuse(connection, 'crumbs'))
    connection.readOn = () => feed.readOn()
    if (turns.isOver) feed.waitForTurn()
    // a client that closes its side still gets what is due, but nobody waits for an endless reply
    stream.once('end', () => {
      if (isEndless(connection.reply)) connection.destroy()
    })
    const destroySoon = stream.destroySoon.bind(stream)
    // Node calls this after the last reply of a connection
    stream.destroySoon = () => {
      if (connection.request?.complete === false) endConnection(connection, clock)
      else destroySoon()
    }
  }
  const handshakes = new Handshakes(listenerOfRuntime(server), turns)
  const begin = (connection: ClientConnection) => {
    if (isSecure) return handshakes.begin(connection)
    handshakes.beginInRuntime(connection.socket)
    open(connection, connection.socket)
  }
  server.on('connection', (socket: Socket) => {
    const connection = connections.admit(socket, clock.monotonic())
    turns.accept()
    if (!connection) return
    watch.start()
    beginAsClient(connection, connections, begin)
  })
  server.on('secureConnection', (stream: Socket) => {
    const connection = handshakes.take(stream)
    if (connection) open(connection, stream)
    else stream.destroy()
  })
  server.on('connect', (_, stream) => endOrDestroy(stream, connection => refuse(connection, 'unreadable')))
  server.on('clientError', ({ code }: NodeJS.ErrnoException, stream) =>
    endOrDestroy(stream, connection => {
      if (code === 'ECONNRESET') connection.destroy()
      else refuse(connection, code === 'HPE_HEADER_OVERFLOW' ? 'head too large' : 'unreadable')
    }),
  )
  server.once('close', () => watch.stop())
}

/** TLS handshakes, which begin when the hello has arrived and the client network has its turn. */
class Handshakes {
  readonly beginInRuntime: (socket: Socket) => void
  readonly #turns: ParserTurns
  readonly #open = new Map<string, ClientConnection>()

  constructor(beginInRuntime: (socket: Socket) => void, turns: ParserTurns) {
    this.beginInRuntime = beginInRuntime
    this.#turns = turns
  }

  begin(connection: ClientConnection): void {
    const { socket, network } = connection
    socket.on('error', () => socket.destroy())
    const shakeHands = () => this.#shakeHands(connection)
    socket.once('readable', () => {
      // the stream notices in the next tick that its listener is gone
      process.nextTick(() => {
        if (this.#turns.isOver) this.#turns.wait(network.name, false, shakeHands)
        else shakeHands()
      })
    })
  }

  #shakeHands(connection: ClientConnection): void {
    const { socket } = connection
    if (socket.destroyed) return
    this.#turns.spend(HANDSHAKE_PIECES)
    const name = endsOf(socket)
    this.#open.set(name, connection)
    socket.once('close', () => this.#open.delete(name))
    this.beginInRuntime(socket)
  }

  /** @returns the connection whose handshake is over */
  take(stream: Socket): ClientConnection | undefined {
    const name = endsOf(stream)
    const connection = this.#open.get(name)
    this.#open.delete(name)
    return connection
  }
}

/** Takes over the accepted connections from the runtime. @returns a function that hands one on to it */
function listenerOfRuntime(server: Server<typeof ReceivedRequest>): (socket: Socket) => void {
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  return socket => {
    for (const listener of listeners) listener.call(server, socket)
  }
}

/** Reads the PROXY header of a trusted proxy, if any. A malformed one is left to be refused as a request. */
function beginAsClient(
  connection: ClientConnection,
  connections: Connections,
  begin: (connection: ClientConnection) => void,
): void {
  if (!connections.isOfProxy(connection)) return void begin(connection)
  takeProxyHeader(connection.socket, header => {
    const client = header.kind === 'valid' ? header.client : undefined
    if (client === undefined || connections.moveTo(client, connection)) begin(connection)
  })
}

/** Identifies a connection while its TLS socket is not known. */
function endsOf({ localAddress, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`
}

function endOrDestroy(stream: Duplex, end: (connection: ClientConnection) => void): void {
  const connection = connectionOf(stream)
  if (!connection) stream.destroy()
  else if (!connection.isClosing) end(connection)
}

/**
 * Handles the requests of one connection one after another, since HTTP/1.1 requires replies in order (RFC
 * 9112 §9.3.2), and updates the state of the connection. Without it, thousands of pipelined requests would
 * start at once and delay other clients.
 */
export function answerInTurn(
  request: ReceivedRequest,
  response: ServerResponse,
  answer: RequestListener,
): void {
  const connection = connectionOf(request.socket)
  if (!connection) return void answer(request, response)
  connection.requestCount++
  connection.openReplies++
  connection.latest = request
  response.on('close', hasBeenAnswered)
  if (connection.openReplies > 1) {
    connection.pipelined.push(() => {
      connection.take(request, response)
      answer(request, response)
    })
    return
  }
  connection.take(request, response)
  connection.start = () => answer(request, response)
}

/** One function serves all replies, so that none is allocated per request. */
function hasBeenAnswered(this: ServerResponse): void {
  const connection = connectionOf(this.req.socket)
  if (!connection) return
  connection.openReplies--
  const next = connection.pipelined.shift()
  if (next && !this.req.socket.destroyed) setImmediate(next)
  connection.readOn?.()
  if (connection.openReplies > 0) return
  connection.request = undefined
  connection.reply = undefined
  connection.onAnswered?.()
}
