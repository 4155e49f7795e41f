/**
 * A scripted MX host on real sockets. It takes what is well-formed, records what it took, and notes every
 * breach of protocol of its client in `violations`. Several on one port at 127.0.0.2, 127.0.0.3 … are
 * distinct hosts of one domain.
 *
 * What happens to a message depends on its recipients' local parts (by prefix, so `ok17` or `defer-451+a`
 * work):
 *
 *   ok, anything else          taken
 *   defer-451, perm-550-511, full-452-422    RCPT is answered so; the digits after the code are 5.1.1, 4.2.2
 *   grey-2                     RCPT is answered 451 4.7.1 the first two times this address is tried
 *   data-554, dot-451, dot-554-571           DATA, or the final dot, is answered so
 *   body-552                   the answer comes in the middle of the message
 *   mail-451                   as for drop-after-mail below
 *   slow-rcpt-500, slow-data-500, slow-dot-500   the reply comes after so many ms
 *   drop-after-mail, -rcpt, -data, -dot      the connection is closed in place of that reply; after MAIL
 *                              only when the client pipelines, since the recipient is not known before
 *   hang-after-…, garbage-…    likewise silence, or something that is no reply
 *   drop-mid-body, stall-body  closed, or no longer read, as soon as a part of the message is in
 *   421-after-3                RCPT is answered 421, and the session ends, after three messages in it
 *   too-many-2                 RCPT is answered 452 4.5.3 from the third recipient on
 *   eight-bit                  a message with 8-bit bytes is answered 554 5.6.1
 */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { Fault, Point } from './fake-mx-behaviour.ts'
import { FakeMxSession } from './fake-mx-session.ts'
import { CERTIFICATE_NAMES, testAuthority, testCertificate } from './tls.ts'

export interface FakeMxOptions {
  host?: string
  port?: number
  /** Its name in the greeting. */
  name?: string
  /** EHLO keywords; PIPELINING and STARTTLS are governed by the options below. */
  extensions?: string[]
  pipelining?: boolean
  /** Default `off`: STARTTLS is not offered. `hang` and `handshake-fails` do so after a positive reply. */
  tls?:
    | 'off'
    | 'good'
    | 'good-chain'
    | 'expired'
    | 'wrong-name'
    | 'self-signed'
    | '1.0-only'
    | 'handshake-fails'
    | 'hang'
    | 'refused-454'
  /** Nothing is taken in plain text: MAIL is answered 530. */
  insistsOnTls?: boolean
  /** TLS begins with the connection. */
  implicitTls?: boolean
  /** MAIL is answered 530 until the client has logged in, which is offered over TLS alone. */
  login?: { user: string; password: string; mechanisms?: string }
  /**
   * Faults whatever the recipient; a function is called each time the point is reached, with how often it was
   * before. A reply given here is said as it is and changes nothing: MAIL or RCPT answered so were not taken.
   */
  at?: Partial<Record<Point, Fault | ((times: number) => Fault | undefined)>>
  /** Reply to DATA when every recipient was refused. */
  dataAfterRefusedRcpt?: '354' | '503' | '554'
  /** Closes the connection right after a message is accepted. */
  acceptThenClose?: boolean
  /** Every reply comes so much later. */
  delayMs?: number
  /** Replies are written in pieces of so many bytes. */
  segmentBytes?: number
  /** Plain text sent in one segment with the reply to STARTTLS. */
  injectAfterStartTls?: string
  /**
   * A file that gets a line `Message-ID TAB recipient TAB X-Mailhorn-Ref` for each recipient, on disk before
   * the 250.
   */
  ledger?: string
}

export interface TakenMessage {
  mailFrom: string
  /** The recipients that were not refused. */
  rcptTo: string[]
  /** The message, dots unstuffed. */
  data: Buffer
  headers: string
  sessionId: number
  /** The IP address the client connected from. */
  clientAddress: string
  tls: boolean
  /** Parameters of MAIL, keywords in capitals. */
  params: Map<string, string>
  /** Parameters of RCPT, of each recipient that was not refused. */
  rcptParams: Map<string, string>[]
}

export interface FakeMx {
  readonly host: string
  readonly port: number
  readonly messages: TakenMessage[]
  /** The dialogue of all sessions, each line with its session: `2 C: …`, `2 S: …`. */
  readonly transcript: string[]
  /** Everything a client did that it must not do. */
  readonly violations: string[]
  readonly sessionCount: number
  /** Returns how often RCPT was tried for an address. */
  triesOf(address: string): number
  /** Resolves when so many messages were taken since the start. */
  waitFor(messageCount: number): Promise<void>
  /** Resolves when a line of the transcript, former ones included, matches. */
  until(line: RegExp): Promise<void>
  close(): Promise<void>
}

const EXTENSIONS = ['SIZE 52428800', '8BITMIME', 'SMTPUTF8', 'ENHANCEDSTATUSCODES']

/** State that the sessions of one MX share. */
export interface FakeMxState extends FakeMxOptions {
  name: string
  extensions: string[]
  tls: NonNullable<FakeMxOptions['tls']>
  secureContext: SecureContext | undefined
  violations: string[]
  tries: Map<string, number>
  pointCounts: Map<Point, number>
  take(message: TakenMessage): void
  note(line: string): void
}

export async function startFakeMx(options: FakeMxOptions = {}): Promise<FakeMx> {
  const { host = '127.0.0.1', tls = 'off', ledger } = options
  const messages: TakenMessage[] = []
  const transcript: string[] = []
  const waiting = new Set<{ isOver: () => boolean; resolve: () => void }>()
  const wakeWaiting = () => {
    for (const waiter of waiting) if (waiter.isOver() && waiting.delete(waiter)) waiter.resolve()
  }
  const waitUntil = (isOver: () => boolean) =>
    new Promise<void>(resolve => {
      waiting.add({ isOver, resolve })
      wakeWaiting()
    })
  const ledgerFile = ledger === undefined ? undefined : openSync(ledger, 'a')
  const state: FakeMxState = {
    ...options,
    name: options.name ?? 'mx.test',
    extensions: [
      ...(options.pipelining === false ? [] : ['PIPELINING']),
      ...(options.extensions ?? EXTENSIONS),
      ...(tls === 'off' ? [] : ['STARTTLS']),
    ],
    tls,
    secureContext: tls === 'off' ? undefined : contextFor(tls),
    violations: [],
    tries: new Map(),
    pointCounts: new Map(),
    take(message) {
      if (ledgerFile !== undefined) enter(ledgerFile, message)
      messages.push(message)
      wakeWaiting()
    },
    note(line) {
      transcript.push(line)
      wakeWaiting()
    },
  }
  const sockets = new Set<Socket>()
  let sessionCount = 0
  const server = createServer({ noDelay: true, allowHalfOpen: true }, socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    new FakeMxSession(state, socket, ++sessionCount)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, host, resolve)
  })
  return {
    host,
    port: (server.address() as AddressInfo).port,
    messages,
    transcript,
    violations: state.violations,
    get sessionCount() {
      return sessionCount
    },
    triesOf: address => state.tries.get(address.toLowerCase()) ?? 0,
    waitFor: count => waitUntil(() => messages.length >= count),
    until: line => waitUntil(() => transcript.some(entry => line.test(entry))),
    close: () =>
      new Promise(resolve => {
        for (const socket of sockets) socket.destroy()
        server.close(() => {
          if (ledgerFile !== undefined) closeSync(ledgerFile)
          resolve()
        })
      }),
  }
}

/** Options that OpenSSL requires before it negotiates TLS 1.0. */
const TLS_1_0 = { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const

/** Returns the good certificate, followed by that of its authority. */
function chainOfGood() {
  return { cert: testCertificate('good').cert + testAuthority() }
}

function contextFor(tls: NonNullable<FakeMxOptions['tls']>): SecureContext {
  const named = CERTIFICATE_NAMES.find(name => name === tls) ?? 'good'
  return createSecureContext({
    ...testCertificate(named),
    ...(tls === 'good-chain' && chainOfGood()),
    ...(tls === '1.0-only' && TLS_1_0),
  })
}

function enter(ledgerFile: number, { headers, rcptTo }: TakenMessage) {
  const field = (name: string) => new RegExp(`^${name}:[ \\t]*(.*)$`, 'im').exec(headers)?.[1]?.trim() ?? ''
  const [messageId, ref] = [field('Message-ID'), field('X-Mailhorn-Ref')]
  writeSync(ledgerFile, rcptTo.map(recipient => `${messageId}\t${recipient}\t${ref}\n`).join(''))
  fsyncSync(ledgerFile)
}
