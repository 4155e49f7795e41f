/** Binds a mail listener to its address and keeps its TLS certificate current. */
import type { AddressInfo } from 'node:net'
import type { Certificates } from '../../lib/certificates.ts'
import type { Log } from '../../lib/log.ts'
import type { StrictSmtpServer } from './smtp-server.ts'

export interface Listening {
  address(): AddressInfo
  /** Stops accepting connections, and ends open ones after a short delay. */
  close(): Promise<void>
}

interface ListeningOptions {
  listen: { host: string; port: number }
  certificates: Certificates
  log: Log
}

/**
 * @param name name of the listener in the log
 * @throws Error when the address cannot be bound
 */
export async function startListening(
  server: StrictSmtpServer,
  name: string,
  { listen, certificates, log }: ListeningOptions,
): Promise<Listening> {
  server.on('error', error =>
    log.debug({ event: 'smtp_connection_failed', err: error }, `A connection to the ${name} listener failed`),
  )
  const stopFollowing = certificates.onChange(pair => server.updateSecureContext(pair))
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject)
    server.listen(listen.port, listen.host, resolve)
  })
  return {
    address: () => server.server.address() as AddressInfo,
    close() {
      stopFollowing()
      return new Promise(resolve => server.close(() => resolve()))
    },
  }
}
