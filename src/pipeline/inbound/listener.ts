/**
 * SMTP listener on port 25 (RFC 5321). It accepts mail for local recipients only and relays nothing. A
 * message is answered with 250 only after it has been stored durably.
 *
 * In: SMTP connections of other mail servers; `admit` decides about each RCPT TO (`rcpt-policy.ts`). Out:
 * `take` receives the envelope and the stored bytes of each message, and the SMTP reply follows its result.
 * Called by the composition root (`app/inbound.ts`).
 */

import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import type { Certificates } from '../../lib/certificates.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Networks } from '../../lib/networks.ts'
import { HOPS_MAX } from '../../protocols/mime/read/head.ts'
import { INLINE_BYTES_MAX } from '../../store/blobs/staged.ts'
import type { BlobStream } from '../../store/blobs/stream.ts'
import type { IngestLoad } from './ingest-load.ts'
import { takeIn } from './intake.ts'
import { createLargeMessages } from './large-messages.ts'
import { type Listening, startListening } from './listening.ts'
import { createMailBytes, type MailBytes } from './mail-bytes.ts'
import type { MailReport } from './mail-report.ts'
import type { MinDataRate } from './min-data-rate.ts'
import { isKeptWhole, type LocalRecipient, messagesOf, type RcptPolicy, reportsOf } from './rcpt-policy.ts'
import type { ReceivedMail } from './receive-commands.ts'
import { createReplyTo, ReplyError } from './reply.ts'
import { StrictSmtpServer } from './smtp-server.ts'

export interface InboundListenerOptions {
  listen: { host: string; port: number }
  mailHost: string
  certificates: Certificates
  /** Number of connections that may be open at the same time. */
  connectionsMax?: number | undefined
  /** Proxies whose connections must begin with a PROXY header. */
  trustedProxies?: Networks | undefined
  /** Number of new connections one client network may open per minute; 0 means no limit. */
  newPerMinute: number
  /** Whether all mail is refused for the moment. */
  isClosed(): boolean
  admit: RcptPolicy
  /** Opens the blob to which the bytes of a message are written while they are received. */
  openBlob(): BlobStream
  /** Stores the mail durably and takes ownership of its blob. @throws StorageUnavailable */
  take(mail: Omit<ReceivedMail, 'at'>): Promise<void>
  /** Counts the messages between DATA and their reply. */
  ingestLoad: IngestLoad
  report: MailReport
  clock: Clock
  log: Log
}

/** Bytes stored of mail that is only a report. The rest is our own returned message, which nothing reads. */
const REPORT_KEPT_BYTES_MAX = 1024 * 1024
const MESSAGE_BYTES_MAX = 60 * 1024 * 1024
const CONNECTIONS_PER_NETWORK_MAX = 20
const RECIPIENTS_MAX = 100
/** A client that reaches this limit reconnects, so that other clients get the connection. */
const MESSAGES_PER_CONNECTION_MAX = 10_000
/**
 * Messages written to a file while they are received, at the same time. Smaller ones stay in memory and do
 * not count.
 */
const LARGE_MESSAGES_MAX = 64
/** While more messages than this are being received, the higher minimum data rate applies. */
const UNHURRIED_MESSAGES_MAX = 32
const IDLE_TIMEOUT_MS = 60_000
const CONNECTION_MS_MAX = 900_000

type Answer = (error?: Error | null) => void

/** @throws when the address cannot be bound */
export function startInboundListener(options: InboundListenerOptions): Promise<Listening> {
  return startListening(createServer(options), 'an inbound', options)
}

function createServer(options: InboundListenerOptions): StrictSmtpServer {
  const { mailHost, certificates, clock, admit, newPerMinute, connectionsMax, trustedProxies, report } =
    options
  const notAdmitted = createReplyTo(451, options)
  /** Accepted recipients of the open transactions, keyed by envelope. */
  const named = new WeakMap<object, Map<string, LocalRecipient>>()
  const receive = createReceiver(options, {
    recipientsOf: ({ envelope }) => [...(named.get(envelope)?.values() ?? [])],
    receive: (id, stream) => server.receive(id, stream),
  })
  const server: StrictSmtpServer = new StrictSmtpServer(
    {
      name: mailHost,
      size: MESSAGE_BYTES_MAX,
      socketTimeout: IDLE_TIMEOUT_MS,
      authOptional: true,
      disabledCommands: ['AUTH', 'XCLIENT', 'XFORWARD'],
      ...certificates.current(),
      onMailFrom(_sender, { transaction }, answer) {
        if (transaction > MESSAGES_PER_CONNECTION_MAX)
          return answer(new ReplyError(421, '4.7.0 Enough for one connection'))
        return answer(
          options.isClosed() ? new ReplyError(451, '4.3.2 No mail is accepted now, try again later') : null,
        )
      },
      onRcptTo({ address }, { envelope }, answer) {
        if (envelope.rcptTo.length >= RECIPIENTS_MAX)
          return answer(new ReplyError(452, '4.5.3 Too many recipients'))
        return admit(address).then(
          local => {
            if (!local)
              return answer(new ReplyError(550, '5.7.1 No such address here, and nothing is relayed'))
            const localRecipients = named.get(envelope) ?? new Map<string, LocalRecipient>()
            named.set(envelope, localRecipients.set(address, local))
            return answer()
          },
          error => answer(notAdmitted(error)),
        )
      },
      onData: receive,
    },
    {
      clock,
      newPerMinute,
      connectionsMax,
      trustedProxies,
      report,
      perNetworkMax: CONNECTIONS_PER_NETWORK_MAX,
      connectionMsMax: CONNECTION_MS_MAX,
      isBusy: () => options.ingestLoad.size() > UNHURRIED_MESSAGES_MAX,
    },
  )
  return server
}

interface Transactions {
  /** The accepted recipients of the session's transaction. */
  recipientsOf(session: SMTPServerSession): LocalRecipient[]
  receive: StrictSmtpServer['receive']
}

/** Receives one message: from the 354 reply to DATA until the final reply. */
function createReceiver(
  { take, openBlob, ingestLoad, report, clock, log }: InboundListenerOptions,
  { recipientsOf, receive }: Transactions,
) {
  const notTaken = createReplyTo(452, { log, clock })
  const large = createLargeMessages(LARGE_MESSAGES_MAX, clock)

  const store = async (stream: SMTPServerDataStream, session: SMTPServerSession, transfer: MinDataRate) => {
    const localRecipients = recipientsOf(session)
    const bytes = createMailBytes()
    const blob = openBlob()
    try {
      const within = withPlace(blob, () => large.enter(transfer))
      await takeIn(
        stream,
        bytes,
        within,
        isKeptWhole(localRecipients, senderOf(session)) ? MESSAGE_BYTES_MAX : REPORT_KEPT_BYTES_MAX,
      )
      requireGood(stream, bytes)
    } catch (error) {
      await blob.discard()
      throw error
    }
    await take({
      ...factsOf(session, localRecipients),
      sizeBytes: bytes.sizeBytes,
      blob: await blob.finish(),
    })
  }

  return (stream: SMTPServerDataStream, session: SMTPServerSession, answer: Answer) => {
    ingestLoad.enter()
    const { transfer, finish } = receive(session.id, stream)
    stream.on('data', (chunk: Buffer) => transfer.add(chunk.length))
    stream.once('end', finish)
    return store(stream, session, transfer)
      .then(
        () => {
          report.taken()
          answer()
        },
        error => {
          if (isCutOff(error))
            log.debug({ event: 'inbound_incomplete', err: error }, 'A message was not received completely')
          else answer(notTaken(error))
        },
      )
      .finally(() => {
        finish()
        large.leave(transfer)
        ingestLoad.leave()
      })
  }
}

/** Reserves a slot for a large message before the blob starts writing to a file. */
function withPlace(blob: BlobStream, enter: () => boolean): Pick<BlobStream, 'write'> {
  let sizeBytes = 0
  let hasPlace = false
  return {
    async write(block) {
      sizeBytes += block.length
      if (!hasPlace && sizeBytes > INLINE_BYTES_MAX) {
        if (!enter()) throw new ReplyError(452, '4.3.1 Too many large messages at once, try again later')
        hasPlace = true
      }
      await blob.write(block)
    },
  }
}

/** @throws ReplyError */
function requireGood({ sizeExceeded }: SMTPServerDataStream, bytes: MailBytes) {
  if (sizeExceeded) throw new ReplyError(552, '5.3.4 The message is too large')
  if (bytes.hasBareLineEnd) throw new ReplyError(550, '5.6.11 Lines end in CR LF')
  if (bytes.hopCount() > HOPS_MAX)
    throw new ReplyError(554, '5.4.6 The message has come through too many servers')
}

function factsOf(session: SMTPServerSession, localRecipients: readonly LocalRecipient[]) {
  const { remoteAddress, hostNameAppearsAs, secure, tlsOptions } = session
  const sender = senderOf(session)
  return {
    reports: reportsOf(localRecipients, sender),
    messages: messagesOf(localRecipients),
    sender,
    clientIp: remoteAddress,
    helo: hostNameAppearsAs || null,
    tls: secure ? versionOf(tlsOptions) : null,
  }
}

/** Returns the envelope sender; empty for the null sender. */
function senderOf({ envelope }: SMTPServerSession): string {
  return envelope.mailFrom ? envelope.mailFrom.address : ''
}

/** @param facts TLS cipher details as smtp-server reports them */
function versionOf(facts: unknown): string {
  return (facts as { version?: string } | null)?.version ?? 'TLS'
}

/** The client disconnected within the message, so no reply can be sent. */
function isCutOff(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ECONNECTION'
}
