/**
 * The static records of the zone `<mail_host>`: what customers' records point to, our own name servers, and
 * who may send in our name. Made from the configuration, served by us or copied to where the zone is hosted.
 */
import type { DnsRecord, RecordData } from './wire.ts'

export interface ProviderZoneOptions {
  /** The apex. Lower case. */
  mailHost: string
  /** At least one; those under the apex get our addresses. */
  nameServers: readonly string[]
  /** Where this installation is reached from outside. */
  addresses4: readonly string[]
  addresses6: readonly string[]
  /** Addresses or networks that send our mail, for SPF; the same as above where nothing else is known. */
  sendingAddresses4?: readonly string[]
  sendingAddresses6?: readonly string[]
  /** Each has a host `feedback-smtp.<region>.<mail_host>` that takes the bounces of its domains. */
  regions: readonly string[]
  /** Gets a null MX when it lies under the apex: its mail never leaves (RFC 7505). */
  simulatorDomain?: string
  /** Grows with every change: epoch seconds will do. */
  serial: number
}

const TTL_SECONDS = 3_600
const MX_PREFERENCE = 10

export function providerRecords(options: ProviderZoneOptions): DnsRecord[] {
  const { mailHost, nameServers, regions, simulatorDomain } = options
  const records: DnsRecord[] = []
  const add = (name: string, ...data: RecordData[]) => {
    for (const each of data) records.push({ name, ttlSeconds: TTL_SECONDS, ...each })
  }
  const isOurs = (name: string) => name.endsWith(`.${mailHost}`)
  const addresses = addressData(options)

  add(mailHost, soaData(options), ...nameServers.map(target => ({ type: 'NS' as const, target })))
  add(mailHost, { type: 'MX', preference: MX_PREFERENCE, exchange: mailHost }, ...addresses)
  add(mailHost, { type: 'TXT', text: spfText(options) })
  const hosts = [
    ...nameServers.filter(isOurs),
    ...regions.map(region => `feedback-smtp.${region}.${mailHost}`),
  ]
  for (const host of hosts) add(host, ...addresses)
  if (simulatorDomain !== undefined && isOurs(simulatorDomain))
    add(simulatorDomain, { type: 'MX', preference: 0, exchange: '' })
  return records
}

function soaData({ mailHost, nameServers, serial }: ProviderZoneOptions): RecordData {
  return {
    type: 'SOA',
    primary: nameServers[0] ?? mailHost,
    contact: `hostmaster.${mailHost}`,
    serial,
    refreshSeconds: 3_600,
    retrySeconds: 600,
    expireSeconds: 1_209_600,
    minimumSeconds: 300,
  }
}

function addressData({ addresses4, addresses6 }: ProviderZoneOptions): RecordData[] {
  return [
    ...addresses4.map(address => ({ type: 'A' as const, address })),
    ...addresses6.map(address => ({ type: 'AAAA' as const, address })),
  ]
}

/** Without lookups of its own, so that customers who include it keep theirs (RFC 7208 §4.6.4). */
function spfText(options: ProviderZoneOptions): string {
  const senders4 = options.sendingAddresses4 ?? options.addresses4
  const senders6 = options.sendingAddresses6 ?? options.addresses6
  const terms = [...senders4.map(address => `ip4:${address}`), ...senders6.map(address => `ip6:${address}`)]
  return ['v=spf1', ...terms, '-all'].join(' ')
}
