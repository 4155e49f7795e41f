/** Tables of mail received for customers' domains. */
import type { Id } from '../../../lib/ids.ts'
import type { Flag, Json } from './values.ts'

/** Results of the checks of a received message. */
export const VERDICTS = ['PASS', 'FAIL', 'GRAY', 'PROCESSING_FAILED', 'DISABLED'] as const
export type Verdict = (typeof VERDICTS)[number]

/** Kinds of received mail that programs send. */
export const AUTOMATIC = ['auto-reply', 'report', 'bulk'] as const
export type Automatic = (typeof AUTOMATIC)[number]

/** A received message of an account, stored once for all of the account's recipients. */
export interface InboundMessageRow {
  accountId: Id
  id: Id
  /** Time of receipt, from which retention counts. */
  createdAt: number
  /** Domain of the first recipient. */
  domainId: Id
  /** Envelope sender; empty for the null sender. */
  sender: string
  /** JSON list of envelope recipients. */
  recipients: Json
  /** Address of the client; null when the message came from this service. */
  clientIp: string | null
  /** Name that the client gave in EHLO or HELO. */
  helo: string | null
  /** TLS version, such as `TLSv1.3`; null for plain text. */
  tls: string | null
  sizeBytes: number
  /** Hash of the message as received. */
  rawHash: Uint8Array
  /** Delivery of this service that arrived as this message; null for mail from elsewhere. */
  sourceEmailId: Id | null
  sourceOrdinal: number | null
  /** Time at which a child process last began to read the message; null before and after an orderly stop. */
  readingAt: number | null
  /**
   * Number of runs of the service that began to read the message in a child process. After two that ended
   * while they read it, the message is read by its header alone.
   */
  readingCount: number
  /**
   * Time at which the message was parsed and listed; null before. The fields below are unknown until then.
   */
  listedAt: number | null
  /** Error of the parser, or the part of the message that was not parsed. */
  parseError: string | null
  subject: string
  /** Kind of a message that a program sent; null for others, and for those listed by older versions. */
  automatic: Automatic | null
  messageId: string | null
  /** JSON `[{name, address}]`; null when empty. */
  fromList: Json | null
  toList: Json | null
  ccList: Json | null
  bccList: Json | null
  replyToList: Json | null
  spamVerdict: Verdict
  virusVerdict: Verdict
  spfVerdict: Verdict
  dkimVerdict: Verdict
  dmarcVerdict: Verdict
  /** Details of the verdicts. */
  verdictDetail: Json | null
  /** Value of the `Authentication-Results` header field. */
  authenticationResults: string | null
  /** JSON, see `StoredPart`. */
  attachments: Json | null
  /** Content with texts and headers. */
  contentId: number | null
}

/** A listed message, or an email that belongs to the conversation of one. */
export interface ThreadMessageRow {
  accountId: Id
  /** Id of a received message or of an email. */
  id: Id
  /** Key of the conversation, see `threads.ts`. */
  thread: Uint8Array
  /** Key of the Message-ID of the message; null without one. */
  message: Uint8Array | null
}

/** Narrow row of a listed message, for searches and filters. */
export interface InboundSubjectRow {
  accountId: Id
  id: Id
  /** Folded subject. */
  subject: string
  /** Domains of the recipients, with a blank before and after each. */
  domains: string
  /** 1 until a user or a program marks the message as read. */
  unread: Flag
}

/** What becomes of the mail that a route matches. */
export const ROUTE_ACTIONS = ['webhook', 'forward', 'drop'] as const
export type RouteAction = (typeof ROUTE_ACTIONS)[number]

/** A rule for received mail. The first route of the account that matches a recipient counts. */
export interface InboundRouteRow {
  accountId: Id
  id: Id
  createdAt: number
  /** Place among the routes of the account, from 1. */
  position: number
  /** Address in lower case, in whose local part `*` stands for any characters. */
  pattern: string
  action: RouteAction
  /** Webhook of the action `webhook`; null for others. */
  webhookId: Id | null
  /** Address of the action `forward`; null for others. */
  forwardTo: string | null
}

/** What a route has done with a message for one of its recipients. */
export const ROUTE_OUTCOMES = ['stored', 'forwarded', 'dropped', 'failed'] as const
export type RouteOutcome = (typeof ROUTE_OUTCOMES)[number]

export interface InboundRouteLogRow {
  accountId: Id
  id: Id
  routeId: Id
  createdAt: number
  /** The received message; null for mail that is not stored. */
  messageId: Id | null
  /** Author of the message, as lists show it. */
  sender: string
  /** Recipient of the envelope that the route matched. */
  recipient: string
  subject: string
  outcome: RouteOutcome
  /** Why the route failed; null for other outcomes. */
  reason: string | null
  /** Email by which the message was forwarded; null for other outcomes. */
  emailId: Id | null
}
