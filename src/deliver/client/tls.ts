/** The TLS side of a session: the shared context, the handshake over an open connection, and what came of it. */
import { isIP, type Socket } from 'node:net'
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls'
import type { SessionOptions, TlsFacts } from './types.ts'

/** TLS 1.2 and later with the system's trust anchors. One is enough for all sessions. */
export function createClientContext(): SecureContext {
  return createSecureContext({ minVersion: 'TLSv1.2' })
}

/** Begins a handshake over `socket`, which is from now on read and written through the result alone. */
export function startTls(socket: Socket, options: SessionOptions): TLSSocket {
  const { mxHost, secureContext, rejectUnauthorized = false, checkServerIdentity } = options
  return connect({
    socket,
    minVersion: 'TLSv1.2',
    rejectUnauthorized,
    ...(isIP(mxHost) === 0 && { servername: mxHost }),
    ...(secureContext && { secureContext }),
    ...(checkServerIdentity && { checkServerIdentity }),
  })
}

export function tlsFactsOf(socket: TLSSocket): TlsFacts {
  return {
    protocol: socket.getProtocol() ?? '',
    cipher: socket.getCipher().name,
    authorized: socket.authorized,
    unauthorizedReason: socket.authorized ? null : String(socket.authorizationError),
  }
}
