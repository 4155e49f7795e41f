/**
 * The protocol of our mail listeners, by smtp-server, but for what we want otherwise: it greets at once, takes no command
 * that ends in a bare LF, offers logins over TLS alone and nothing that we do not keep, answers whoever has closed their
 * side, and holds no connection for ever. What of its insides is used here is pinned by its exact version.
 */
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { Clock, Timer } from '../lib/clock.ts'
import { holdsBareLineEnd } from './mail-bytes.ts'

/** What of a connection of smtp-server's is used. */
interface Connection {
  id: string
  secure: boolean
  connectionReady(next?: () => void): void
  send(code: number, text: string | string[], context?: unknown): void
  _parser: Parser | false
  _createParser(): Parser
  _socket: Socket
  upgrade(...callbacks: (() => void)[]): void
}

interface Parser extends Writable {
  _dataMode: boolean
  _remainder: string
  _write(chunk: Buffer, encoding: string, next: (error?: Error | null) => void): void
}

type ConnectOptions = Parameters<SMTPServer['connect']>[1]

/** What all our listeners have in common. */
const EVERYWHERE: SMTPServerOptions = {
  banner: 'ready',
  minVersion: 'TLSv1.2',
  maxClients: 500,
  closeTimeout: 3_000,
  disableReverseLookup: true,
  hideDSN: true,
  hideREQUIRETLS: true,
  logger: false,
}

export class StrictSmtpServer extends SMTPServer {
  readonly #clock: Clock
  readonly #longestMs: number
  /** Of the connections, by their ids. */
  readonly #limits = new Map<string, Timer>()

  /** @param longestMs how long a connection may last, whatever it does */
  constructor(options: SMTPServerOptions, clock: Clock, longestMs: number) {
    super({
      ...EVERYWHERE,
      ...options,
      onSecure(socket, _session, answer) {
        keepWriting(socket)
        answer()
      },
    })
    this.#clock = clock
    this.#longestMs = longestMs
    const onClose = this.onClose.bind(this)
    // Of a socket under TLS all listeners are removed: this alone is always called.
    this.onClose = (session, answer) => {
      this.#limits.get(session.id)?.cancel()
      this.#limits.delete(session.id)
      onClose(session, answer)
    }
  }

  override connect(socket: Socket, options?: ConnectOptions): void {
    const before = new Set(this.connections)
    super.connect(socket, options)
    for (const one of this.connections)
      if (!before.has(one)) this.#steady(one as unknown as Connection, socket)
  }

  /** Ends a connection by its session's id, with a word of why. */
  end(id: string, text: string): void {
    for (const one of this.connections as unknown as Set<Connection>) if (one.id === id) one.send(421, text)
  }

  #steady(connection: Connection, socket: Socket): void {
    this.#limits.set(
      connection.id,
      this.#clock.timer(this.#longestMs, () =>
        connection.send(421, '4.4.2 This connection has lasted too long'),
      ),
    )
    offerLoginOverTlsAlone(connection)
    keepWriting(socket)
    const upgrade = connection.upgrade.bind(connection)
    connection.upgrade = (...callbacks) => {
      // whoever leaves in the middle of the handshake is waiting for nothing
      socket.allowHalfOpen = false
      upgrade(...callbacks)
    }
    const prepare = (parser: Parser) => strict(outlastingItsEnd(parser, connection))
    if (connection._parser) prepare(connection._parser)
    const create = connection._createParser.bind(connection)
    connection._createParser = () => prepare(create())
    const ready = connection.connectionReady.bind(connection)
    // It would be called 100 ms from now.
    connection.connectionReady = () => {}
    setImmediate(() => {
      if (!socket.destroyed) ready()
    })
  }
}

/** Before, a login is refused; yet it would be listed. */
function offerLoginOverTlsAlone(connection: Connection) {
  const send = connection.send.bind(connection)
  connection.send = (code, text, context) => {
    const isOpen = Array.isArray(text) && !connection.secure
    send(code, isOpen ? text.filter(line => !line.startsWith('AUTH ')) : text, context)
  }
}

/**
 * A client may close its side right behind its last command, and still waits for the replies; some send QUIT with the
 * final dot. The socket is ended when all it sent has been answered.
 */
function outlastingItsEnd(parser: Parser, connection: Connection): Parser {
  parser.once('finish', () => connection._socket.end())
  return parser
}

/** smtp-server says nothing more on a socket that is not open on both sides. */
function keepWriting(socket: Socket): void {
  socket.allowHalfOpen = true
  Object.defineProperty(socket, 'readyState', {
    get: () => (socket.writable ? 'open' : 'closed'),
    configurable: true,
  })
}

/** Between messages a bare line end is refused; within one it is found by who takes the message. */
function strict(parser: Parser): Parser {
  const write = parser._write.bind(parser)
  parser._write = (chunk, encoding, next) => {
    if (!parser._dataMode && holdsBareLineEnd(chunk, parser._remainder.endsWith('\r')))
      next(new Error('5.5.2 Lines end in CR LF'))
    else write(chunk, encoding, next)
  }
  return parser
}
