/**
 * Builds the DNS parts: the server of the provider zone, and the resolvers that verify published keys. Part
 * of the composition root.
 */
import { hash } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import type { Config } from '../config/config.ts'
import type { ClockSeat } from '../lib/adjustable-clock.ts'
import type { Clock } from '../lib/clock.ts'
import { QUIET_THREAD } from '../lib/thread-memory.ts'
import { SupervisedWorker } from '../lib/worker.ts'
import { isGlobalUnicast } from '../protocols/dns/address-safety.ts'
import { danglingAliases, providerRecords } from '../protocols/dns/provider-zone.ts'
import { parseRecord } from '../protocols/dns/record-text.ts'
import { createResolver } from '../protocols/dns/resolver.ts'
import type { DnsRecord } from '../protocols/dns/wire.ts'
import type { NamedResolver } from '../resources/domains/key-visibility.ts'
import { OWN_POLICY_MODES, type OwnPolicy, ownPolicy } from '../resources/domains/own-policy.ts'
import type { DnsReady, DnsThreadData } from '../workers/dns.ts'
import { certificateNames } from './certificates.ts'
import type { AppContext } from './context.ts'

interface ProviderDns {
  /** Address of the first listener; null when the zone is not served. */
  address: { host: string; port: number } | null
  close(): Promise<void>
}

interface ProviderDnsOptions extends Pick<AppContext, 'config' | 'store' | 'clock' | 'log'> {
  entry: URL
  /** Handle of the test clock for the worker; null with the system clock. */
  clockSeat: ClockSeat | null
}

/**
 * Starts the DNS worker, which serves the zone `<mail_host>` that records of customers point to.
 * @throws when a listener cannot be bound
 */
export async function startProviderDns(options: ProviderDnsOptions): Promise<ProviderDns> {
  const { config, store, clock, log } = options
  const { listen } = config.dns
  const records = zoneRecords(config, 0)
  await store.run('noteZoneRecords', {
    digest: hash('sha256', JSON.stringify(records), 'hex'),
    now: clock.now(),
  })
  const [first] = listen
  if (!first) return { address: null, close: async () => {} }
  if (!records.some(({ type }) => type === 'A' || type === 'AAAA'))
    log.warn(
      { event: 'dns_zone_without_address', mail_host: config.mailHost },
      'The provider zone has no address record: this host has no public address and `dns.addresses` is not set',
    )
  for (const { name, target } of danglingAliases(records, config.mailHost))
    log.warn(
      { event: 'dns_alias_target_missing', name, target },
      'A CNAME record of `dns.records` leads to a name of the provider zone that does not exist',
    )
  let bound = listen
  const worker = new SupervisedWorker({
    name: 'dns',
    entry: options.entry,
    limits: QUIET_THREAD,
    open: () => threadData(options, records, bound),
    clock,
    log,
  })
  const { ports } = (await worker.start().catch(async error => {
    await worker.stop()
    throw error
  })) as DnsReady
  bound = listen.map(({ host }, at) => ({ host, port: ports[at]! }))
  return {
    address: { host: first.host, port: ports[0]! },
    async close() {
      await worker.stop()
    },
  }
}

function threadData(
  { config, store, clockSeat }: ProviderDnsOptions,
  records: readonly DnsRecord[],
  listen: DnsThreadData['listen'],
) {
  const writer = store.connectThread()
  const data: DnsThreadData = {
    listen,
    records,
    writer,
    clockSeat,
    location: store.location,
    policies: withPolicies(config, records),
    provenNames: config.acme.enabled ? certificateNames(config) : [],
    mailHost: config.mailHost,
    responsesPerSecond: config.dns.responsesPerSecond,
    logLevel: config.log.level,
  }
  return { data, transfer: [writer] }
}

/**
 * Records of the provider zone, without the keys of domains.
 * @param serial serial of the SOA record; 0 where it does not matter
 * @param mtaStsId id of the published MTA-STS policy
 * @throws RecordFault
 */
export function zoneRecords(config: Config, serial: number, mtaStsId?: string): DnsRecord[] {
  const { mailHost, dns, delivery, regions, simulator } = config
  const addresses = dns.addresses.length > 0 ? dns.addresses : interfaceAddresses().filter(isGlobalUnicast)
  const sources = delivery.sourceIps.filter(({ address }) => isGlobalUnicast(address))
  const sending = [...new Set([...addresses, ...sources.map(({ address }) => address)])]
  return providerRecords({
    mailHost,
    nameServers: dns.nameServers.length > 0 ? dns.nameServers : [`ns1.${mailHost}`, `ns2.${mailHost}`],
    addresses,
    sendingAddresses: sending,
    greetings: sources.flatMap(({ address, name }) => (name === null ? [] : { name, address })),
    regions: Object.keys(regions),
    simulatorDomain: simulator.domain,
    reportsTo: dns.reportsTo,
    own: dns.records.map(line => parseRecord(line, mailHost)),
    serial,
    ...(mtaStsId !== undefined && { mtaStsId }),
  })
}

/**
 * @param mode the stored mode in which the policy is served; `testing` when undefined
 * @returns the MTA-STS policy of the provider host; undefined when there is none
 */
export function policyOf(
  { mailHost, smtp }: Config,
  records: readonly DnsRecord[],
  mode: string | undefined,
): OwnPolicy | undefined {
  const { mtaSts: wanted, listen } = smtp.inbound
  if (wanted === 'off' || listen === null) return undefined
  const isEnforced = wanted === 'enforce' && mode === 'enforce'
  return ownPolicy(mailHost, isEnforced ? 'enforce' : 'testing', records)
}

/** Records that are served while the MTA-STS policy of the provider host is published, in either mode. */
function withPolicies(config: Config, records: readonly DnsRecord[]): DnsThreadData['policies'] {
  const policies = OWN_POLICY_MODES.flatMap(mode => policyOf(config, records, mode) ?? [])
  return policies.map(({ id }) => ({ id, records: zoneRecords(config, 0, id) }))
}

/** Addresses of the network interfaces, without loopback and link-local ones. Behind NAT none is public. */
export function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap(found =>
    (found ?? []).flatMap(({ address, internal }) => (internal || /^fe80:/i.test(address) ? [] : [address])),
  )
}

/** Creates one resolver per server, so that a check can tell which servers see a record. */
export function verifyingResolvers(
  servers: readonly string[],
  clock: Clock,
  stack: AsyncDisposableStack,
): NamedResolver[] {
  return servers.map(server => {
    const resolver = createResolver({ servers: [server], clock })
    stack.defer(resolver.close)
    return { server, resolver }
  })
}
