/** Listens for HTTP, with limits on what a slow or greedy client can hold. */
import { randomUUID } from 'node:crypto'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type Koa from 'koa'
import type { Certificates, ContextFor } from '../lib/certificates.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { UnderWay } from '../lib/under-way.ts'

export interface HttpServer {
  /** Where it listens, once it does. */
  address(): AddressInfo
  /** Takes no more requests, lets those under way finish, but waits no longer than this for them. */
  close(graceMs: number): Promise<void>
}

const HANDSHAKE_TIMEOUT_MS = 10_000
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 120_000
const CHECK_EVERY_MS = 30_000
const KEEP_ALIVE_MS = 30_000
const MOST_HEADER_BYTES = 16 * 1024

interface ServerOptions {
  host: string
  port: number
  /** Those who may take as long as they like over a request, since somebody else watches over them. */
  isPatientWith?(socket: Duplex): boolean
  /** For all of a request to come; the default serves all but tests. */
  requestTimeoutMs?: number
  /** By which it waits for requests under way when it closes. */
  clock?: Clock
  /** Further ones are closed as they come. */
  mostConnections?: number
}

/** The certificate of most names, and those of others. */
type NamedCertificates = Certificates & { contextFor?: ContextFor }

/** @param certificates for TLS; without them it is plain HTTP @throws when the address is not to be had */
export async function startHttpServer(
  app: Koa,
  {
    host,
    port,
    isPatientWith = () => false,
    requestTimeoutMs = REQUEST_TIMEOUT_MS,
    clock = systemClock,
    mostConnections = 5_000,
  }: ServerOptions,
  certificates?: NamedCertificates,
): Promise<HttpServer> {
  const answer = app.callback()
  const underWay = new UnderWay<ServerResponse>()
  let closing = false
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const number = underWay.put(response)
    response.once('close', () => underWay.drop(number))
    if (closing) sayGoodbye(response)
    answer(request, response)
  }
  const limits = limitsOf(requestTimeoutMs)
  const server = certificates ? secured(certificates, limits, listener) : createServer(limits, listener)
  server.maxConnections = mostConnections
  server.on('checkExpectation', answer)
  server.on('connect', (_, socket) => refuseGarbage(socket))
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    if (code !== 'ERR_HTTP_REQUEST_TIMEOUT' || !isPatientWith(socket)) refuseGarbage(socket, code)
  })
  const silent = silentConnections(server, certificates ? 'secureConnection' : 'connection')
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return {
    address: () => server.address() as AddressInfo,
    async close(graceMs) {
      closing = true
      for (const response of underWay) sayGoodbye(response)
      const cut = clock.timer(graceMs, () => server.closeAllConnections())
      await new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeIdleConnections()
        silent.destroy()
      })
      cut.cancel()
    },
  }
}

function limitsOf(requestTimeoutMs: number) {
  return {
    requireHostHeader: false,
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(CHECK_EVERY_MS, requestTimeoutMs),
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MOST_HEADER_BYTES,
    noDelay: true,
  }
}

/** Browsers open connections before they need them; to the server one that has said nothing is no idle one. */
function silentConnections(server: Server, opened: 'connection' | 'secureConnection') {
  const sockets = new Set<Socket>()
  server.on(opened, (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('request', ({ socket }) => sockets.delete(socket))
  return {
    destroy() {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    },
  }
}

/** With the certificate of the day. */
function secured(
  certificates: NamedCertificates,
  limits: ReturnType<typeof limitsOf>,
  listener: RequestListener,
): SecureServer {
  const { contextFor } = certificates
  const options = { ...limits, ...certificates.current(), minVersion: 'TLSv1.2' as const }
  const server = createSecureServer(
    {
      ...options,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      SNICallback: (name, use) => use(null, contextFor?.(name)),
    },
    listener,
  )
  server.on('tlsClientError', (_, socket) => socket.destroy())
  server.once(
    'close',
    certificates.onChange(pair => server.setSecureContext({ ...pair, minVersion: 'TLSv1.2' })),
  )
  return server
}

/** A client that keeps its connection busy would never find it closed. */
function sayGoodbye(response: ServerResponse) {
  if (!response.headersSent) response.setHeader('connection', 'close')
}

/** What is not HTTP, or exceeds the limits above, never becomes a request; it gets the API's error shape all the same. */
function refuseGarbage(socket: Duplex, code?: string) {
  if (code === 'ECONNRESET' || !socket.writable) return socket.destroy()
  const [status, reason] =
    code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'Request Header Fields Too Large']
      : code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'Request Timeout']
        : [400, 'Bad Request']
  const body = JSON.stringify({ statusCode: status, name: 'validation_error', message: `${reason}.` })
  return socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nx-request-id: ${randomUUID()}\r\n` +
      `content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `connection: close\r\n\r\n${body}`,
  )
}

/** What never ends by itself ends before the door waits for what is under way. */
export function endingFirst<S extends HttpServer>(endless: { close(): void }, http: S): S {
  return {
    ...http,
    close(graceMs) {
      endless.close()
      return http.close(graceMs)
    },
  }
}
