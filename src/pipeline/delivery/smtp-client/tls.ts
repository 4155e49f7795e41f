/**
 * The TLS side of a session: the shared context, the handshake over an open connection, and what came of it.
 */
import { isIP, type Socket } from 'node:net'
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls'
import type { Ticket } from './tickets.ts'
import type { SessionOptions, TlsFacts } from './types.ts'

/**
 * TLS 1.2 and later. One is enough for all sessions.
 * @param authorities PEM of those to trust; the runtime's when absent
 */
export function createClientContext(authorities?: string[]): SecureContext {
  return createSecureContext({ minVersion: 'TLSv1.2', ...(authorities && { ca: authorities }) })
}

/** What servers from before TLS 1.3 know. */
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
 * TLS 1.2 and little choice, in a greeting that fits into one segment: for servers, and boxes before them,
 * that stumble over what is new or long.
 * @param authorities as above
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
 * Begins a handshake over `socket`, which is from now on read and written through the result alone.
 * @param ticket of a former session with the host, to be resumed
 */
export function startTls(socket: Socket, options: SessionOptions, ticket: Ticket | undefined): TLSSocket {
  const { mxHost, secureContext, rejectUnauthorized = false, checkServerIdentity, tickets } = options
  const secured = connect({
    socket,
    minVersion: 'TLSv1.2',
    rejectUnauthorized,
    ...(isIP(mxHost) === 0 ? { servername: mxHost } : { host: mxHost }),
    ...(secureContext && { secureContext }),
    ...(checkServerIdentity && { checkServerIdentity }),
    ...(ticket && { session: ticket.session }),
  })
  if (tickets) keepTickets(secured, ticket, next => tickets.give(mxHost, next))
  return secured
}

/** A ticket may come before the handshake is over, and before it is known what the certificate is worth. */
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

/**
 * @param former the ticket that was offered: where it was taken, the certificate is as good as it was then
 */
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
 * An error of TLS for people who do not run the program: without its advice, and without the places in
 * OpenSSL.
 */
export function tlsErrorText(error: NodeJS.ErrnoException & { reason?: string }): string {
  const { code = '', reason, message } = error
  if (code.startsWith('ERR_SSL_') && reason !== undefined) return `TLS broke: ${reason}`
  return message.replace(/; if the root CA is installed locally.*/s, '')
}
