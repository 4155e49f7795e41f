/**
 * Adjusts connections of smtp-server: greets at once, refuses bare LF in commands and premature pipelining,
 * takes paths as text, refuses parameters that are not offered, offers AUTH over TLS only, hides extensions
 * that are not supported, reports refusals, answers half-closed clients, and reads commands and message data
 * at a cost that does not depend on the size of their pieces. It uses internals of smtp-server, whose version
 * is therefore pinned.
 */
import type { Socket } from 'node:net'
import type { PassThrough, Writable } from 'node:stream'
import type { FairTurns } from '../../lib/fair-turns.ts'
import { JoinedBytes } from '../../lib/joined-bytes.ts'
import { printableAscii } from '../../lib/printable-ascii.ts'
import { holdsProxyHeader } from '../../lib/proxy-header.ts'
import { holdOnePiece, joinSmallReads } from '../../lib/small-reads.ts'
import { clientNetworkOf } from '../../protocols/dns/netblock.ts'
import { endAfterCommands, endAfterErrors } from './command-limits.ts'
import { createDotReader } from './dot-reader.ts'
import { type CommandForms, readPath } from './envelope-path.ts'
import { type AddressCommand, type OptionalExtension, unofferedParameter } from './esmtp-parameters.ts'
import { holdsBareLineEnd } from './mail-bytes.ts'
import type { MailReport, RefusedClient } from './mail-report.ts'
import { refusedCommand } from './refused-command.ts'

/** The parts of smtp-server's SMTPConnection that are used. */
export interface Connection {
  secure: boolean
  /** The name the client gave with EHLO or HELO; false before, and again after STARTTLS. */
  hostNameAppearsAs: string | false
  connectionReady(next?: () => void): void
  send(code: number, text: string | string[], context?: unknown): void
  close(): void
  upgrade(...callbacks: (() => void)[]): void
  /** `error` is the last negative reply, as the client got it. */
  session: {
    envelope?: { mailFrom: { address: string } | false; rcptTo: { address: string }[] }
    user?: unknown
    error?: string
  }
  /** True while a command is being processed. */
  _handlerPending: boolean
  _parser: Parser | false
  _createParser(): Parser
  _socket: Socket
  /** Stream of the message that is being received or awaits its reply. */
  _dataStream: PassThrough | false | null
  _armTimeout(socket?: Socket): void
  /** Takes the next line of a login. */
  _nextHandler?: unknown
  /** Carries out a command, or the next line of a login. */
  _onCommand(command: Buffer, done?: () => void): void
  handler_EHLO(command: unknown, done: () => void): void
  handler_HELO(command: unknown, done: () => void): void
  /** @returns the address and the ESMTP parameters of MAIL FROM or RCPT TO; false for a syntax error */
  _parseAddressCommand(name: AddressCommand, command: unknown): ParsedCommand | false
  /** Checks parameters before all other checks of them. @returns true if it has refused the command */
  _rejectInvalidParams(parsed: ParsedCommand, withValue: string[], done: () => void): boolean
  _isSupported(verb: string): boolean
  _server: { options: { hideDSN?: boolean } }
}

interface ParsedCommand {
  address: string
  /** Parameters by name in upper case; false if there are none. */
  args: Record<string, unknown> | false
  /** The first parameter that this listener does not offer. */
  unoffered?: string | undefined
}

export interface SmtpSettings {
  report: MailReport
  /** @param user what the login has put into the session; undefined before it */
  userOf?: ((user: unknown) => RefusedClient['user']) | undefined
  /** Forms that commands may have; `strict` if not given. */
  forms?: CommandForms | undefined
}

interface Parser extends Writable {
  isClosed: boolean
  _dataMode: boolean
  _dataStream: PassThrough | null
  _remainder: string
  /** Begins a message. @returns the stream of its content */
  startDataMode(bytesMax?: number): PassThrough
  _countDataBytes(count: number): void
  _endDataMode(last: Uint8Array, rest: Buffer, next: Next): void
  _feedDataStream(chunk: Buffer, next: Next): void
  _write(chunk: Buffer, encoding: string, next: Next): void
}

const CR = 0x0d
const LF = 0x0a

type Next = (error?: Error | null) => void

const PARAMETER_CHARACTERS_MAX = 40
/** The longest line is that of a login (RFC 4954 §4: 12,288 octets). */
const LINE_BYTES_MAX = 16 * 1024

/**
 * Changes a connection before its first input is read.
 * @param address of the client, which smtp-server knows from the greeting on
 * @param turns of all connections of the listener
 */
export function adapt(
  connection: Connection,
  socket: Socket,
  address: string,
  { report, userOf, forms = 'strict' }: SmtpSettings,
  turns: FairTurns,
): void {
  offerLoginOverTlsAlone(connection)
  keepStatusCodes(connection)
  takePathsAsText(connection, forms)
  refuseUnofferedParameters(connection)
  if (forms === 'of-devices') takeAnyName(connection)
  reportRefusals(connection, address, { report, userOf })
  endAfterErrors(connection)
  flushInTime(connection)
  cutOffWhenClosed(connection)
  const onMessage = endAfterCommands(connection, clientNetworkOf(address), turns)
  prepareSocket(socket)
  const prepare = (parser: Parser) => {
    holdOnePiece(parser)
    begin(parser, onMessage)
    return strict(replyingTogether(readingDots(outlastingItsEnd(parser, connection)), connection))
  }
  if (connection._parser) prepare(connection._parser)
  const create = connection._createParser.bind(connection)
  connection._createParser = () => prepare(create())
  const ready = connection.connectionReady.bind(connection)
  // smtp-server would call it after 100 ms.
  connection.connectionReady = () => {}
  // Wait one turn of the event loop, in which input sent before the greeting arrives.
  setImmediate(() =>
    setImmediate(() => {
      if (!socket.destroyed) ready()
    }),
  )
}

/** Whether the client waits for a reply of the server. */
export function waitsForUs({ _handlerPending, _dataStream, _parser }: Connection): boolean {
  return _handlerPending || Boolean(_dataStream && _parser && !_parser._dataMode)
}

/**
 * A message that is incomplete when the connection is ended stays incomplete, so its receiver gets an error
 * at once.
 */
function cutOffWhenClosed(connection: Connection) {
  const close = connection.close.bind(connection)
  connection.close = () => {
    close()
    const stream = connection._dataStream
    if (!stream || stream.writableEnded || stream.destroyed) return
    const error = Object.assign(new Error('the connection was ended within a message'), {
      code: 'ECONNECTION',
    })
    stream.destroy(stream.listenerCount('error') > 0 ? error : undefined)
  }
}

/** Hides AUTH from the EHLO reply before TLS. smtp-server would list it, although it refuses logins then. */
function offerLoginOverTlsAlone(connection: Connection) {
  const send = connection.send.bind(connection)
  connection.send = (code, text, context) => {
    const isOpen = Array.isArray(text) && !connection.secure
    send(code, isOpen ? text.filter(line => !line.startsWith('AUTH ')) : text, context)
  }
}

const STATUS_CODE = /^[245]\.\d{1,3}\.\d{1,3} /

/** Adds no enhanced status code to a reply that has one already (RFC 2034). */
function keepStatusCodes(connection: Connection) {
  const send = connection.send.bind(connection)
  connection.send = (code, text, context) =>
    send(code, text, typeof text === 'string' && STATUS_CODE.test(text) ? false : context)
}

/** smtp-server would refuse quoted local parts, unusual dots and underscores in the domain. */
function takePathsAsText(connection: Connection, forms: CommandForms) {
  const parse = connection._parseAddressCommand.bind(connection)
  connection._parseAddressCommand = (name, command) => {
    const found = readPath(String(command), forms)
    const parsed = found && parse(name, `${name}:<>${found.rest}`)
    if (!parsed) return false
    const unoffered = parsed.args
      ? unofferedParameter(name, Object.keys(parsed.args), extensionsOf(connection))
      : undefined
    return { ...parsed, address: found.address, unoffered }
  }
}

/** smtp-server would ignore parameters that it does not know. */
function refuseUnofferedParameters(connection: Connection) {
  const reject = connection._rejectInvalidParams.bind(connection)
  connection._rejectInvalidParams = (parsed, withValue, done) => {
    if (parsed.unoffered === undefined) return reject(parsed, withValue, done)
    const name = printableAscii(parsed.unoffered, PARAMETER_CHARACTERS_MAX)
    connection.send(555, `5.5.4 The parameter ${name} is not offered here`)
    done()
    return true
  }
}

function extensionsOf(connection: Connection): OptionalExtension[] {
  const dsn = connection._server.options.hideDSN ? [] : (['DSN'] as const)
  return connection._isSupported('AUTH') ? [...dsn, 'AUTH'] : [...dsn]
}

/** Devices without a setting for it use names such as `my printer`, which smtp-server would refuse. */
function takeAnyName(connection: Connection) {
  for (const handler of ['handler_EHLO', 'handler_HELO'] as const) {
    const handle = connection[handler].bind(connection)
    connection[handler] = (command, done) => {
      const [verb, ...words] = String(command).trim().split(/\s+/)
      handle(`${verb} ${words.join('_')}`.trim(), done)
    }
  }
}

function reportRefusals(
  connection: Connection,
  address: string,
  { report, userOf }: Pick<SmtpSettings, 'report' | 'userOf'>,
) {
  const send = connection.send.bind(connection)
  const carryOut = connection._onCommand.bind(connection)
  let line: Buffer | string = ''
  connection._onCommand = (command, done) => {
    line = connection._nextHandler ? 'AUTH' : command
    return carryOut(command, done)
  }
  connection.send = (code, text, context) => {
    send(code, text, context)
    if (code < 400) return
    const { session, hostNameAppearsAs: helo } = connection
    const client = { address, helo: helo || undefined, user: userOf?.(session.user) }
    // smtp-server has added the enhanced status code, if the client gets one.
    const reply = String(session.error).slice('421 '.length)
    report.turnedAway(code, reply, client, refusedCommand(String(line), session.envelope))
  }
}

function begin(parser: Parser, onMessage: () => void) {
  const start = parser.startDataMode.bind(parser)
  parser.startDataMode = bytesMax => {
    onMessage()
    const stream = start(bytesMax)
    holdOnePiece(stream)
    return stream
  }
}

/** Batches the replies to pipelined commands into one write (RFC 2920 §3.2). */
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

/** Flushes batched replies early: before a TLS handshake, and when the socket buffer is full. */
function flushInTime(connection: Connection) {
  const send = connection.send.bind(connection)
  connection.send = (code, text, context) => {
    send(code, text, context)
    const socket = connection._socket
    if (code === 220 || socket.writableNeedDrain) while (socket.writableCorked > 0) socket.uncork()
  }
}

/**
 * Replaces the data reader of smtp-server, in which each dot at the beginning of a line costs a turn of the
 * event loop.
 */
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

/** Waits for `drain`, or for `close` if the stream is destroyed. */
function onceEmpty(stream: PassThrough, then: () => void) {
  if (stream.destroyed) return then()
  const go = () => {
    stream.off('drain', go).off('close', go)
    then()
  }
  stream.on('drain', go).on('close', go)
}

/**
 * A client may close its side right behind its last command, and still waits for the replies; some send QUIT
 * with the final dot. The connection is closed when all it sent has been answered.
 */
function outlastingItsEnd(parser: Parser, connection: Connection): Parser {
  parser.once('finish', () => {
    if (parser === connection._parser) connection.close()
  })
  return parser
}

/** Prepares a TCP socket, or a TLS socket after its handshake. */
export function prepareSocket(socket: Socket): void {
  joinSmallReads(socket)
  // Without this, smtp-server writes nothing more on a socket that is not open on both sides.
  socket.allowHalfOpen = true
  Object.defineProperty(socket, 'readyState', {
    get: () => (socket.writable ? 'open' : 'closed'),
    configurable: true,
  })
}

/** Matches HTTP request lines of browsers and proxies (cross-protocol attacks). */
const OF_HTTP = /(?:^|\n)(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE|CONNECT) /i
/** Matches commands whose reply a client has to wait for (RFC 2920 §3.1), followed by further input. */
const IMPATIENT = /(?:^|\n)(?:EHLO|HELO|DATA)\b[^\r\n]*\r\n[\s\S]/i

/**
 * Hands whole lines on, so that each byte of a command is looked at once however small its pieces are, and
 * refuses bare line ends in commands. Within a message, `mail-bytes.ts` detects them.
 */
function strict(parser: Parser): Parser {
  const write = parser._write.bind(parser)
  /** The incomplete line behind what the parser has. */
  const line = new JoinedBytes()
  let endsInReturn = false
  parser._write = (chunk, encoding, next) => {
    if (parser._dataMode || parser.isClosed || chunk.length === 0) return write(chunk, encoding, next)
    if (holdsBareLineEnd(chunk, endsInReturn))
      return next(new Error(faultOf(chunk.toString('latin1')) ?? '5.5.2 Lines end in CR LF'))
    endsInReturn = chunk.at(-1) === CR
    line.add(chunk)
    if (parser._remainder.length + line.length > LINE_BYTES_MAX && !chunk.includes(LF))
      return next(new Error('Command line too long'))
    if (!chunk.includes(LF)) return next()
    const lines = line.take()
    const fault = faultOf(parser._remainder + lines.toString('latin1'))
    return fault === undefined ? write(lines, encoding, next) : next(new Error(fault))
  }
  // A last command without a line end is carried out all the same.
  parser.prependListener('finish', () => {
    parser._remainder += line.take().toString('latin1')
  })
  return parser
}

function faultOf(text: string): string | undefined {
  if (holdsProxyHeader(text)) return '5.7.1 A PROXY header is taken from smtp.trusted_proxies only'
  if (OF_HTTP.test(text)) return '5.5.1 This is not HTTP'
  if (IMPATIENT.test(text)) return '5.5.0 Wait for the reply'
  return undefined
}
