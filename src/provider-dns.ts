/** Builds the DNS parts: the server of the provider zone, and the resolvers that domain checks ask. */
import { isIPv4, isIPv6 } from 'node:net'
import type { Config } from './config/config.ts'
import { dkimRecord } from './dkim/keys.ts'
import { providerRecords } from './dns/provider-zone.ts'
import { createResolver } from './dns/resolver.ts'
import { createDnsServer } from './dns/server.ts'
import { createZone } from './dns/zone.ts'
import type { NamedResolver } from './domains/verify.ts'
import type { Clock } from './lib/clock.ts'
import type { Log } from './lib/log.ts'
import { findPublishedKey } from './store/domains.ts'
import type { Db } from './store/schema.ts'

export interface ProviderDns {
  address: { host: string; port: number } | null
  close(): Promise<void>
}

/** Serves `<mail_host>`: what customers' records point to. */
export async function startProviderDns(config: Config, db: Db, clock: Clock, log: Log): Promise<ProviderDns> {
  const { listen, addresses } = config.dns
  if (!listen) return { address: null, close: async () => {} }
  const { mailHost } = config
  const records = providerRecords({
    mailHost,
    nameServers: [`ns1.${mailHost}`, `ns2.${mailHost}`],
    addresses4: addresses.filter(isIPv4),
    addresses6: addresses.filter(isIPv6),
    regions: Object.keys(config.regions),
    simulatorDomain: config.simulator.domain,
    serial: Math.floor(clock.now() / 1000),
  })
  const zone = createZone({
    apex: mailHost,
    records,
    async dkim(token) {
      const key = await findPublishedKey(db, token)
      return key && dkimRecord(key.algorithm, key.publicKey)
    },
  })
  const server = createDnsServer({ listen, zone, log, clock })
  const { port } = await server.listen()
  return { address: { host: listen.host, port }, close: () => server.close() }
}

/** One resolver a server, so that a check can tell who sees a record already. */
export function verifyingResolvers(
  servers: readonly string[],
  clock: Clock,
): { resolvers: NamedResolver[]; close(): void } {
  const resolvers = servers.map(server => ({
    server,
    resolver: createResolver({ servers: [server], clock }),
  }))
  return {
    resolvers,
    close() {
      for (const { resolver } of resolvers) resolver.close()
    },
  }
}
