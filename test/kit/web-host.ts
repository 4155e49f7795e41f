/**
 * A web server on loopback that does what a test tells it, over TLS with the test certificates or without it.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { type CertificateName, testCertificate } from './tls.ts'

export interface WebRequest {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: Buffer
  /** Server name that the client sent in its handshake (SNI). */
  serverName: string | false | null | undefined
  localAddress: string
}

export interface WebHost {
  port: number
  /** Every request that has come in whole, oldest first. */
  requests: WebRequest[]
  /** Connections opened so far. */
  readonly connectionCount: number
  /** Connections open now. */
  readonly openCount: number
  /** Closes connections that have no request under way. */
  closeIdle(): void
  close(): Promise<void>
}

export interface WebHostOptions {
  host?: string
  /** Null for plain HTTP. */
  certificate?: CertificateName | null
  answer?(request: WebRequest, response: ServerResponse, socket: Socket): void
}

export async function startWebHost({
  host = '127.0.0.1',
  certificate = 'good',
  answer = (_, response) => void response.end('hello'),
}: WebHostOptions = {}): Promise<WebHost> {
  const requests: WebRequest[] = []
  const open = new Set<Socket>()
  let connectionCount = 0
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const pieces = await request.toArray().catch(() => undefined)
    if (!pieces) return // the client is gone
    const body = Buffer.concat(pieces)
    const socket = request.socket as Socket & { servername?: string | false | null }
    const { method = '', url: path = '', headers } = request
    const known = {
      method,
      path,
      headers,
      body,
      serverName: socket.servername,
      localAddress: socket.localAddress!,
    }
    requests.push(known)
    answer(known, response, socket)
  }
  const server: Server =
    certificate === null
      ? createServer(handle)
      : createSecureServer({ ...testCertificate(certificate), keepAliveTimeout: 60_000 }, handle)
  server.on('connection', socket => {
    connectionCount++
    open.add(socket)
    socket.on('close', () => open.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(0, host, resolve))
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    get connectionCount() {
      return connectionCount
    },
    get openCount() {
      return open.size
    },
    closeIdle: () => server.closeIdleConnections(),
    async close() {
      await new Promise<void>(resolve => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      })
    },
  }
}
