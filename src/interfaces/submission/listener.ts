/**
 * SMTP listener for message submission over TLS on ports 465 and 587 (RFC 6409, RFC 8314), and for the relay,
 * which accepts mail without a login from configured networks.
 *
 * In: SMTP sessions. Out: calls of `Submit` with the octets of each message (`submit.ts`), which pass through
 * the same checks as requests of the API. Started by `app/submission.ts`.
 */
import type {
  SMTPServerAuthentication,
  SMTPServerAuthenticationResponse,
  SMTPServerDataStream,
  SMTPServerOptions,
  SMTPServerSession,
} from 'smtp-server'
import { type Certificates, STRICT_TLS } from '../../lib/certificates.ts'
import { type Clock, sleep } from '../../lib/clock.ts'
import { type Id, idKey } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { Networks } from '../../lib/networks.ts'
import { TooManyWaiting } from '../../lib/semaphore.ts'
import { MESSAGE_BYTES_MAX } from '../../pipeline/accept/message-limits.ts'
import { RECIPIENTS_MAX } from '../../pipeline/accept/recipients.ts'
import type { Sender } from '../../pipeline/accept/submission.ts'
import { type Listening, startListening } from '../../pipeline/inbound/listening.ts'
import type { MailReport } from '../../pipeline/inbound/mail-report.ts'
import { createReplyTo, ReplyError } from '../../pipeline/inbound/reply.ts'
import { StrictSmtpServer } from '../../pipeline/inbound/smtp-server.ts'
import { clientNetworkOf } from '../../protocols/dns/netblock.ts'
import { protocolName, type TracedClient } from '../../protocols/mime/received-field.ts'
import { type Mailbox, parseForeignAddress } from '../../protocols/smtp/address.ts'
import type { DsnRequest, NotifyWord } from '../../protocols/smtp/dsn.ts'
import type { Incoming, IncomingMessage } from './incoming.ts'
import type { SignedIn, SubmissionSignIn } from './sign-in.ts'

/** Envelope of a submitted message, with what is known of its client. */
export interface SubmittedEnvelope {
  recipients: Mailbox[]
  /** Requested notifications; null if there are none. */
  dsn: DsnRequest | null
  client: TracedClient
  /** Name of the protocol for the trace, such as `ESMTPSA`. */
  protocol: string
}

/**
 * Resolves when the message is stored.
 *
 * @returns the text of the SMTP reply
 * @throws ReplyError, StorageUnavailable
 */
export type Submit = (
  sender: Sender,
  pieces: Uint8Array<ArrayBuffer>[],
  envelope: SubmittedEnvelope,
) => Promise<string>

/** Who may submit: clients with a login, or without one, clients of some networks for one account. */
export type Admission = { signIn: SubmissionSignIn } | { networks: Networks; sender: Sender }

interface SubmissionOptions {
  listen: { host: string; port: number }
  /** True for TLS from the first octet (port 465), false for STARTTLS (port 587). */
  isTls: boolean
  /** Number of connections that may be open at the same time. */
  connectionsMax?: number | undefined
  /** Proxies whose connections must begin with a PROXY header. */
  trustedProxies?: Networks | undefined
  mailHost: string
  certificates: Certificates
  admission: Admission
  /** Counts a message of the account. @returns the reply that refuses it; null to go on */
  admit(accountId: Id): ReplyError | null
  submit: Submit
  incoming: Incoming
  report: MailReport
  clock: Clock
  log: Log
}

/** RFC 3461 §4.4, and §4.2 without the name of the parameter. */
const ENVID_CHARACTERS_MAX = 100
const ORCPT_CHARACTERS_MAX = 500

const CONNECTIONS_PER_CLIENT_MAX = 50
/**
 * Limit of new connections per client address. It is high, since many programs connect for each message, and
 * clients are known by their keys.
 */
const NEW_PER_MINUTE_MAX = 6_000
const FAILURES_MAX = 3
/** Delay of the reply to the first wrong password; the delay of the second is twice as long. */
const FAILURE_DELAY_MS = 1_000
const IDLE_MS = 300_000
const DURATION_MS_MAX = 3_600_000

type Answer = (error?: Error | null, text?: string) => void
type EndSession = (id: string, text: string) => void
type AuthAnswer = (error?: Error | null, response?: SMTPServerAuthenticationResponse) => void

/** @throws Error when the address cannot be bound */
export function startSubmissionListener(options: SubmissionOptions): Promise<Listening> {
  return startListening(createServer(options), 'a submission', options)
}

function createServer(options: SubmissionOptions): StrictSmtpServer {
  const { isTls, mailHost, certificates, clock, admit, admission, connectionsMax, report, incoming } = options
  const end = (id: string, text: string) => server.end(id, text)
  const settings: SMTPServerOptions = {
    ...certificates.current(),
    ...admitted(options, end),
    name: mailHost,
    secure: isTls,
    size: Math.min(MESSAGE_BYTES_MAX, incoming.bytesMax),
    socketTimeout: IDLE_MS,
    useXClient: false,
    useXForward: false,
    hideSTARTTLS: isTls,
    hideDSN: false,
    hideENHANCEDSTATUSCODES: false,
    onMailFrom(_sender, session, answer) {
      if (isTooLong(session.envelope.dsn?.envid, ENVID_CHARACTERS_MAX))
        return answer(new ReplyError(501, '5.5.4 ENVID is too long'))
      return answer(admit(senderIn(session, admission).accountId))
    },
    onRcptTo({ address, dsn }, { envelope }, answer) {
      if (isTooLong(dsn?.orcpt, ORCPT_CHARACTERS_MAX))
        return answer(new ReplyError(501, '5.5.4 ORCPT is too long'))
      if (envelope.rcptTo.length >= RECIPIENTS_MAX)
        return answer(new ReplyError(452, `4.5.3 A message may have ${RECIPIENTS_MAX} recipients`))
      const mailbox = parseForeignAddress(address)
      return answer('fault' in mailbox ? new ReplyError(553, `5.1.3 The address ${mailbox.fault}`) : null)
    },
    onData: createReceiver(options, (id, stream) => server.receive(id, stream)),
  }
  const server: StrictSmtpServer = new StrictSmtpServer(settings, {
    clock,
    report,
    connectionsMax,
    trustedProxies: options.trustedProxies,
    userOf: user => signedInAs(user, admission),
    perNetworkMax: CONNECTIONS_PER_CLIENT_MAX,
    newPerMinute: NEW_PER_MINUTE_MAX,
    connectionMsMax: DURATION_MS_MAX,
    isBusy: incoming.isCrowded,
    forms: 'of-devices',
  })
  return server
}

/** Settings for the login, or for the check of the client's network. */
function admitted({ admission, clock, log }: SubmissionOptions, end: EndSession): SMTPServerOptions {
  if ('signIn' in admission)
    return {
      ...STRICT_TLS,
      authMethods: ['PLAIN', 'LOGIN'],
      onAuth: createAuth(admission.signIn, { clock, log, end }),
    }
  return {
    authOptional: true,
    disabledCommands: ['AUTH'],
    onConnect({ remoteAddress }, answer) {
      const isNear = admission.networks.contains(remoteAddress)
      return answer(isNear ? null : new ReplyError(554, '5.7.1 Nothing is taken from your network here'))
    },
  }
}

function createAuth(
  signIn: SubmissionSignIn,
  { clock, log, end }: { clock: Clock; log: Log; end: EndSession },
) {
  const failures = new WeakMap<SMTPServerSession, number>()
  return (
    { username, password }: SMTPServerAuthentication,
    session: SMTPServerSession,
    answer: AuthAnswer,
  ) => {
    const settle = async () => {
      const signedIn = await signIn(session.remoteAddress, username ?? '', password ?? '')
      if (typeof signedIn === 'object') return answer(null, { user: signedIn })
      const count = (failures.get(session) ?? 0) + 1
      failures.set(session, count)
      if (signedIn === 'too-many' || count >= FAILURES_MAX)
        return end(session.id, '4.7.0 Too many failed logins')
      await sleep(clock, count * FAILURE_DELAY_MS)
      return answer(
        new ReplyError(
          535,
          '5.7.8 These credentials are not accepted. The password is an API key or an access token with the scope emails:send, ' +
            'and the user name is resend, mailhorn or the id of the key or token',
        ),
      )
    }
    settle().catch(error => {
      log.error({ event: 'smtp_auth_failed', err: error }, 'SMTP credentials could not be checked')
      answer(new ReplyError(454, '4.7.0 The login cannot be checked now'))
    })
  }
}

/** Returns the handler of a message, from the 354 reply to DATA until the final reply. */
function createReceiver(
  { submit, incoming, admission, report, clock, log }: SubmissionOptions,
  receive: StrictSmtpServer['receive'],
) {
  const replyTo = createReplyTo(451, { log, clock })
  const settle = (message: IncomingMessage, session: SMTPServerSession) =>
    submit(senderIn(session, admission), piecesOf(message), envelopeOf(session))
  return (stream: SMTPServerDataStream, session: SMTPServerSession, answer: Answer) => {
    const { transfer, finish } = receive(session.id, stream)
    const message = incoming.open(memoryOwner(session, admission), declaredBytes(session), () =>
      transfer.stop('4.4.2 The message comes in too slowly'),
    )
    stream.on('data', (chunk: Buffer) => {
      transfer.add(chunk.length)
      const room = message.add(chunk)
      if (!room) return
      stream.pause()
      void room.then(() => stream.resume())
    })
    stream.once('close', finish)
    stream.once('error', error => {
      message.close()
      log.debug(
        { event: 'submission_incomplete', err: error },
        'A submitted message was not received completely',
      )
    })
    stream.once('end', async () => {
      try {
        if (stream.sizeExceeded) throw new ReplyError(552, '5.3.4 The message is too large')
        const text = await settle(message, session)
        report.taken()
        answer(null, text)
      } catch (error) {
        answer(replyTo(error))
      } finally {
        message.close()
      }
    })
  }
}

/** @throws ReplyError */
function piecesOf(message: IncomingMessage): Uint8Array<ArrayBuffer>[] {
  try {
    return message.pieces()
  } catch (error) {
    if (!(error instanceof TooManyWaiting)) throw error
    throw new ReplyError(452, '4.3.1 Too many large messages at once, try again later')
  }
}

/** Size that the client gave with MAIL; 0 if it did not. */
function declaredBytes({ envelope: { mailFrom } }: SMTPServerSession): number {
  const size = mailFrom ? (mailFrom.args as { SIZE?: string } | undefined)?.SIZE : undefined
  return Number(size) || 0
}

function isTooLong(value: string | null | undefined, charactersMax: number): boolean {
  return (value?.length ?? 0) > charactersMax
}

/** @returns null for the null sender, which gets no notification, and without a parameter of a recipient */
function dsnOf({ mailFrom, rcptTo, dsn }: SMTPServerSession['envelope']): DsnRequest | null {
  const recipients = rcptTo.flatMap(({ address, dsn: dsnRequest }) =>
    dsnRequest
      ? [
          {
            address,
            notify: (dsnRequest.notify ?? null) as NotifyWord[] | null,
            original: dsnRequest.orcpt ?? null,
          },
        ]
      : [],
  )
  const sender = mailFrom ? mailFrom.address : ''
  if (sender === '' || recipients.length === 0) return null
  const ret = (dsn?.ret ?? null) as DsnRequest['ret']
  return { sender, ret, envelopeId: dsn?.envid ?? null, recipients }
}

function envelopeOf(session: SMTPServerSession): SubmittedEnvelope {
  const { envelope, remoteAddress, hostNameAppearsAs, openingCommand, secure, user } = session
  return {
    recipients: envelope.rcptTo.map(({ address }) => parseForeignAddress(address)).filter(isMailbox),
    dsn: dsnOf(envelope),
    client: { helo: hostNameAppearsAs || null, address: remoteAddress },
    protocol: protocolName({
      isExtended: openingCommand === 'EHLO',
      isUtf8: envelope.smtpUtf8 === true,
      isTls: secure === true,
      isSignedIn: user !== undefined && user !== null,
    }),
  }
}

/** Owner of the memory that a message takes: the account, or for the relay, the network of the client. */
function memoryOwner(session: SMTPServerSession, admission: Admission): string {
  if ('sender' in admission) return `relay ${clientNetworkOf(session.remoteAddress)}`
  return idKey(senderIn(session, admission).accountId)
}

/** Sender of a session that has passed the login or the check of its network. */
function senderIn({ user }: SMTPServerSession, admission: Admission): Sender {
  return 'sender' in admission ? admission.sender : (user as unknown as SignedIn).sender
}

/** For the log. @param user of the session */
function signedInAs(user: unknown, admission: Admission) {
  if ('sender' in admission) return { accountId: admission.sender.accountId, credential: null }
  if (!user) return undefined
  const { sender, credential } = user as SignedIn
  return { accountId: sender.accountId, credential }
}

function isMailbox(value: ReturnType<typeof parseForeignAddress>): value is Mailbox {
  return !('fault' in value)
}
