/**
 * What an SMTP client session takes and gives: options, phases, results and failures, as the rest of
 * `deliver` sees them.
 */
import type { ConnectionOptions, SecureContext, TLSSocket } from 'node:tls'
import type { Clock } from '../../../lib/clock.ts'
import type { SmtpReply } from '../../../protocols/smtp/reply.ts'
import type { SessionLimits } from './limits.ts'
import type { RawReply } from './reply-reader.ts'
import type { Tickets } from './tickets.ts'

/** The step of a session that was under way: what was waited for, or being written. */
export type Phase =
  | 'connect'
  | 'banner'
  | 'ehlo'
  | 'starttls'
  | 'tls'
  | 'auth'
  | 'mail'
  | 'rcpt'
  | 'data'
  | 'body'
  | 'final-dot'
  | 'rset'
  | 'quit'

/**
 * How long each phase may last, ms (RFC 5321 §4.5.3.2). `rcpt` counts for each recipient, `body` for each
 * block written. The reply to the final dot has no entry: see {@link FINAL_DOT_TIMEOUT_MS}.
 */
type PhaseTimeouts = Readonly<Record<Exclude<Phase, 'final-dot'>, number>>

export const DEFAULT_TIMEOUTS: PhaseTimeouts = {
  connect: 20_000,
  banner: 60_000,
  ehlo: 60_000,
  starttls: 30_000,
  tls: 30_000,
  auth: 60_000,
  mail: 120_000,
  rcpt: 120_000,
  data: 120_000,
  body: 180_000,
  rset: 10_000,
  quit: 5_000,
}

/** Not an option: a client that gives up early here sends its message twice (RFC 5321 §4.5.3.2.6). */
export const FINAL_DOT_TIMEOUT_MS = 600_000

/**
 * `opportunistic` encrypts where it can and falls back to plain text; `required` fails instead (RFC 3207).
 * `implicit` begins with the handshake (RFC 8314 §3.3).
 */
type TlsMode = 'opportunistic' | 'none' | 'required' | 'implicit'

/** Who we are to a relay. */
export interface Login {
  user: string
  password: string
}

export interface SessionOptions {
  /** The IP address to connect to. */
  address: string
  port: number
  /** The MX host's name: for SNI, certificates and logs. */
  mxHost: string
  /** Our own name, for EHLO. */
  localName: string
  /** The local IP address to connect from; the system's choice when absent. */
  sourceAddress?: string
  tls: TlsMode
  /** Share one over all sessions of a policy: making one costs more than a handshake. */
  secureContext?: SecureContext
  /** Offers less: a handshake that breaks is tried once more with it, over a new connection. */
  fallbackContext?: SecureContext
  /** Whether a certificate that does not verify ends the handshake. Default false. */
  rejectUnauthorized?: boolean
  /** Replaces the check of the certificate's names, for stricter policies. */
  checkServerIdentity?: NonNullable<ConnectionOptions['checkServerIdentity']>
  /** Judges the peer after the handshake, in place of the authorities; says what is wrong with it. */
  checkPeer?: (socket: TLSSocket) => string | undefined
  /** Sent over TLS alone, after it; without TLS the session fails. */
  login?: Login
  /**
   * Whether commands may be sent before the former ones are answered where the peer offers it. Default true.
   */
  pipelining?: boolean
  /** Lets later sessions with a host resume the TLS session of former ones. */
  tickets?: Tickets
  timeouts: PhaseTimeouts
  clock: Clock
  /**
   * Receives the dialogue line by line, `C: …` and `S: …`; message content as its size only, logins not at
   * all.
   */
  log?: (line: string) => void
}

/** Why a session or transaction ended without a verdict of the peer. Always transient. */
export interface SmtpFailure {
  phase: Phase
  /**
   * `reply`: the peer sent us away (any refusal before MAIL; 421 later). `timeout`: the phase took too long.
   * `closed`: the peer, or we, closed the connection. `network`: the system reported an error. `protocol`:
   * the peer does not speak SMTP properly. `tls`: no secured connection came about.
   */
  kind: 'reply' | 'timeout' | 'closed' | 'network' | 'protocol' | 'tls'
  /** What the peer said, where it said anything. */
  reply: SmtpReply | null
  message: string
  /** The system's or TLS library's error code, such as `ECONNREFUSED`. */
  code?: string
}

/** A connection that never became a session. */
export interface SessionFailure {
  failure: SmtpFailure
  /** Our end of it; null where there was none. */
  localAddress: string | null
  /** Why the TLS attempt before this plain one failed, or null. */
  tlsFallback: SmtpFailure | null
  timings: PhaseTimings
  replies: PhaseReplies
}

/** Ms spent in each phase that was entered. */
export type PhaseTimings = Partial<Record<Phase, number>>
/** The last reply in each phase that had one. */
export type PhaseReplies = Partial<Record<Phase, RawReply>>

export interface TlsFacts {
  /** As in `TLSv1.3`. */
  protocol: string
  cipher: string
  /** Whether chain and name verified, asked for or not. */
  authorized: boolean
  /** Why not, such as `CERT_HAS_EXPIRED`; null when it did. */
  unauthorizedReason: string | null
}

export interface SmtpSessionFacts {
  /** EHLO keywords in capitals with their parameters; empty after HELO. */
  extensions: ReadonlyMap<string, string>
  limits: SessionLimits
  tls: TlsFacts | null
  /** Why an opportunistic session is not encrypted although STARTTLS was offered; null otherwise. */
  tlsFallback: SmtpFailure | null
  /** Why the handshake was made with `fallbackContext`, or null. */
  brokenHandshake: SmtpFailure | null
  banner: string
  /** Our IP address. */
  localAddress: string | null
  /** IP address and port of the peer. */
  peerAddress: string
  peerPort: number
  /** Transactions that reached the peer so far. */
  transactionCount: number
  /** Epoch ms at which the session was ready for its first transaction. */
  openedAt: number
  /** How long opening took. */
  timings: PhaseTimings
  replies: PhaseReplies
}

export interface Transaction {
  /** The return path without angle brackets; empty for the null sender. */
  mailFrom: string
  /** At least one, without angle brackets. */
  recipients: readonly string[]
  /** The message in pieces, all lines ended by CRLF, dots not stuffed. A missing last CRLF is added. */
  message: readonly Buffer[]
  /** Bytes of the message, declared with SIZE= (RFC 1870). */
  size: number
  /** Whether an address or header needs RFC 6531. */
  smtpUtf8: boolean
  /** Whether every host from the peer on must pass it on over TLS (RFC 8689). */
  requireTls?: boolean
  /** Under what name later reports shall speak of it (RFC 3461 §4.4); asked where the peer offers DSN. */
  envelopeId?: () => string
}

/** What became of one recipient. */
export type RecipientResult =
  | { kind: 'accepted'; phase: 'final-dot'; reply: SmtpReply }
  | {
      kind: 'refused'
      phase: 'mail' | 'rcpt' | 'data' | 'body' | 'final-dot'
      reply: SmtpReply
      /**
       * True where the reply is our own: what the peer announced rules the message out, and nothing was sent.
       */
      local: boolean
    }
  | { kind: 'failed'; phase: Phase; failure: SmtpFailure }

export interface TransactionResult {
  /** In the order of the transaction's recipients. */
  recipients: RecipientResult[]
  /** Whether the session can take another transaction. */
  reusable: boolean
  timings: PhaseTimings
  replies: PhaseReplies
}

export interface SmtpSession {
  readonly facts: SmtpSessionFacts
  /** False from the moment the connection cannot take another transaction. */
  readonly alive: boolean
  /**
   * Sends one message. May be called before the former result is in: the next envelope then leaves together
   * with the former message (RFC 2920 §3.1), results come in order.
   * @param onFollowable called when it would save a round trip to send another now; never where the peer does
   * not pipeline, or takes long to answer for a message
   * @throws when the transaction is malformed: bare CR or LF, an address that is no address. Nothing is sent.
   */
  send(transaction: Transaction, onFollowable?: () => void): Promise<TransactionResult>
  /** Takes leave after the transactions under way; resolves when the connection is closed. Never fails. */
  quit(): Promise<void>
  /** Closes the connection at once. What is under way fails with `closed`. */
  destroy(): void
}
