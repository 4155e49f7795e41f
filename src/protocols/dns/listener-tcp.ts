/**
 * TCP part of a DNS listener. Pipelined queries are answered in order, on few and short-lived connections.
 */
import { once } from 'node:events'
import net from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { Clock, Timer } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { joinSmallReads } from '../../lib/small-reads.ts'
import { frame, readFrames } from './frames.ts'
import { netblockOf } from './netblock.ts'

interface TcpServiceOptions {
  /** Returns the reply packet, or undefined for no reply. It must neither throw nor reject. */
  respond(query: Buffer, address: string): Buffer | undefined | Promise<Buffer | undefined>
  log: Log
  clock: Clock
}

interface TcpService {
  /** @returns the bound port */
  listen(host: string, port: number): Promise<number>
  close(): Promise<void>
}

/**
 * Time limit since the last complete query. Single octets do not extend it, so they cannot keep a connection
 * (RFC 7766 §6.2.3).
 */
const IDLE_MS = 10_000
const CONNECTIONS_MAX = 100
const QUERY_BYTES_MAX = 4_096
/** Pipelined queries that are answered before other connections and datagrams get their turn. */
const QUERIES_PER_TURN = 8

export function createTcpService(options: TcpServiceOptions): TcpService {
  /** Connections with their client networks, least recently used first. */
  const connections = new Map<net.Socket, string>()
  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, socket => {
    const network = netblockOf(socket.remoteAddress ?? '')
    connections.set(socket, network)
    socket.once('close', () => connections.delete(socket))
    if (connections.size > CONNECTIONS_MAX) idlestOfMost(connections).destroy()
    void serve(socket, options, () => {
      if (connections.delete(socket)) connections.set(socket, network)
    })
  })

  return {
    async listen(host, port) {
      server.listen({ port, host, ipv6Only: net.isIPv6(host) })
      await once(server, 'listening')
      server.on('error', error =>
        options.log.warn({ event: 'dns_tcp_listener_failed', err: error }, 'The DNS listener failed (TCP)'),
      )
      return (server.address() as net.AddressInfo).port
    },
    async close() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      for (const socket of connections.keys()) socket.destroy()
      await closed
    },
  }
}

/** Selects the least recently used connection of the network that has the most connections. */
function idlestOfMost(connections: ReadonlyMap<net.Socket, string>): net.Socket {
  const counts = new Map<string, number>()
  for (const network of connections.values()) counts.set(network, (counts.get(network) ?? 0) + 1)
  const max = Math.max(...counts.values())
  for (const [socket, network] of connections) if (counts.get(network) === max) return socket
  throw new Error('there is no connection')
}

async function serve(socket: net.Socket, { respond, log, clock }: TcpServiceOptions, used: () => void) {
  const address = socket.remoteAddress ?? ''
  joinSmallReads(socket)
  let answeredCount = 0
  let idle: Timer | undefined
  const rearm = () => {
    idle?.cancel()
    idle = clock.timer(IDLE_MS, () => socket.destroy())
  }
  socket.once('close', () => idle?.cancel())
  rearm()
  try {
    for await (const query of readFrames(socket, QUERY_BYTES_MAX)) {
      if (socket.destroyed) return
      rearm()
      used()
      const reply = await respond(query, address)
      if (reply && !socket.destroyed && !socket.write(frame(reply))) await drained(socket)
      if (++answeredCount % QUERIES_PER_TURN === 0) await turn()
    }
    socket.end()
  } catch (error) {
    log.debug({ event: 'dns_tcp_connection_failed', err: error }, 'A DNS connection failed (TCP)')
    socket.destroy()
  }
}

/** Resolves when the socket is writable again or closed. */
function drained(socket: net.Socket): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      socket.off('drain', done)
      socket.off('close', done)
      resolve()
    }
    socket.on('drain', done)
    socket.on('close', done)
  })
}
