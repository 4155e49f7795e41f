/**
 * SMTP server of the mail listeners, based on smtp-server (`smtp-connection.ts` describes the changes to its
 * connections). Every connection is counted from the TCP accept on, TLS handshakes and connections have a
 * time limit, and when all connection slots are taken, a new connection evicts one that makes no progress.
 */
import { constants } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { MAIL_GROUPS } from '../../lib/certificates.ts'
import type { Clock, Timer } from '../../lib/clock.ts'
import { FairTurns } from '../../lib/fair-turns.ts'
import type { Networks } from '../../lib/networks.ts'
import { type ProxyHeader, takeProxyHeader } from '../../lib/proxy-header.ts'
import { netblockOf } from '../../protocols/dns/netblock.ts'
import { type ConnectionLimit, type ConnectionTerms, createConnectionLimit } from './connections.ts'
import { MinDataRate } from './min-data-rate.ts'
import { connectionToEvict, type OpenConnection } from './open-connection.ts'
import { adapt, type Connection, prepareSocket, type SmtpSettings } from './smtp-connection.ts'

interface StrictOptions extends ConnectionTerms, SmtpSettings {
  clock: Clock
  /** Maximum duration of a connection, in ms. */
  connectionMsMax: number
  /** Maximum number of open connections, handshakes included. */
  connectionsMax?: number | undefined
  /** Proxies whose connections must begin with a PROXY header. */
  trustedProxies?: Networks | undefined
  /** Whether the higher minimum data rate applies. It also applies while half of the connections are open. */
  isBusy?(): boolean
}

const PROXY_HEADER_TIMEOUT_MS = 5_000
/** Timeout of a TLS handshake. */
const HANDSHAKE_TIMEOUT_MS = 30_000
/** Timeout of a TLS handshake while more than `BUSY_SHARE` of the connections are open. */
const HANDSHAKE_BUSY_TIMEOUT_MS = 10_000
const HANDSHAKE_CHECK_INTERVAL_MS = 5_000
const BUSY_SHARE = 0.8
const HIGH_RATE_SHARE = 0.5
/** After the last reply, input is read and discarded for this time, so that the client can read the reply. */
const LINGER_MS = 2_000
/** Share of all connections that may linger after being closed; further ones are destroyed at once. */
const LINGERING_SHARE = 0.25
/** Interval at which the data rates of messages are checked. */
const RATE_CHECK_INTERVAL_MS = 2_000
const ALL_TAKEN = '4.3.2 All connections are in use, try again in a moment'
const NO_HEADER_YET = '4.4.2 The proxy has not sent its PROXY header in time'
const NO_TLS =
  '4.7.0 The connection does not begin with TLS, or with a PROXY header and is not from smtp.trusted_proxies'
const EVICTED = '4.3.2 All connections are in use, and this one made no progress; try again later'

/** Settings common to all mail listeners. */
const EVERYWHERE: SMTPServerOptions = {
  banner: 'ready',
  minVersion: 'TLSv1.2',
  ecdhCurve: MAIL_GROUPS,
  // repeated renegotiation costs the server more than the client
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  closeTimeout: 3_000,
  disableReverseLookup: true,
  hideDSN: true,
  hideREQUIRETLS: true,
  logger: false,
}

export class StrictSmtpServer extends SMTPServer {
  readonly #options: StrictOptions
  readonly #clock: Clock
  readonly #limit: ConnectionLimit
  readonly #connectionsMax: number
  /** Open connections by id, oldest first, without those the server has closed. */
  readonly #open = new Map<string, OpenConnection>()
  readonly #turns = new FairTurns()
  /** Sockets whose clients may still read the last reply, with the time at which they are destroyed. */
  readonly #lingering = new Map<Socket, Timer>()
  #made = 0
  /** The connection that smtp-server is being started for. */
  #starting: OpenConnection | undefined
  #rateTimer: Timer | undefined

  constructor(settings: SMTPServerOptions, options: StrictOptions) {
    super({
      ...EVERYWHERE,
      ...settings,
      onSecure: (socket, session, answer) => {
        prepareSocket(socket)
        this.#endHandshake(this.#open.get(session.id))
        answer()
      },
    })
    const { clock, connectionsMax = 500 } = options
    this.#options = options
    this.#clock = clock
    this.#connectionsMax = connectionsMax
    this.#limit = createConnectionLimit(options, clock)
    // smtp-server itself counts connections only after their TLS handshake.
    this.server.removeAllListeners('connection')
    this.server.on('connection', socket => this.#accept(socket))
    const add = this.connections.add.bind(this.connections)
    this.connections.add = one => {
      if (this.#starting) this.#starting.connection = one as unknown as Connection
      return add(one)
    }
  }

  /** Ends a connection by its session id with a 421 reply. */
  end(id: string, text: string): void {
    this.#open.get(id)?.connection?.send(421, text)
  }

  /**
   * Starts measuring the data rate of a message. `finish` must be called when the message has ended or was
   * aborted.
   *
   * @param id session id
   */
  receive(id: string, stream: Pick<Readable, 'isPaused'>): { transfer: MinDataRate; finish(): void } {
    const now = this.#clock.monotonic()
    const open = this.#open.get(id)
    const transfer = new MinDataRate(now, {
      netblock: open?.netblock ?? '',
      isHeldUp: () => stream.isPaused(),
      stop: text => this.end(id, text),
    })
    if (open) {
      open.transfer = transfer
      open.progressAt = now
      this.#rateTimer ??= this.#clock.timer(RATE_CHECK_INTERVAL_MS, () => this.#checkRates())
    }
    const finish = () => {
      if (open?.transfer !== transfer) return
      open.transfer = undefined
      open.progressAt = this.#clock.monotonic()
    }
    return { transfer, finish }
  }

  override close(callback?: () => void): void {
    super.close(() => {
      this.#rateTimer?.cancel()
      for (const [socket, timer] of this.#lingering) {
        timer.cancel()
        socket.destroy()
      }
      callback?.()
    })
  }

  #accept(socket: Socket): void {
    const address = socket.remoteAddress
    if (address === undefined) {
      socket.destroy() // the client has already disconnected
      return
    }
    const isOfProxy = this.#options.trustedProxies?.contains(address) === true
    const refusal = isOfProxy ? undefined : this.#limit.enter(address)
    if (refusal !== undefined) return void this.#refuse(socket, refusal, address)
    if (this.#open.size >= this.#connectionsMax && !this.#evictOne()) {
      if (!isOfProxy) this.#limit.leave(address)
      return void this.#refuse(socket, ALL_TAKEN, address)
    }
    const open = this.#add(socket, address, !isOfProxy)
    if (isOfProxy) this.#awaitProxyHeader(open)
    else this.#begin(open)
  }

  #awaitProxyHeader(open: OpenConnection): void {
    const { socket, address } = open
    const refuse = (text: string) => {
      this.#open.delete(open.id)
      this.#stopTimers(open)
      this.#refuse(socket, text, open.address)
    }
    this._pendingSockets.set(socket, socket) // destroyed when the server closes
    socket.once('close', () => this._pendingSockets.delete(socket))
    open.handshake = this.#clock.timer(PROXY_HEADER_TIMEOUT_MS, () => refuse(NO_HEADER_YET))
    takeProxyHeader(socket, header => {
      if (!this.#open.has(open.id)) return
      this.#endHandshake(open)
      this._pendingSockets.delete(socket)
      if (header.kind !== 'valid') return refuse(refusalOf(header))
      open.address = header.client ?? address
      open.netblock = netblockOf(open.address)
      const refusal = this.#limit.enter(open.address)
      if (refusal !== undefined) return refuse(refusal)
      open.isCounted = true
      this.#begin(open)
    })
  }

  #begin(open: OpenConnection): void {
    if (this.options.secure) this.#secure(open)
    else this.#start(open, open.socket)
  }

  #add(socket: Socket, address: string, isCounted: boolean): OpenConnection {
    const open: OpenConnection = {
      id: (this.#made++).toString(36),
      address,
      netblock: netblockOf(address),
      isCounted,
      socket,
      top: socket,
      connection: undefined,
      handshake: undefined,
      longest: undefined,
      transfer: undefined,
      progressAt: this.#clock.monotonic(),
    }
    open.longest = this.#clock.timer(this.#options.connectionMsMax, () => {
      if (open.connection) open.connection.send(421, '4.4.2 This connection has lasted too long')
      else this.#drop(open)
    })
    this.#open.set(open.id, open)
    socket.once('close', () => this.#gone(open))
    return open
  }

  /** Starts implicit TLS. */
  #secure(open: OpenConnection): void {
    const { socket } = open
    this._pendingSockets.set(socket, socket) // destroyed when the server closes
    this._upgrade(socket, (error, secure) => {
      this._pendingSockets.delete(socket)
      this.#endHandshake(open)
      if (error) {
        socket.destroy()
        if (error.code === 'ERR_SSL_WRONG_VERSION_NUMBER') this.#options.report.turnedAway(421, NO_TLS, open)
        this.emit('error', error)
      } else if (secure && this.#open.has(open.id)) this.#start(open, secure)
      else secure?.destroy()
    })
    this.#beginHandshake(open, this._pendingSockets.get(socket) ?? socket)
  }

  #start(open: OpenConnection, socket: Socket): void {
    this.#starting = open
    this.connect(socket, { id: open.id, remoteAddress: open.address })
    this.#starting = undefined
    const { connection } = open
    if (!connection) return
    adapt(connection, socket, open.address, this.#options, this.#turns)
    const close = connection.close.bind(connection)
    connection.close = () => {
      close()
      this.#leave(open)
    }
    const upgrade = connection.upgrade.bind(connection)
    connection.upgrade = (...callbacks) => {
      socket.allowHalfOpen = false // a client that disconnects during a handshake awaits no reply
      const arm = connection._armTimeout.bind(connection)
      connection._armTimeout = top => {
        if (top) this.#beginHandshake(open, top)
        connection._armTimeout = arm
        arm(top)
      }
      upgrade(...callbacks)
      socket.once('close', () => this.#gone(open)) // the former listener was removed
    }
  }

  #beginHandshake(open: OpenConnection, top: Socket): void {
    open.top = top
    this.#watchHandshake(open, 0)
  }

  #watchHandshake(open: OpenConnection, waitedMs: number): void {
    open.handshake = this.#clock.timer(HANDSHAKE_CHECK_INTERVAL_MS, () => {
      const lasted = waitedMs + HANDSHAKE_CHECK_INTERVAL_MS
      const isBusy = this.#open.size > this.#connectionsMax * BUSY_SHARE
      if (lasted < (isBusy ? HANDSHAKE_BUSY_TIMEOUT_MS : HANDSHAKE_TIMEOUT_MS))
        this.#watchHandshake(open, lasted)
      else {
        this.#options.report.turnedAway(421, '4.4.2 The TLS handshake took too long', open)
        this.#drop(open)
      }
    })
  }

  #endHandshake(open: OpenConnection | undefined): void {
    open?.handshake?.cancel()
    if (open) open.handshake = undefined
  }

  /** Refuses a connection with a 421 reply, or without a reply on an implicit-TLS listener. */
  #refuse(socket: Socket, text: string, address: string): void {
    this.#options.report.turnedAway(421, text, { address })
    socket.on('error', () => {}) // errors of a refused connection do not matter
    if (this.options.secure) return void socket.destroy()
    if (!this.#linger(socket)) return
    socket.end(`421 ${text}\r\n`)
    socket.resume()
  }

  /** The server has closed its side: the slot is free, and the client gets `LINGER_MS` to read the reply. */
  #leave(open: OpenConnection): void {
    if (!this.#open.delete(open.id)) return
    this.#stopTimers(open)
    if (!open.socket.destroyed) this.#linger(open.top)
  }

  /** Destroys the socket after `LINGER_MS`, or at once if too many linger. @returns whether it lingers */
  #linger(socket: Socket): boolean {
    if (this.#lingering.size >= this.#connectionsMax * LINGERING_SHARE) {
      socket.destroy()
      return false
    }
    const timer = this.#clock.timer(LINGER_MS, () => socket.destroy())
    this.#lingering.set(socket, timer)
    socket.once('close', () => {
      this.#lingering.delete(socket)
      timer.cancel()
    })
    return true
  }

  /** Destroys a connection without a reply. */
  #drop(open: OpenConnection): void {
    this.#open.delete(open.id)
    this.#stopTimers(open)
    open.top.destroy()
  }

  /** The socket is closed. */
  #gone(open: OpenConnection): void {
    this.#open.delete(open.id)
    this.#stopTimers(open)
    if (open.isCounted) this.#limit.leave(open.address)
  }

  #stopTimers(open: OpenConnection): void {
    open.longest?.cancel()
    this.#endHandshake(open)
  }

  /** @returns false when no connection may be evicted */
  #evictOne(): boolean {
    const chosen = connectionToEvict([...this.#open.values()], this.#clock.monotonic(), this.#connectionsMax)
    if (!chosen) return false
    if (chosen.connection && !chosen.handshake) chosen.connection.send(421, EVICTED)
    else {
      this.#options.report.turnedAway(421, EVICTED, chosen)
      this.#drop(chosen)
    }
    return true
  }

  /** One timer serves all messages being received; it stops when there are none. */
  #checkRates(): void {
    const isBusy =
      this.#open.size > this.#connectionsMax * HIGH_RATE_SHARE || this.#options.isBusy?.() === true
    const now = this.#clock.monotonic()
    let isNeeded = false
    for (const { transfer } of [...this.#open.values()]) {
      if (!transfer) continue
      isNeeded = true
      if (transfer.isTooSlow(now, isBusy)) transfer.stop('4.4.2 The message comes in too slowly')
    }
    this.#rateTimer = isNeeded
      ? this.#clock.timer(RATE_CHECK_INTERVAL_MS, () => this.#checkRates())
      : undefined
  }
}

/** The proxy is set up wrongly: without its header, the server would greet a client that it does not know. */
function refusalOf(header: Exclude<ProxyHeader, { kind: 'valid' }>): string {
  return header.kind === 'absent'
    ? '4.3.5 A connection from smtp.trusted_proxies begins with a PROXY header'
    : `4.3.5 The PROXY header is refused: ${header.reason}`
}
