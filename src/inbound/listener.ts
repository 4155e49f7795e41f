/** Port 25: takes mail for the addresses behind `doorOf`, and says 250 only when it is on the disk (RFC 5321). */
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import type { Certificates } from '../lib/certificates.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { NewReport } from '../store/reports.ts'
import { connectionLimit } from './connections.ts'
import { type Listening, startListening } from './listening.ts'
import { createMailBytes, type MailBytes } from './mail-bytes.ts'
import { Reply, replyTo } from './reply.ts'
import { StrictSmtpServer } from './smtp-server.ts'

export interface TakenMail {
  reports: readonly NewReport[]
  /** Of the envelope; empty for the null sender. */
  sender: string
  clientIp: string
  sizeBytes: number
  /** Its beginning, up to `KEPT_BYTES`. */
  bytes: Uint8Array
}

export interface ListenerOptions {
  listen: { host: string; port: number }
  mailHost: string
  certificates: Certificates
  doorOf(recipient: string): NewReport | undefined
  /** Stores the mail. @throws StorageUnavailable */
  take(mail: TakenMail): Promise<void>
  clock: Clock
  log: Log
}

/** More than is ever looked at: what a report returns of our own mail may be long, and says nothing new. */
export const KEPT_BYTES = 1024 * 1024
const LARGEST_BYTES = 60 * 1024 * 1024
const MOST_CONNECTIONS_OF_ONE = 20
const MOST_RECIPIENTS = 100
const MOST_MESSAGES = 100
const MOST_UNDER_WAY = 64
const IDLE_MS = 60_000
const DATA_MS = 300_000
const LONGEST_MS = 900_000

type Answer = (error?: Error | null) => void

/** @throws when the address is not to be had */
export function startInboundListener(options: ListenerOptions): Promise<Listening> {
  return startListening(createServer(options), { ...options, name: 'an inbound' })
}

function createServer(options: ListenerOptions): StrictSmtpServer {
  const { mailHost, certificates, clock, doorOf } = options
  const receive = createReceiver(options, id => server.end(id, '4.4.2 The message took too long'))
  const server: StrictSmtpServer = new StrictSmtpServer(
    {
      name: mailHost,
      size: LARGEST_BYTES,
      socketTimeout: IDLE_MS,
      authOptional: true,
      disabledCommands: ['AUTH', 'XCLIENT', 'XFORWARD'],
      ...certificates.current(),
      ...connectionLimit(MOST_CONNECTIONS_OF_ONE),
      onMailFrom(_sender, { transaction }, answer) {
        answer(transaction > MOST_MESSAGES ? new Reply(421, '4.7.0 Enough for one connection') : null)
      },
      onRcptTo({ address }, { envelope }, answer) {
        if (envelope.rcptTo.length >= MOST_RECIPIENTS)
          return answer(new Reply(452, '4.5.3 Too many recipients'))
        return answer(
          doorOf(address) ? null : new Reply(550, '5.7.1 No such address here, and nothing is relayed'),
        )
      },
      onData: receive,
    },
    clock,
    LONGEST_MS,
  )
  return server
}

/** One message from the end of DATA's 354 to its reply. */
function createReceiver({ take, doorOf, clock, log }: ListenerOptions, end: (id: string) => void) {
  let underWay = 0

  const settle = async (bytes: MailBytes, { envelope, remoteAddress }: SMTPServerSession) => {
    if (bytes.hasBareLineEnd) throw new Reply(550, '5.6.11 Lines end in CR LF')
    const reports = envelope.rcptTo.flatMap(({ address }) => doorOf(address) ?? [])
    if (reports.length === 0) throw new Reply(550, '5.7.1 No such address here any more')
    await take({
      reports,
      sender: envelope.mailFrom ? envelope.mailFrom.address : '',
      clientIp: remoteAddress,
      sizeBytes: bytes.sizeBytes,
      bytes: bytes.kept(),
    })
  }

  return (stream: SMTPServerDataStream, session: SMTPServerSession, answer: Answer) => {
    if (underWay >= MOST_UNDER_WAY) return answer(new Reply(452, '4.3.1 Too much at once, try again later'))
    underWay += 1
    const bytes = createMailBytes(KEPT_BYTES)
    const limit = clock.timer(DATA_MS, () => end(session.id))
    stream.on('data', (chunk: Buffer) => bytes.add(chunk))
    stream.once('close', () => {
      limit.cancel()
      underWay -= 1
    })
    stream.once('error', error => log.debug({ err: error }, 'a message was not received in full'))
    stream.once('end', () => {
      if (stream.sizeExceeded) return answer(new Reply(552, '5.3.4 The message is too large'))
      return settle(bytes, session).then(
        () => answer(),
        error => answer(replyTo(error, { unavailable: 452, log })),
      )
    })
  }
}
