/**
 * The protocol of our mail listeners, by smtp-server, but for what we want otherwise: it greets at once, takes no command
 * that ends in a bare LF or did not wait for its turn, offers logins over TLS alone and nothing that we do not keep, answers
 * whoever has closed their side, reads messages at the same cost whatever they hold, and keeps no connection for ever, nor one
 * that is silent while others want to come in. What of its insides is used here is pinned by its exact version.
 */
import { constants } from 'node:crypto'
import type { Socket } from 'node:net'
import type { PassThrough, Writable } from 'node:stream'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { Clock, Timer } from '../lib/clock.ts'
import { createDotReader } from './dot-reader.ts'
import { holdsBareLineEnd } from './mail-bytes.ts'
import type { MailCounts } from './mail-counts.ts'

/** What of a connection of smtp-server's is used. */
interface Connection {
  id: string
  secure: boolean
  connectionReady(next?: () => void): void
  send(code: number, text: string | string[], context?: unknown): void
  _parser: Parser | false
  _createParser(): Parser
  _socket: Socket
  /** Of the message that is coming in. */
  _dataStream: object | null
  session: { envelope?: { mailFrom: unknown } }
  upgrade(...callbacks: (() => void)[]): void
}

interface Parser extends Writable {
  isClosed: boolean
  _dataMode: boolean
  _dataStream: PassThrough | null
  _remainder: string
  _countDataBytes(count: number): void
  _endDataMode(last: Uint8Array, rest: Buffer, next: Next): void
  _feedDataStream(chunk: Buffer, next: Next): void
  _write(chunk: Buffer, encoding: string, next: Next): void
}

type Next = (error?: Error | null) => void

interface Open {
  connection: Connection
  limit: Timer
  /** Monotonic ms. */
  heardAt: number
}

interface StrictOptions {
  clock: Clock
  /** How long a connection may last, whatever it does. */
  longestMs: number
  /** Further ones are told to come later. */
  mostConnections?: number | undefined
  counts: MailCounts
}

type ConnectOptions = Parameters<SMTPServer['connect']>[1]

/** While all places are taken, whoever has said nothing for so long makes room. */
const SILENT_MS = 10_000
/** Negative replies in one connection: beyond that somebody is trying things out. */
const MOST_ERRORS = 20

/** What all our listeners have in common. */
const EVERYWHERE: SMTPServerOptions = {
  banner: 'ready',
  minVersion: 'TLSv1.2',
  // asked for again and again, it costs us more than whoever asks
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  closeTimeout: 3_000,
  disableReverseLookup: true,
  hideDSN: true,
  hideREQUIRETLS: true,
  logger: false,
}

export class StrictSmtpServer extends SMTPServer {
  readonly #clock: Clock
  readonly #longestMs: number
  readonly #mostConnections: number
  /** By their ids, oldest first. */
  readonly #open = new Map<string, Open>()
  #newest: Connection | undefined

  readonly #counts: MailCounts

  constructor(
    options: SMTPServerOptions,
    { clock, longestMs, mostConnections = 500, counts }: StrictOptions,
  ) {
    super({
      ...EVERYWHERE,
      maxClients: mostConnections,
      ...options,
      onSecure(socket, _session, answer) {
        keepWriting(socket)
        answer()
      },
    })
    this.#clock = clock
    this.#longestMs = longestMs
    this.#mostConnections = mostConnections
    this.#counts = counts
    const onClose = this.onClose.bind(this)
    // Of a socket under TLS all listeners are removed: this alone is always called.
    this.onClose = (session, answer) => {
      this.#open.get(session.id)?.limit.cancel()
      this.#open.delete(session.id)
      onClose(session, answer)
    }
    const add = this.connections.add.bind(this.connections)
    this.connections.add = one => {
      this.#newest = one as unknown as Connection
      return add(one)
    }
  }

  override connect(socket: Socket, options?: ConnectOptions): void {
    if (this.connections.size >= this.#mostConnections) this.#makeRoom()
    super.connect(socket, options)
    if (this.#newest) this.#steady(this.#newest, socket)
    this.#newest = undefined
  }

  /** Ends a connection by its session's id, with a word of why. */
  end(id: string, text: string): void {
    this.#open.get(id)?.connection.send(421, text)
  }

  /** The oldest one that is silent, and in the middle of nothing, goes. */
  #makeRoom(): void {
    const before = this.#clock.monotonic() - SILENT_MS
    for (const { connection, heardAt } of this.#open.values()) {
      const isBusy = connection._dataStream || connection.session.envelope?.mailFrom
      if (isBusy || heardAt > before) continue
      connection.send(421, '4.3.2 Others want to come in')
      return
    }
  }

  #steady(connection: Connection, socket: Socket): void {
    const limit = this.#clock.timer(this.#longestMs, () =>
      connection.send(421, '4.4.2 This connection has lasted too long'),
    )
    const open: Open = { connection, limit, heardAt: this.#clock.monotonic() }
    this.#open.set(connection.id, open)
    offerLoginOverTlsAlone(connection)
    endAfterErrors(connection, this.#counts)
    flushInTime(connection)
    keepWriting(socket)
    leaveHandshakes(connection, socket)
    const onHeard = () => {
      open.heardAt = this.#clock.monotonic()
    }
    const prepare = (parser: Parser) =>
      strict(replyingTogether(readingDots(outlastingItsEnd(parser, connection)), connection), onHeard)
    if (connection._parser) prepare(connection._parser)
    const create = connection._createParser.bind(connection)
    connection._createParser = () => prepare(create())
    const ready = connection.connectionReady.bind(connection)
    // It would be called 100 ms from now.
    connection.connectionReady = () => {}
    // One turn of the loop in which what was sent too early comes in.
    setImmediate(() =>
      setImmediate(() => {
        if (!socket.destroyed) ready()
      }),
    )
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

function endAfterErrors(connection: Connection, counts: MailCounts) {
  const send = connection.send.bind(connection)
  let count = 0
  connection.send = (code, text, context) => {
    send(code, text, context)
    if (code >= 400) counts.turnedAway(code, String(text))
    if (code >= 500 && ++count === MOST_ERRORS) send(421, '4.7.0 Too many errors')
  }
}

/** Whoever leaves in the middle of one is waiting for nothing. */
function leaveHandshakes(connection: Connection, socket: Socket) {
  const upgrade = connection.upgrade.bind(connection)
  connection.upgrade = (...callbacks) => {
    socket.allowHalfOpen = false
    upgrade(...callbacks)
  }
}

/** Replies to commands that came together leave together (RFC 2920 §3.2). */
function replyingTogether(parser: Parser, connection: Connection): Parser {
  const write = parser._write.bind(parser)
  parser._write = (chunk, encoding, next) => {
    const socket = connection._socket
    socket.cork()
    write(chunk, encoding, error => {
      socket.uncork()
      next(error)
    })
  }
  return parser
}

/** But for those that somebody waits for: the last one before TLS, and more of them than are to be held. */
function flushInTime(connection: Connection) {
  const send = connection.send.bind(connection)
  connection.send = (code, text, context) => {
    send(code, text, context)
    const socket = connection._socket
    if (code === 220 || socket.writableNeedDrain) while (socket.writableCorked > 0) socket.uncork()
  }
}

/** In place of smtp-server's own way, in which each dot at the beginning of a line costs a turn of the loop. */
function readingDots(parser: Parser): Parser {
  let stream: PassThrough | null = null
  let dots = createDotReader()
  parser._feedDataStream = (chunk, next) => {
    if (parser._dataStream !== stream) {
      stream = parser._dataStream
      dots = createDotReader()
    }
    const { content, endAt } = dots.take(chunk)
    parser._countDataBytes(content.length)
    if (endAt !== undefined) return parser._endDataMode(content, chunk.subarray(endAt), next)
    if (!stream?.writable || content.length === 0 || stream.write(content)) return next()
    return onceEmpty(stream, next)
  }
  return parser
}

/** A stream that is destroyed is never drained, it only closes. */
function onceEmpty(stream: PassThrough, then: () => void) {
  if (stream.destroyed) return then()
  const go = () => {
    stream.off('drain', go).off('close', go)
    then()
  }
  stream.on('drain', go).on('close', go)
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

/** What browsers and proxies say, whatever else stands in the line. */
const OF_HTTP = /(?:^|\n)(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE|CONNECT) /i
/** Commands whose reply is to be waited for (RFC 2920 §3.1), with something behind them. */
const IMPATIENT = /(?:^|\n)(?:EHLO|HELO|DATA)\b[^\r\n]*\r\n[\s\S]/i

/** Between messages a bare line end is refused; within one it is found by who takes the message. */
function strict(parser: Parser, onHeard: () => void): Parser {
  const write = parser._write.bind(parser)
  parser._write = (chunk, encoding, next) => {
    onHeard()
    const fault = parser._dataMode || parser.isClosed ? undefined : faultOf(chunk, parser._remainder)
    if (fault === undefined) write(chunk, encoding, next)
    else next(new Error(fault))
  }
  return parser
}

/** @param before the beginning of a line that has not come to its end */
function faultOf(chunk: Buffer, before: string): string | undefined {
  if (holdsBareLineEnd(chunk, before.endsWith('\r'))) return '5.5.2 Lines end in CR LF'
  const text = before + chunk.toString('latin1')
  if (OF_HTTP.test(text)) return '5.5.1 This is not HTTP'
  if (IMPATIENT.test(text)) return '5.5.0 Wait for the reply'
  return undefined
}
