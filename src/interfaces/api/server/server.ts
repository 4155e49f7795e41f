/** Listens for HTTP, with limits on what a slow or greedy client can hold. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type Koa from 'koa'
import type { Certificates, ContextFor } from '../../../lib/certificates.ts'
import { type Clock, systemClock } from '../../../lib/clock.ts'
import { answerInTurn, guardConnections } from './connection-guard.ts'
import { Connections } from './connections.ts'

export interface HttpServer {
  /** Where it listens, once it does. */
  address(): AddressInfo
  /** Of those that are open. */
  connectionCount(): number
  /** Takes no more requests, lets those under way finish, but waits no longer than this for them. */
  close(graceMs: number): Promise<void>
}

const KEEP_ALIVE_MS = 30_000
const HEADER_BYTES_MAX = 16 * 1024

interface ServerOptions {
  host: string
  port: number
  /** Of all limits on time but that of idle connections. */
  clock?: Clock
  /** When there are more, those that are not at work make room; see `connections.ts`. */
  mostConnections?: number
  /** Number of connections of one client network (an IPv4 address, an IPv6 /56). */
  mostPerClient?: number
  /** Addresses or CIDR ranges to which `mostPerClient` does not apply. */
  trustedProxies?: readonly string[]
  /** Headers of replies to input that never became a request. */
  headers?: Readonly<Record<string, string>>
}

/** The certificate of most names, and those of others. */
type NamedCertificates = Certificates & { contextFor?: ContextFor }

/** @param certificates for TLS; without them it is plain HTTP @throws when the address is not to be had */
export async function startHttpServer(
  app: Koa,
  {
    host,
    port,
    clock = systemClock,
    mostConnections = 5_000,
    mostPerClient = mostConnections,
    trustedProxies = [],
    headers = {},
  }: ServerOptions,
  certificates?: NamedCertificates,
): Promise<HttpServer> {
  const connections = new Connections({ mostConnections, mostPerClient, trustedProxies })
  const answer = app.callback()
  let closing = false
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    if (closing) sayGoodbye(response)
    answerInTurn(request, response, answer)
  }
  const server = certificates ? secured(certificates, listener) : createServer(LIMITS, listener)
  server.on('checkExpectation', listener)
  guardConnections(server, connections, { clock, headers, isSecure: certificates !== undefined })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return {
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
        // those that Node does not count as idle
        for (const connection of connections) if (connection.isUnused) connection.destroy()
      })
      cut.cancel()
    },
  }
}

/** Node's own limits on time are off: `connection-watch.ts` has ours. */
const LIMITS = {
  requireHostHeader: false,
  headersTimeout: 0,
  requestTimeout: 0,
  keepAliveTimeout: KEEP_ALIVE_MS,
  maxHeaderSize: HEADER_BYTES_MAX,
  noDelay: true,
}

/** Creates a TLS server that always uses the current certificate. */
function secured(certificates: NamedCertificates, listener: RequestListener): SecureServer {
  const { contextFor } = certificates
  const options = { ...LIMITS, ...certificates.current(), minVersion: 'TLSv1.2' as const }
  const server = createSecureServer(
    {
      ...options,
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
