/**
 * Shares helpers between the tests of the SMTP client: options for a scripted MX, small transactions, short
 * results.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { systemClock } from '../../../../../src/lib/clock.ts'
import { openSession } from '../../../../../src/pipeline/delivery/smtp-client/open.ts'
import { createClientContext } from '../../../../../src/pipeline/delivery/smtp-client/tls.ts'
import {
  DEFAULT_TIMEOUTS,
  type SessionFailure,
  type SessionOptions,
  type SmtpFailure,
  type SmtpSession,
  type TlsOptions,
  type Transaction,
  type TransactionResult,
} from '../../../../../src/pipeline/delivery/smtp-client/types.ts'
import type { FakeMx } from '../../../../kit/fake-mx.ts'
import type { TestContext } from '../../../../kit/suite.ts'

const secureContext = createClientContext()

/** Session options with those of TLS beside the others; `tls` is the mode. */
export type DialOptions = Partial<
  Omit<SessionOptions, 'tls'> & Omit<TlsOptions, 'mode'> & { tls: TlsOptions['mode'] }
>

/** A client to `mx`, named `mx.test` as its good certificate is; TLS is off unless asked for. */
export function optionsFor(mx: { host: string; port: number }, over: DialOptions = {}): SessionOptions {
  const { tls: mode = 'none', serverName, fallbackContext, rejectUnauthorized, ...others } = over
  const { checkServerIdentity, checkPeer, tickets, secureContext: context, ...session } = others
  const tls = { serverName, fallbackContext, rejectUnauthorized, checkServerIdentity, checkPeer, tickets }
  const args = Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined))
  return {
    address: mx.host,
    port: mx.port,
    mxHost: 'mx.test',
    localName: 'out.mailhorn.test',
    tls: { mode, secureContext: context ?? secureContext, ...args },
    timeouts: DEFAULT_TIMEOUTS,
    clock: systemClock,
    ...session,
  }
}

/** Opens a session that the end of the test closes; the test fails where there is none. */
export async function dial(t: TestContext, mx: FakeMx, over: DialOptions = {}): Promise<SmtpSession> {
  const opened = await openSession(optionsFor(mx, over))
  if ('failure' in opened)
    throw new Error(`no session: ${opened.failure.message}\n${mx.transcript.join('\n')}`)
  t.after(() => opened.destroy())
  return opened
}

/** Tries to open a session; the test fails where there is one. */
export async function dialInVain(mx: FakeMx, over: DialOptions = {}): Promise<SessionFailure> {
  const opened = await openSession(optionsFor(mx, over))
  if ('failure' in opened) return opened
  opened.destroy()
  throw new Error(`a session came about\n${mx.transcript.join('\n')}`)
}

/** A transaction from the return path of an email to `recipients` at there.test. */
export function mailTo(recipients: string | string[], over: Partial<Transaction> = {}): Transaction {
  const message = over.message ?? [Buffer.from('Subject: hello\r\n\r\n'), Buffer.from('Hello there.\r\n')]
  return {
    mailFrom: 'b+token@send.here.test',
    recipients: [recipients].flat().map(local => `${local}@there.test`),
    message,
    size: message.reduce((sum, part) => sum + part.length, 0),
    smtpUtf8: false,
    ...over,
  }
}

/** `accepted 250`, `refused rcpt 550 5.1.1`, `failed mail closed`: one for each recipient. */
export function short(result: TransactionResult): string[] {
  return result.recipients.map(recipient => {
    if (recipient.kind === 'failed') return `failed ${shortFailure(recipient.failure)}`
    const { code, enhanced } = recipient.reply
    if (recipient.kind === 'accepted') return `accepted ${code}`
    return [recipient.local ? 'refused locally' : 'refused', recipient.phase, code, enhanced]
      .filter(Boolean)
      .join(' ')
  })
}

/** `banner reply 554`, `connect network`. */
export function shortFailure({ phase, kind, reply }: SmtpFailure): string {
  return [phase, kind, reply?.code].filter(Boolean).join(' ')
}

/** A peer without any manners of its own: `onConnection` gets each socket. */
export async function startPeer(onConnection: (socket: Socket) => void, { allowHalfOpen = false } = {}) {
  const sockets: Socket[] = []
  const first = Promise.withResolvers<Socket>()
  const server = createServer({ noDelay: true, allowHalfOpen }, socket => {
    sockets.push(socket)
    socket.on('error', () => {})
    onConnection(socket)
    first.resolve(socket)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    connection: first.promise,
    close: () =>
      new Promise<void>(resolve => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}

/** Lets what is on its way over loopback arrive. */
export async function turns(count = 20) {
  for (let i = 0; i < count; i++) await new Promise(setImmediate)
}

/** A transcript hook that can be waited on. */
export function createLog() {
  const lines: string[] = []
  let check = () => {}
  return {
    lines,
    log(line: string) {
      lines.push(line)
      check()
    },
    /** Resolves when a line, former ones included, matches. */
    until: (pattern: RegExp) =>
      new Promise<void>(resolve => {
        check = () => {
          if (lines.some(line => pattern.test(line))) resolve()
        }
        check()
      }),
  }
}

/** A message of about so many bytes, with 8 lines of 7-bit text to the kilobyte. */
export function bigMessage(bytes: number): Buffer[] {
  const line = `${'x'.repeat(126)}\r\n`
  return [Buffer.from('Subject: big\r\n\r\n'), Buffer.from(line.repeat(Math.ceil(bytes / line.length)))]
}
