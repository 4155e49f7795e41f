/**
 * Types of the SMTP client: session options, phases, results and failures, as the rest of `delivery` uses
 * them.
 */
import type { ConnectionOptions, SecureContext, TLSSocket } from 'node:tls'
import type { Clock } from '../../../lib/clock.ts'
import type { SmtpReply } from '../../../protocols/smtp/reply.ts'
import type { SessionLimits } from './limits.ts'
import type { RawReply } from './reply-reader.ts'
import type { Tickets } from './tickets.ts'

/** Phase of a session: the reply that was waited for, or what was being written. */
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
 * Time limit of each phase in ms (RFC 5321 §4.5.3.2). `rcpt` applies to each recipient, `body` to each block.
 * The reply to the final dot has no entry: see {@link FINAL_DOT_TIMEOUT_MS}.
 */
type PhaseTimeouts = Readonly<Record<Exclude<Phase, 'final-dot'>, number>>

export const DEFAULT_TIMEOUTS: PhaseTimeouts = {
  connect: 20_000,
  banner: 300_000,
  ehlo: 300_000,
  starttls: 30_000,
  tls: 30_000,
  auth: 60_000,
  mail: 300_000,
  rcpt: 300_000,
  data: 120_000,
  body: 180_000,
  rset: 10_000,
  quit: 5_000,
}

/**
 * After this time in ms, `mayWaitOn` decides whether the rest of the time limit is waited for, since many
 * silent hosts would otherwise hold the slots that others need (decision 0112).
 */
export const SLOW_AFTER_MS: Partial<PhaseTimeouts> = {
  banner: 60_000,
  ehlo: 60_000,
  mail: 120_000,
  rcpt: 120_000,
}

/**
 * Limit in ms for the replies behind the first one to commands that were sent together. Some hosts announce
 * PIPELINING and read one command of each packet; the message is then sent again without it.
 */
export const PIPELINED_SILENCE_MS = 30_000

/**
 * This limit is not an option, because a client that gives up early here sends its message twice
 * (RFC 5321 §4.5.3.2.6).
 */
export const FINAL_DOT_TIMEOUT_MS = 600_000

/**
 * `opportunistic` uses TLS if possible and falls back to plain text; `required` fails instead (RFC 3207).
 * `implicit` starts with the handshake (RFC 8314 §3.3).
 */
type TlsMode = 'opportunistic' | 'none' | 'required' | 'implicit'

/** Credentials for a relay. */
export interface Login {
  user: string
  password: string
}

/** How a session uses TLS. */
export interface TlsOptions {
  mode: TlsMode
  /** Name for SNI if it differs from `mxHost`. */
  serverName?: string
  /** Shared by all sessions of a policy, because creating one costs more than a handshake. */
  secureContext?: SecureContext
  /** Offers fewer TLS options. A failed handshake is repeated with it over a new connection. */
  fallbackContext?: SecureContext
  /** Whether a certificate that cannot be verified ends the handshake. Default false. */
  rejectUnauthorized?: boolean
  /** Replaces the check of the names in the certificate, for stricter policies. */
  checkServerIdentity?: NonNullable<ConnectionOptions['checkServerIdentity']>
  /**
   * Replaces the verification by authorities. Called after the handshake; returns what is wrong with the
   * peer.
   */
  checkPeer?: (socket: TLSSocket) => string | undefined
  /** Enables the resumption of TLS sessions. */
  tickets?: Tickets
}

export interface SessionOptions {
  /** IP address to connect to. */
  address: string
  port: number
  /** Name of the MX host, for SNI, certificates and logs. */
  mxHost: string
  /** Host name for EHLO. */
  localName: string
  /** Source IP address; chosen by the operating system when absent. */
  sourceAddress?: string
  tls: TlsOptions
  /** Sent after the handshake. Without TLS the session fails. */
  login?: Login
  /**
   * Whether commands may be sent before previous ones are answered, if the peer offers PIPELINING. Default
   * true.
   */
  pipelining?: boolean
  timeouts: PhaseTimeouts
  /** Asked when the peer is slow to answer while the session is opened. Without it, the answer is yes. */
  mayWaitOn?: () => boolean
  clock: Clock
  /**
   * Receives the dialogue line by line, as `C: …` and `S: …`. Of messages it receives the size only, of
   * logins nothing.
   */
  log?: (line: string) => void
}

/** Why a session or transaction ended without a verdict of the peer. Always transient. */
export interface SmtpFailure {
  phase: Phase
  /**
   * `reply`: the peer refused the session (any refusal before MAIL; 421 later). `timeout`: the phase took too
   * long. `closed`: either side closed the connection. `network`: the operating system reported an error.
   * `protocol`: the peer violated SMTP. `tls`: TLS could not be established.
   */
  kind: 'reply' | 'timeout' | 'closed' | 'network' | 'protocol' | 'tls'
  /** The reply of the peer, if there is one. */
  reply: SmtpReply | null
  message: string
  /** Error code of the operating system or TLS library, such as `ECONNREFUSED`. */
  code?: string
}

/** A connection that did not become a session. */
export interface SessionFailure {
  failure: SmtpFailure
  /** Local IP address; null without a connection. */
  localAddress: string | null
  /** Why TLS failed before this connection in plain text; null otherwise. */
  tlsFallback: SmtpFailure | null
  timings: PhaseTimings
  replies: PhaseReplies
}

/** Duration of each phase that was entered, in ms. */
export type PhaseTimings = Partial<Record<Phase, number>>
/** The last reply of each phase that had one. */
export type PhaseReplies = Partial<Record<Phase, RawReply>>

export interface TlsFacts {
  /** TLS version such as `TLSv1.3`. */
  protocol: string
  cipher: string
  /** Whether chain and name of the certificate were verified, even if that was not required. */
  authorized: boolean
  /** Why the certificate was not verified, such as `CERT_HAS_EXPIRED`; null when it was. */
  unauthorizedReason: string | null
}

export interface SmtpSessionFacts {
  /** EHLO keywords in upper case with their parameters; empty after HELO. */
  extensions: ReadonlyMap<string, string>
  limits: SessionLimits
  tls: TlsFacts | null
  /** Why an opportunistic session is in plain text although STARTTLS was offered; null otherwise. */
  tlsFallback: SmtpFailure | null
  /** Why the handshake was made with `fallbackContext`; null otherwise. */
  brokenHandshake: SmtpFailure | null
  banner: string
  /** Local IP address. */
  localAddress: string | null
  /** IP address and port of the peer. */
  peerAddress: string
  peerPort: number
  /** Number of transactions that have reached the peer. */
  transactionCount: number
  /** Time at which the session was ready for its first transaction, in ms since the epoch. */
  openedAt: number
  /** Duration of each phase of opening the session, in ms. */
  timings: PhaseTimings
  replies: PhaseReplies
}

export interface Transaction {
  /** Return path without angle brackets; empty for the null sender. */
  mailFrom: string
  /** Recipients without angle brackets; at least one. */
  recipients: readonly string[]
  /** The message in pieces. Lines end with CRLF, and dots are not stuffed. A missing last CRLF is added. */
  message: readonly Buffer[]
  /** Size of the message in bytes, declared with SIZE= (RFC 1870). */
  size: number
  /** Whether an address or header needs SMTPUTF8 (RFC 6531). */
  smtpUtf8: boolean
  /** Whether all later hops must use TLS (RFC 8689). */
  requireTls?: boolean
  /** Asked when the peer is slow to answer the envelope. Without it, the answer is yes. */
  mayWaitOn?: (() => boolean) | undefined
  /** Name of the message in delivery reports (RFC 3461 §4.4). Called if the peer offers DSN. */
  envelopeId?: () => string
  /** ORCPT of the client that submitted the message, decoded. Without it, ORCPT names the recipient. */
  originalRecipient?: string | undefined
}

/** Result for one recipient. */
export type RecipientResult =
  | { kind: 'accepted'; phase: 'final-dot'; reply: SmtpReply }
  | {
      kind: 'refused'
      phase: 'mail' | 'rcpt' | 'data' | 'body' | 'final-dot'
      reply: SmtpReply
      /**
       * Whether the refusal was decided locally, because an announced extension or limit rules the message
       * out. Nothing was sent.
       */
      local: boolean
    }
  | { kind: 'failed'; phase: Phase; failure: SmtpFailure }

export interface TransactionResult {
  /** Results in the order of the recipients. */
  recipients: RecipientResult[]
  /** Whether the session can carry another transaction. */
  reusable: boolean
  timings: PhaseTimings
  replies: PhaseReplies
}

export interface SmtpSession {
  readonly facts: SmtpSessionFacts
  /** False as soon as the connection cannot carry another transaction. */
  readonly alive: boolean
  /**
   * Sends one message. It may be called before the previous result is known: the envelope is then sent
   * together with the previous message (RFC 2920 §3.1). Results come in order.
   * @param onFollowable called when sending another message now saves a round trip; not called if the peer
   * does not pipeline, or is slow to accept messages
   * @throws when the transaction is malformed, by a bare CR or LF or an invalid address; nothing is sent
   */
  send(transaction: Transaction, onFollowable?: () => void): Promise<TransactionResult>
  /** Sends QUIT after the transactions in progress. Resolves when the connection is closed. Never rejects. */
  quit(): Promise<void>
  /** Closes the connection at once. Transactions in progress fail with `closed`. */
  destroy(): void
}
