/**
 * Opens a session to one address of a host: connection, greeting, EHLO, STARTTLS and login, and falls back to
 * reduced TLS options or plain text.
 *
 * In: session options. Out: a session, or the failure. Called by `host-session.ts`, the check of certificates
 * of MX hosts and the relay of alerts.
 */
import { cleanText, formatReply, isPermanent, replyOf } from '../../../protocols/smtp/reply.ts'
import { logIn } from './auth.ts'
import { limitsOf } from './limits.ts'
import type { RawReply } from './reply-reader.ts'
import { leave, WireSession } from './session.ts'
import type {
  Login,
  Phase,
  PhaseReplies,
  PhaseTimings,
  SessionFailure,
  SessionOptions,
  SmtpFailure,
  SmtpSession,
  SmtpSessionFacts,
} from './types.ts'
import { Wire } from './wire.ts'

const EXTENSION = /^([a-z0-9][a-z0-9-]*)(?: +(.*))?$/is

/** Error codes of the TLS library and the network. Other codes concern the certificate. */
const HANDSHAKE_FAULT = /^(?:ERR_SSL_|ECONNRESET|EPIPE|EPROTO)/

/**
 * Failures of the peer or network are returned, not thrown. When a handshake fails, a second connection
 * offers reduced TLS options; when that fails, too, and TLS is `opportunistic`, a third one uses plain text,
 * and `tlsFallback` says why (RFC 7435).
 * @throws on options that no connection can be made with, such as a port out of range
 */
export async function openSession(options: SessionOptions): Promise<SmtpSession | SessionFailure> {
  const { fallbackContext, tickets: _, ...withoutTickets } = options.tls
  const first = await attempt(options, NO_FALLBACK)
  if (!('failure' in first)) return first
  const { failure } = first
  const again =
    fallbackContext && isBrokenHandshake(failure)
      ? await attempt(
          { ...options, tls: { ...withoutTickets, secureContext: fallbackContext } },
          { ...NO_FALLBACK, brokenHandshake: failure },
        )
      : first
  if (!('failure' in again) || !isTlsTrouble(again.failure)) return again
  if (options.tls.mode !== 'opportunistic') return first
  return attempt(
    { ...options, tls: { ...options.tls, mode: 'none' } },
    { ...NO_FALLBACK, tlsFallback: failure },
  )
}

type Fallbacks = Pick<SmtpSessionFacts, 'tlsFallback' | 'brokenHandshake'>

const NO_FALLBACK: Fallbacks = { tlsFallback: null, brokenHandshake: null }

function isBrokenHandshake({ phase, code }: SmtpFailure): boolean {
  return phase === 'tls' && (code === undefined || HANDSHAKE_FAULT.test(code))
}

/** Whether a connection without TLS may succeed. A peer that replies 421 closes for other reasons. */
function isTlsTrouble({ phase, kind, reply }: SmtpFailure): boolean {
  return kind === 'tls' || phase === 'tls' || (phase === 'starttls' && reply?.code !== 421)
}

async function attempt(options: SessionOptions, fallbacks: Fallbacks): Promise<SmtpSession | SessionFailure> {
  const { clock, address, port } = options
  const wire = new Wire(options)
  const opening: Opening = { wire, options, timings: {}, replies: {}, markedAt: clock.monotonic() }
  const opened = await open(opening)
  const { timings, replies } = opening
  const { localAddress } = wire
  if (!isFailure(opened)) {
    const facts: SmtpSessionFacts = {
      ...opened,
      ...fallbacks,
      limits: limitsOf(opened.extensions.get('LIMITS')),
      localAddress,
      peerAddress: address,
      peerPort: port,
      transactionCount: 0,
      openedAt: clock.now(),
      timings,
      replies,
    }
    return new WireSession(wire, facts, options)
  }
  if (opened.kind === 'reply' && opened.reply?.code !== 421 && opened.phase !== 'starttls') void leave(wire)
  else wire.close(opened.message)
  return { failure: opened, tlsFallback: fallbacks.tlsFallback, localAddress, timings, replies }
}

interface Opening {
  wire: Wire
  options: SessionOptions
  timings: PhaseTimings
  replies: PhaseReplies
  markedAt: number
}

type Opened = Pick<SmtpSessionFacts, 'banner' | 'extensions' | 'tls'>

async function open(opening: Opening): Promise<Opened | SmtpFailure> {
  const opened = await secured(opening)
  const { login } = opening.options
  if (isFailure(opened) || !login) return opened
  return (await authenticate(opening, login, opened)) ?? opened
}

/** Opens the session up to the login. */
async function secured(opening: Opening): Promise<Opened | SmtpFailure> {
  const { wire } = opening
  const { mode } = opening.options.tls
  const failure = await wire.connected()
  mark(opening, 'connect')
  if (failure) return failure
  if (mode === 'implicit') {
    const broken = await handshake(opening)
    if (broken) return broken
  }
  const greeting = await answer(opening, 'banner')
  if (isFailure(greeting)) return greeting
  const banner = replyOf(greeting.code, greeting.lines).text
  const extensions = await greet(opening)
  if (isFailure(extensions)) return extensions
  if (mode === 'none') return { banner, extensions, tls: null }
  if (mode === 'implicit') return { banner, extensions, tls: wire.tlsFacts() }
  if (extensions.has('STARTTLS')) {
    const secure = await startTls(opening)
    return isFailure(secure) ? secure : { banner, ...secure }
  }
  if (mode === 'opportunistic') return { banner, extensions, tls: null }
  return { phase: 'starttls', kind: 'tls', reply: null, message: 'the peer does not offer STARTTLS' }
}

/** STARTTLS, the handshake, and a second EHLO, since the first one is void (RFC 3207 §4.2). */
async function startTls(opening: Opening): Promise<Pick<Opened, 'extensions' | 'tls'> | SmtpFailure> {
  const { wire } = opening
  wire.expectTls()
  wire.write('STARTTLS\r\n', 1)
  const reply = await answer(opening, 'starttls')
  if (isFailure(reply)) return reply
  const failure = await handshake(opening)
  if (failure) return failure
  const tls = wire.tlsFacts()
  const extensions = await greet(opening)
  return isFailure(extensions) ? extensions : { extensions, tls }
}

async function handshake(opening: Opening): Promise<SmtpFailure | undefined> {
  const failure = await opening.wire.secure()
  mark(opening, 'tls')
  return failure
}

/** The login is not sent unless the peer has proven its name. */
async function authenticate(
  opening: Opening,
  login: Login,
  { extensions, tls }: Opened,
): Promise<SmtpFailure | undefined> {
  if (!tls?.authorized)
    return {
      phase: 'auth',
      kind: 'tls',
      reply: null,
      message: 'no login without TLS and a name that is proven',
    }
  const { failure, reply } = await logIn(opening.wire, login, extensions.get('AUTH'))
  mark(opening, 'auth')
  if (reply) opening.replies.auth = reply
  return failure
}

/** EHLO, or HELO for a peer that refuses EHLO (RFC 5321 §3.2). */
async function greet(opening: Opening): Promise<ReadonlyMap<string, string> | SmtpFailure> {
  const { wire, options } = opening
  wire.write(`EHLO ${options.localName}\r\n`, 1)
  const ehlo = await answer(opening, 'ehlo')
  if (!isFailure(ehlo)) return extensionsOf(ehlo)
  if (ehlo.kind !== 'reply' || !isPermanent(ehlo.reply!)) return ehlo
  wire.write(`HELO ${options.localName}\r\n`, 1)
  const helo = await answer(opening, 'ehlo')
  return isFailure(helo) ? helo : new Map()
}

function extensionsOf({ lines }: RawReply): Map<string, string> {
  const extensions = new Map<string, string>()
  for (const line of lines.slice(1)) {
    const [, keyword, parameters = ''] = EXTENSION.exec(line) ?? []
    if (keyword !== undefined) extensions.set(keyword.toUpperCase(), cleanText(parameters))
  }
  return extensions
}

/** @returns a positive reply, or the failure */
async function answer(opening: Opening, phase: Phase): Promise<RawReply | SmtpFailure> {
  const { wire } = opening
  const raw = await wire.reply(phase)
  mark(opening, phase)
  if (isFailure(raw)) return raw
  opening.replies[phase] = raw
  if (raw.code < 300) return raw
  const reply = replyOf(raw.code, raw.lines)
  if (raw.code >= 400) return { phase, kind: 'reply', reply, message: formatReply(reply) }
  wire.breach(`the peer answered ${raw.code} in phase ${phase}`)
  return wire.failure(phase)
}

function mark(opening: Opening, phase: Phase) {
  const now = opening.options.clock.monotonic()
  opening.timings[phase] = (opening.timings[phase] ?? 0) + now - opening.markedAt
  opening.markedAt = now
}

function isFailure(value: object | SmtpFailure): value is SmtpFailure {
  return 'kind' in value
}
