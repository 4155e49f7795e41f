/** One connection to a peer: what is written, the outstanding replies, and the reason of its end. */
import { connect, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { formatReply, replyOf, type SmtpReply } from '../../../protocols/smtp/reply.ts'
import { Deadline } from './deadline.ts'
import { type RawReply, ReplyReader } from './reply-reader.ts'
import type { Ticket } from './tickets.ts'
import { startTls, tlsErrorText, tlsFactsOf } from './tls.ts'
import {
  FINAL_DOT_TIMEOUT_MS,
  type Phase,
  PIPELINED_SILENCE_MS,
  type SessionOptions,
  SLOW_AFTER_MS,
  type SmtpFailure,
  type TlsFacts,
} from './types.ts'

const CLOSING_CODES = new Set(['ECONNRESET', 'EPIPE'])
/** Read buffer shared by all plain connections. What has to be kept is copied. */
const READ_BUFFER = Buffer.allocUnsafeSlow(16_384)

export class Wire {
  readonly #options: SessionOptions
  readonly #deadline: Deadline
  readonly #reader = new ReplyReader()
  #socket: Socket
  /** Replies that were received and not yet returned by `reply()`. */
  #replies: RawReply[] = []
  /** Number of outstanding replies. */
  #owedCount = 1
  #established = false
  /** Local IP address; null before the connection is established. */
  localAddress: string | null = null
  /** Whether a TLS handshake is in progress. All errors count as TLS errors then. */
  #securing = false
  /** Whether data after the next reply is not plain text of the peer. */
  #lastReply = false
  #flushed = true
  #end: Omit<SmtpFailure, 'phase'> | undefined
  #wake: (() => void) | undefined
  #ticket: Ticket | undefined
  #waitsIn: Phase = 'connect'
  #waitsSince = 0
  /** Whether the whole time limit applies to the reply that is waited for. */
  #waitsOn = false
  /** See `SLOW_AFTER_MS`. Set anew for each transaction. */
  mayWaitOn: (() => boolean) | undefined

  /** Whether the replies that are waited for are to commands that were sent together with MAIL. */
  isPipelined = false

  /** Starts to connect. The greeting is outstanding from the start. */
  constructor(options: SessionOptions) {
    this.#options = options
    this.#deadline = new Deadline(options.clock, () => this.#expire())
    this.mayWaitOn = options.mayWaitOn
    this.#socket = connect({
      host: options.address,
      port: options.port,
      noDelay: true,
      onread: { buffer: READ_BUFFER, callback: this.#onRead },
      ...(options.sourceAddress === undefined ? {} : { localAddress: options.sourceAddress }),
    })
    this.#listen('connect')
  }

  get alive(): boolean {
    return this.#end === undefined
  }

  /** Whether a reply was received that `reply()` has not returned yet. */
  get hasReply(): boolean {
    return this.#replies.length > 0
  }

  async connected(): Promise<SmtpFailure | undefined> {
    while (!this.#established && !this.#end) await this.#event('connect')
    return this.#end && this.failure('connect')
  }

  /**
   * Writes bytes, and expects `replyCount` replies to them. Does nothing after the end of the connection.
   * @param shown text for the log
   */
  write(bytes: string | Buffer, replyCount: number, shown = bytes) {
    if (this.#end) return
    this.#owedCount += replyCount
    this.#note('C', shown)
    this.#flushed = this.#socket.write(bytes)
  }

  /** Sends everything that `write` writes in as few segments as possible. */
  together(write: () => void) {
    this.#socket.cork()
    write()
    this.#socket.uncork()
  }

  /** @returns the next outstanding reply, or why there is none */
  async reply(phase: Phase): Promise<RawReply | SmtpFailure> {
    while (this.#replies.length === 0 && !this.#end) await this.#event(phase)
    return this.#replies.shift() ?? this.failure(phase)
  }

  /** Resolves when written data was flushed, a reply was received, or the connection ended. */
  async writable(phase: Phase): Promise<void> {
    while (!this.#flushed && this.#replies.length === 0 && !this.#end) await this.#event(phase)
  }

  /** Drops plain text that arrives after the next reply, because TLS follows it (RFC 3207 §4.2). */
  expectTls() {
    this.#lastReply = true
  }

  /** Starts TLS on the connection. */
  async secure(): Promise<SmtpFailure | undefined> {
    if (this.#end) return this.failure('tls')
    this.#ignore()
    this.#established = false
    this.#securing = true
    this.#lastReply = false
    this.#ticket = this.#options.tls.tickets?.take(this.#options.mxHost)
    this.#socket = startTls(this.#socket, this.#options, this.#ticket)
    this.#listen('secureConnect')
    while (!this.#established && !this.#end) await this.#event('tls')
    this.#securing = false
    if (!this.#end) this.#judgePeer()
    return this.#end && this.failure('tls')
  }

  tlsFacts(): TlsFacts {
    const facts = tlsFactsOf(this.#socket as TLSSocket, this.#ticket)
    return this.#options.tls.checkPeer ? { ...facts, authorized: true, unauthorizedReason: null } : facts
  }

  #judgePeer() {
    const fault = this.#options.tls.checkPeer?.(this.#socket as TLSSocket)
    if (fault !== undefined) this.#finish('tls', fault, null, 'UNTRUSTED_PEER')
  }

  /** Closes the connection at once. Pending and later calls return this failure. */
  close(message: string, reply: SmtpReply | null = null) {
    this.#finish('closed', message, reply)
  }

  /** Closes the connection because the peer violates the protocol. */
  breach(message: string) {
    this.#finish('protocol', message)
  }

  /** The reason of the end, for the phase that noticed it. */
  failure(phase: Phase): SmtpFailure {
    return { phase, ...this.#end! }
  }

  #timeoutMs(phase: Phase): number {
    if (phase === 'final-dot') return FINAL_DOT_TIMEOUT_MS
    const wholeMs = this.#options.timeouts[phase]
    if (this.isPipelined && (phase === 'rcpt' || phase === 'data'))
      return Math.min(wholeMs, PIPELINED_SILENCE_MS)
    return this.#waitsOn ? wholeMs : Math.min(wholeMs, SLOW_AFTER_MS[phase] ?? wholeMs)
  }

  #expire() {
    const waitedMs = this.#timeoutMs(this.#waitsIn)
    const isSlow = !this.#waitsOn && SLOW_AFTER_MS[this.#waitsIn as keyof typeof SLOW_AFTER_MS] === waitedMs
    if (isSlow) this.#waitsOn = this.mayWaitOn?.() ?? true
    const leftMs = this.#waitsSince + this.#timeoutMs(this.#waitsIn) - this.#options.clock.monotonic()
    if (leftMs > 0) this.#deadline.set(leftMs)
    else this.#finish('timeout', `timed out after ${waitedMs / 1000} s`)
  }

  #event(phase: Phase): Promise<void> {
    this.#waitsIn = phase
    this.#waitsOn = false
    this.#waitsSince = this.#options.clock.monotonic()
    this.#deadline.set(this.#timeoutMs(phase))
    return new Promise(resolve => {
      this.#wake = resolve
    })
  }

  #awaken() {
    const wake = this.#wake
    if (!wake) return
    this.#wake = undefined
    this.#deadline.clear()
    wake()
  }

  #listen(established: 'connect' | 'secureConnect') {
    this.#socket.once(established, this.#onEstablished)
    this.#socket.on('data', this.#onData)
    this.#socket.on('drain', this.#onDrain)
    this.#socket.on('error', this.#onError)
    this.#socket.on('end', this.#onClose)
    this.#socket.on('close', this.#onClose)
  }

  /** Detaches the plain socket, since the TLS socket on top of it reports its events, too. */
  #ignore() {
    this.#socket.off('data', this.#onData)
    this.#socket.off('drain', this.#onDrain)
    this.#socket.off('end', this.#onClose)
    this.#socket.off('close', this.#onClose)
  }

  readonly #onEstablished = () => {
    this.#established = true
    this.localAddress ??= this.#socket.localAddress ?? null
    this.#note('-', this.#securing ? 'secured' : 'connected')
    this.#awaken()
  }

  readonly #onDrain = () => {
    this.#flushed = true
    this.#awaken()
  }

  readonly #onError = (error: NodeJS.ErrnoException) => {
    const isTls = this.#securing || /^(ERR_SSL|ERR_TLS|EPROTO)/.test(error.code ?? '')
    const isClose = this.#established && CLOSING_CODES.has(error.code ?? '')
    const text = isTls ? tlsErrorText(error) : error.message
    this.#finish(isTls ? 'tls' : isClose ? 'closed' : 'network', text, null, error.code)
  }

  readonly #onClose = () => this.#finish(this.#securing ? 'tls' : 'closed', 'the peer closed the connection')

  readonly #onRead = (byteCount: number): boolean => {
    this.#onData(READ_BUFFER.subarray(0, byteCount))
    return true
  }

  readonly #onData = (chunk: Buffer) => {
    const fault = this.#reader.feed(chunk, this.#onReply)
    if (fault !== undefined) this.breach(`the peer sent ${fault}`)
  }

  readonly #onReply = (raw: RawReply): boolean => {
    if (this.#options.log) this.#note('S', formatReply(replyOf(raw.code, raw.lines)))
    if (this.#owedCount === 0) {
      const reply = replyOf(raw.code, raw.lines)
      const text = `the peer sent ${JSON.stringify(formatReply(reply))} unasked`
      this.#finish(raw.code === 421 ? 'closed' : 'protocol', text, reply)
      return false
    }
    this.#owedCount--
    this.#replies.push(raw)
    this.#awaken()
    return !this.#lastReply
  }

  #finish(kind: SmtpFailure['kind'], message: string, reply: SmtpReply | null = null, code?: string) {
    if (this.#end) return
    this.#end = { kind, reply, message, ...(code === undefined ? {} : { code }) }
    this.#note('-', message)
    this.#deadline.cancel()
    this.#socket.end() // sends close_notify, so that a TLS peer can tell this end from an attack
    this.#socket.destroy()
    this.#awaken()
  }

  #note(by: 'C' | 'S' | '-', what: string | Buffer) {
    const { log } = this.#options
    if (!log) return
    if (typeof what !== 'string') return log(`${by}: (${what.length} bytes of message)`)
    for (const line of what.trimEnd().split('\r\n')) log(`${by}: ${line}`)
  }
}
