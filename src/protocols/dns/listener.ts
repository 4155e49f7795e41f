/**
 * DNS listener on one address, over UDP and TCP (RFC 7766 §5). It passes packets to `respond` and sends its
 * replies.
 */
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { createTcpService } from './listener-tcp.ts'
import { openUdpService, type UdpService } from './listener-udp.ts'

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
  /** Addresses of this host, by default those of its interfaces. */
  hostAddresses?: (() => readonly string[]) | undefined
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

const EPHEMERAL_PORT_TRIES = 10

export function createDnsListener({
  listen,
  respond,
  hostAddresses,
  log,
  clock,
}: ListenerOptions): DnsListener {
  const tcp = createTcpService({ respond: (query, address) => respond(query, 'tcp', address), log, clock })
  let udp: UdpService | undefined

  const bind = async (port: number) => {
    const bound = await tcp.listen(listen.host, port)
    try {
      udp = await openUdpService({
        host: listen.host,
        port: bound,
        respond: (query, address) => respond(query, 'udp', address),
        hostAddresses,
        log,
        clock,
      })
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

function isAddressInUse(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}
