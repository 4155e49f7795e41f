/** TLS side of a session: secure contexts, the handshake on an open connection, and its result. */
import { isIP, type Socket } from 'node:net'
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls'
import type { Ticket } from './tickets.ts'
import type { SessionOptions, TlsFacts } from './types.ts'

/**
 * Accepts TLS 1.2 and later. One context serves all sessions.
 * @param authorities PEM certificates to trust; the runtime's when absent
 */
export function createClientContext(authorities?: string[]): SecureContext {
  return createSecureContext({ minVersion: 'TLSv1.2', ...(authorities && { ca: authorities }) })
}

/** Ciphers that servers without TLS 1.3 know. */
const REDUCED_CIPHERS = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'DHE-RSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-SHA',
  'AES128-GCM-SHA256',
  'AES128-SHA',
]

/**
 * Accepts TLS 1.2 only, with few options and a ClientHello that fits into one segment, for servers and
 * middleboxes that fail on new or long ones.
 * @param authorities PEM certificates to trust; the runtime's when absent
 */
export function createReducedContext(authorities?: string[]): SecureContext {
  return createSecureContext({
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.2',
    ciphers: REDUCED_CIPHERS.join(':'),
    ecdhCurve: 'prime256v1:secp384r1',
    ...(authorities && { ca: authorities }),
  })
}

/**
 * Starts a handshake on `socket`, which must be used through the result from now on.
 * @param ticket of a previous session with the host
 */
export function startTls(socket: Socket, options: SessionOptions, ticket: Ticket | undefined): TLSSocket {
  const { mxHost } = options
  const { serverName = mxHost, secureContext, checkServerIdentity, tickets } = options.tls
  const { rejectUnauthorized = false } = options.tls
  const secured = connect({
    socket,
    minVersion: 'TLSv1.2',
    rejectUnauthorized,
    ...(isIP(serverName) === 0 ? { servername: serverName } : { host: serverName }),
    ...(secureContext && { secureContext }),
    ...(checkServerIdentity && { checkServerIdentity }),
    ...(ticket && { session: ticket.session }),
  })
  if (tickets) keepTickets(secured, ticket, next => tickets.give(mxHost, next))
  return secured
}

/**
 * A ticket may arrive before the handshake is complete, when the validity of the certificate is not known
 * yet.
 */
function keepTickets(socket: TLSSocket, former: Ticket | undefined, keep: (ticket: Ticket) => void) {
  let latest: Buffer | undefined
  let established = false
  const tryToKeep = () => {
    if (established && latest)
      keep({ session: latest, unauthorizedReason: tlsFactsOf(socket, former).unauthorizedReason })
  }
  socket.on('session', session => {
    latest = session
    tryToKeep()
  })
  socket.once('secureConnect', () => {
    established = true
    tryToKeep()
  })
}

/** @param former the ticket that was offered; a resumed session keeps the result of its verification */
export function tlsFactsOf(socket: TLSSocket, former: Ticket | undefined): TlsFacts {
  const resumed = former !== undefined && socket.isSessionReused()
  const reason = socket.authorized ? null : String(socket.authorizationError)
  const unauthorizedReason = resumed ? former.unauthorizedReason : reason
  return {
    protocol: socket.getProtocol() ?? '',
    cipher: socket.getCipher().name,
    authorized: unauthorizedReason === null,
    unauthorizedReason,
  }
}

/**
 * Returns the text of a TLS error for users: without OpenSSL's source positions and without advice for
 * administrators.
 */
export function tlsErrorText(error: NodeJS.ErrnoException & { reason?: string }): string {
  const { code = '', reason, message } = error
  if (code.startsWith('ERR_SSL_') && reason !== undefined) return `TLS broke: ${reason}`
  return message.replace(/; if the root CA is installed locally.*/s, '')
}
