/** Builds the DNS parts: the server of the provider zone, and the resolvers that look for keys in it. */
import { isIPv4, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Config } from './config/config.ts'
import { isGlobalUnicast } from './dns/address-safety.ts'
import { createKeyTexts } from './dns/key-texts.ts'
import type { DnsListener } from './dns/listener.ts'
import { providerRecords } from './dns/provider-zone.ts'
import { parseRecord } from './dns/record-text.ts'
import { createResolver } from './dns/resolver.ts'
import { createResponseRate } from './dns/response-rate.ts'
import { createDnsServer } from './dns/server.ts'
import type { DnsRecord } from './dns/wire.ts'
import { createZone } from './dns/zone.ts'
import { keyText } from './domains/key-text.ts'
import type { NamedResolver } from './domains/key-visibility.ts'
import type { Clock } from './lib/clock.ts'
import type { Parts } from './parts.ts'
import { MISSED } from './store/command.ts'
import { DKIM_KEYS_CHANGED, findPublishedKey } from './store/domains.ts'

export interface ProviderDns {
  /** The first of them; null where the zone is not served. */
  address: { host: string; port: number } | null
  close(): Promise<void>
}

/** Serves `<mail_host>`: what customers' records point to. */
export async function startProviderDns({
  config,
  store,
  clock,
  log,
}: Pick<Parts, 'config' | 'store' | 'clock' | 'log'>): Promise<ProviderDns> {
  const { mailHost, dns } = config
  if (dns.listen.length === 0) return { address: null, close: async () => {} }
  const records = zoneRecords(config, clock.now())
  if (!records.some(({ type }) => type === 'A' || type === 'AAAA'))
    log.warn(
      { mailHost },
      'the provider zone has no address: this host has no public one, and dns.addresses is not set',
    )
  const keys = createKeyTexts({
    clock,
    async find(token) {
      const key = await findPublishedKey(store.find, token)
      return key && keyText(key)
    },
  })
  store.on(DKIM_KEYS_CHANGED, keys.forget)
  store.on(MISSED, keys.forget)
  const zone = createZone({ apex: mailHost, records, dkim: keys.textOf })
  const perSecond = dns.responsesPerSecond
  const rate = perSecond === 0 ? undefined : createResponseRate({ clock, perSecond })
  const servers: DnsListener[] = []
  const close = async () => {
    await Promise.all(servers.map(server => server.close()))
  }
  try {
    const ports: number[] = []
    for (const listen of dns.listen) {
      const server = createDnsServer({ listen, zone, rate, log, clock })
      ports.push((await server.listen()).port)
      servers.push(server)
    }
    return { address: { host: dns.listen[0]!.host, port: ports[0]! }, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The records of the provider zone, but for the keys of domains. @throws RecordFault */
export function zoneRecords(config: Config, now: number): DnsRecord[] {
  const { mailHost, dns, delivery, regions, simulator } = config
  const addresses = dns.addresses.length > 0 ? dns.addresses : publicAddresses()
  const sources = delivery.sourceIps.filter(({ address }) => isGlobalUnicast(address))
  const sending = [...new Set([...addresses, ...sources.map(({ address }) => address)])]
  return providerRecords({
    mailHost,
    nameServers: dns.nameServers.length > 0 ? dns.nameServers : [`ns1.${mailHost}`, `ns2.${mailHost}`],
    addresses4: addresses.filter(isIPv4),
    addresses6: addresses.filter(isIPv6),
    sendingAddresses4: sending.filter(isIPv4),
    sendingAddresses6: sending.filter(isIPv6),
    greetings: sources.flatMap(({ address, name }) => (name === null ? [] : { name, address })),
    regions: Object.keys(regions),
    simulatorDomain: simulator.domain,
    reportsTo: dns.reportsTo,
    own: dns.records.map(line => parseRecord(line, mailHost)),
    serial: Math.floor(now / 1_000),
  })
}

/** As the interfaces of this host have them: none where it is behind a translator of addresses. */
function publicAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap(entries => entries ?? [])
  return all.map(({ address }) => address).filter(isGlobalUnicast)
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
