/**
 * Starts HTTP and HTTPS listeners, with limits on connections, time and header size. In: TCP connections.
 * Out: requests for the listener that `app.ts` in this folder creates. Called by `app/http.ts`.
 */
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type Koa from 'koa'
import { type Certificates, type ContextFor, STRICT_TLS } from '../../../lib/certificates.ts'
import { type Clock, systemClock } from '../../../lib/clock.ts'
import { expectContinue } from '../body/expectation.ts'
import { answerInTurn, guardConnections } from './connection-guard.ts'
import { Connections } from './connections.ts'
import { ReceivedRequest } from './received-request.ts'

export interface HttpServer {
  /** Answers requests with the application. Requests that have arrived before wait for it. */
  serve(app: Koa): void
  /** Returns the address after the listener has started. */
  address(): AddressInfo
  /** Returns the number of open connections. */
  connectionCount(): number
  /** Stops accepting requests, and waits at most this long for those in progress. */
  close(graceMs: number): Promise<void>
}

const KEEP_ALIVE_MS = 30_000
const HEADER_BYTES_MAX = 16 * 1024
/**
 * Input of a paused connection, or of a request that nobody reads. A read of at most 64 KB may exceed it.
 */
const BUFFERED_BYTES = 16 * 1024

export interface ServerOptions {
  host: string
  port: number
  /** Clock of all time limits except the keep-alive limit. */
  clock?: Clock
  /** Maximum number of connections. Above it, idle connections are closed (see `connections.ts`). */
  maxConnections?: number
  /** Maximum number of connections of one client network (an IPv4 address or an IPv6 /56). */
  maxPerClient?: number
  /**
   * Addresses or CIDR ranges to which `maxPerClient` does not apply, and whose PROXY headers are taken for
   * true.
   */
  trustedProxies?: readonly string[]
  /** Called when a connection could not be accepted, for example for lack of file descriptors. */
  onError?: (error: Error) => void
  /** Headers of replies to input that is not a valid request. */
  headers?: Readonly<Record<string, string>>
}

type Listener = RequestListener<typeof ReceivedRequest>

/** Default certificate, and certificates by host name. */
type NamedCertificates = Certificates & { contextFor?: ContextFor }

/** Binds a listener and serves the application, see `bindHttpServer`. */
export async function startHttpServer(
  app: Koa,
  options: ServerOptions,
  certificates?: NamedCertificates,
): Promise<HttpServer> {
  const server = await bindHttpServer(options, certificates)
  server.serve(app)
  return server
}

/**
 * Binds a listener, so that its address is known before the application is built.
 * @param certificates certificates for TLS; without them the listener is plain HTTP
 * @throws if the address cannot be bound
 */
export async function bindHttpServer(
  {
    host,
    port,
    clock = systemClock,
    maxConnections = 5_000,
    maxPerClient = maxConnections,
    trustedProxies = [],
    headers = {},
    onError = () => {},
  }: ServerOptions,
  certificates?: NamedCertificates,
): Promise<HttpServer> {
  const connections = new Connections({ maxConnections, maxPerClient, trustedProxies })
  const serving = Promise.withResolvers<void>()
  let answer: RequestListener = async (request, response) => {
    await serving.promise
    answer(request, response)
  }
  let closing = false
  const listener: Listener = (request, response) => {
    if (closing) sayGoodbye(response)
    answerInTurn(request, response, answer)
  }
  const server = certificates
    ? secured(certificates, listener)
    : createServer<typeof ReceivedRequest>(LIMITS, listener)
  allowHalfOpen(server)
  server.on('checkExpectation', listener)
  server.on('checkContinue', (request, response) => {
    expectContinue(request, response)
    listener(request, response)
  })
  guardConnections(server, connections, { clock, headers, isSecure: certificates !== undefined })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, backlog: BACKLOG }, resolve)
  })
  server.on('error', onError)
  return {
    serve(app) {
      answer = app.callback()
      serving.resolve()
    },
    address: () => server.address() as AddressInfo,
    connectionCount: () => connections.size,
    async close(graceMs) {
      closing = true
      for (const { reply } of connections) if (reply) sayGoodbye(reply)
      const destroyAll = () => {
        for (const connection of connections) connection.destroy()
      }
      const cut = clock.timer(graceMs, destroyAll)
      await new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeIdleConnections()
        // connections that Node does not count as idle
        for (const connection of connections) if (connection.isUnused) connection.destroy()
      })
      cut.cancel()
    },
  }
}

/**
 * Connections that may wait to be accepted. When the queue is full, clients try again only after a second or
 * more.
 */
const BACKLOG = 4_096

/** Time limits of Node are off, because `connection-watch.ts` enforces ours. */
const LIMITS = {
  IncomingMessage: ReceivedRequest,
  highWaterMark: BUFFERED_BYTES,
  requireHostHeader: false,
  headersTimeout: 0,
  requestTimeout: 0,
  keepAliveTimeout: KEEP_ALIVE_MS,
  maxHeaderSize: HEADER_BYTES_MAX,
  noDelay: true,
}

/**
 * Sends the replies that are due to a client that has closed its side after its requests, which the types of
 * Node do not mention. Otherwise an email would be sent, and its sender would get no reply.
 */
function allowHalfOpen(server: object) {
  Object.assign(server, { httpAllowHalfOpen: true })
}

/** Creates a TLS server that always uses the current certificate. */
function secured(certificates: NamedCertificates, listener: Listener) {
  const { contextFor } = certificates
  const options = { ...LIMITS, ...certificates.current(), ...STRICT_TLS }
  const server = createSecureServer<typeof ReceivedRequest>(
    {
      ...options,
      SNICallback: (name, use) => use(null, contextFor?.(name)),
    },
    listener,
  )
  server.on('tlsClientError', (_, socket) => socket.destroy())
  server.once(
    'close',
    certificates.onChange(pair => server.setSecureContext({ ...pair, ...STRICT_TLS })),
  )
  return server
}

/**
 * Ends keep-alive, since a client with back-to-back requests would never see its connection closed while
 * idle.
 */
function sayGoodbye(response: ServerResponse) {
  if (!response.headersSent) response.setHeader('connection', 'close')
}

/** Returns a server that closes endless streams before it waits for requests in progress. */
export function endingFirst<S extends HttpServer>(endless: { close(): void }, http: S): S {
  return {
    ...http,
    close(graceMs) {
      endless.close()
      return http.close(graceMs)
    },
  }
}
