/**
 * DNS listener on one address, over UDP and TCP (RFC 7766 §5). It passes packets to `respond` and sends its
 * replies.
 */
import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { createTcpService } from './listener-tcp.ts'

export type Transport = 'udp' | 'tcp'

/**
 * Returns the reply packet, or undefined for no reply. It must neither throw nor reject.
 * @param address IP address of the client, which may be forged over UDP
 */
export type Respond = (
  query: Buffer,
  transport: Transport,
  address: string,
) => Buffer | undefined | Promise<Buffer | undefined>

interface ListenerOptions {
  /** An IP literal, and a port; 0 selects a free port. */
  listen: { host: string; port: number }
  respond: Respond
  log: Log
  clock: Clock
}

export interface DnsListener {
  /**
   * Binds both transports to one port.
   * @throws the error of binding; no socket stays open then
   */
  listen(): Promise<{ port: number }>
  close(): Promise<void>
}

/**
 * Limit for datagrams whose answers are being looked up. Further datagrams are dropped, and their senders
 * retry.
 */
const PENDING_DATAGRAMS_MAX = 1_000
const EPHEMERAL_PORT_TRIES = 10

export function createDnsListener({ listen, respond, log, clock }: ListenerOptions): DnsListener {
  const tcp = createTcpService({ respond: (query, address) => respond(query, 'tcp', address), log, clock })
  let udp: UdpService | undefined

  const bind = async (port: number) => {
    const bound = await tcp.listen(listen.host, port)
    try {
      udp = await openUdp(listen.host, bound, respond, log)
    } catch (error) {
      await tcp.close()
      throw error
    }
    return bound
  }

  return {
    async listen() {
      for (let attempt = 1; ; attempt++) {
        try {
          return { port: await bind(listen.port) }
        } catch (error) {
          const mayTryAnother = listen.port === 0 && attempt < EPHEMERAL_PORT_TRIES
          if (!mayTryAnother || !isAddressInUse(error)) throw error
        }
      }
    },
    async close() {
      const service = udp
      udp = undefined
      await service?.close()
      await tcp.close()
    },
  }
}

interface UdpService {
  /** Replies that are ready later are not sent. */
  close(): Promise<void>
}

async function openUdp(host: string, port: number, respond: Respond, log: Log): Promise<UdpService> {
  const socket = dgram.createSocket({ type: net.isIPv6(host) ? 'udp6' : 'udp4', ipv6Only: net.isIPv6(host) })
  let open = true
  let pending = 0
  socket.bind(port, host)
  await once(socket, 'listening').catch(error => {
    socket.close()
    throw error
  })
  socket.on('error', error =>
    log.warn({ event: 'dns_udp_listener_failed', err: error }, 'The DNS listener failed (UDP)'),
  )

  const send = (reply: Buffer | undefined, peer: dgram.RemoteInfo) => {
    if (!reply || !open) return
    socket.send(reply, peer.port, peer.address, error => {
      if (error) log.debug({ event: 'dns_reply_not_sent', err: error }, 'A DNS reply could not be sent')
    })
  }
  socket.on('message', (query, peer) => {
    // A datagram from port 0 is forged and cannot be answered.
    if (peer.port === 0) return
    if (pending >= PENDING_DATAGRAMS_MAX) return
    const reply = respond(query, 'udp', peer.address)
    if (!(reply instanceof Promise)) return send(reply, peer)
    pending++
    void reply.then(ready => {
      pending--
      send(ready, peer)
    })
  })
  return {
    close() {
      open = false
      return new Promise(done => socket.close(done))
    },
  }
}

function isAddressInUse(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}
