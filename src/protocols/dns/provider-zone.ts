/**
 * The static records of the zone `<mail_host>`: what customers' records point to, our own name servers, and
 * who may send in our name. Made from the configuration, served by us or copied to where the zone is hosted.
 */
import { isIPv4, isIPv6 } from 'node:net'
import type { DnsRecord, RecordData } from './wire.ts'

interface ProviderZoneOptions {
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
  /** Names that we greet with from some address; those under the apex lead to it. */
  greetings?: readonly { name: string; address: string }[]
  /** Each has a host `feedback-smtp.<region>.<mail_host>` that takes the bounces of its domains. */
  regions: readonly string[]
  /** Gets a null MX when it lies under the apex: its mail never leaves (RFC 7505). */
  simulatorDomain?: string
  /**
   * Gets what receivers report of mail that names the apex as its author, and of TLS to us (RFC 7489,
   * RFC 8460).
   */
  reportsTo?: string | null
  /**
   * Of the policy that is served at `mta-sts.<mail_host>` (RFC 8461 §3.1); without one there is no record.
   */
  mtaStsId?: string
  /** The operator's own; they take the place of ours, see `merged`. */
  own?: readonly DnsRecord[]
  /** Grows with every change: epoch seconds will do. */
  serial: number
}

const TTL_SECONDS = 3_600
const MX_PREFERENCE = 10

export function providerRecords(options: ProviderZoneOptions): DnsRecord[] {
  const { mailHost, nameServers, regions, simulatorDomain, reportsTo, mtaStsId, greetings = [] } = options
  const records: DnsRecord[] = []
  const add = (name: string, ...data: RecordData[]) => {
    for (const each of data) records.push({ name, ttlSeconds: TTL_SECONDS, ...each })
  }
  const addText = (name: string, text: string) => add(name, { type: 'TXT', text })
  const isOurs = (name: string) => name.endsWith(`.${mailHost}`)
  const addresses = addressData(options.addresses4, options.addresses6)

  add(mailHost, soaData(options), ...nameServers.map(target => ({ type: 'NS' as const, target })))
  add(mailHost, { type: 'MX', preference: MX_PREFERENCE, exchange: mailHost }, ...addresses)
  addText(mailHost, spfText(options))
  addText(`_dmarc.${mailHost}`, dmarcText(reportsTo))
  if (reportsTo) addText(`_smtp._tls.${mailHost}`, `v=TLSRPTv1; rua=mailto:${reportsTo}`)
  if (mtaStsId !== undefined) addText(`_mta-sts.${mailHost}`, `v=STSv1; id=${mtaStsId}`)
  const hosts = [
    ...nameServers.filter(isOurs),
    ...regions.map(region => `feedback-smtp.${region}.${mailHost}`),
    ...(mtaStsId === undefined ? [] : [`mta-sts.${mailHost}`]),
  ]
  for (const host of hosts) add(host, ...addresses)
  for (const [name, at] of byName(greetings.filter(({ name }) => isOurs(name) && !hosts.includes(name)))) {
    add(name, ...addressData(at.filter(isIPv4), at.filter(isIPv6)))
    addText(name, 'v=spf1 a -all')
  }
  if (simulatorDomain !== undefined && isOurs(simulatorDomain))
    add(simulatorDomain, { type: 'MX', preference: 0, exchange: '' })
  return merged(records, options.own ?? [])
}

/**
 * A record of the operator's takes the place of all of ours that have its name and type. Texts stand beside
 * each other, but for those of a kind that there must be one of, which begins with its version (`v=spf1`,
 * `v=DMARC1`).
 */
function merged(ours: readonly DnsRecord[], own: readonly DnsRecord[]): DnsRecord[] {
  const kindOf = (record: DnsRecord) =>
    `${record.name} ${record.type} ${record.type === 'TXT' ? (/^v=\w+/.exec(record.text)?.[0] ?? '') : ''}`
  const taken = new Set(own.map(kindOf))
  return [...ours.filter(record => !taken.has(kindOf(record))), ...own]
}

function byName(greetings: readonly { name: string; address: string }[]): Map<string, string[]> {
  const names = new Map<string, string[]>()
  for (const { name, address } of greetings) names.set(name, [...(names.get(name) ?? []), address])
  return names
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

function addressData(addresses4: readonly string[], addresses6: readonly string[]): RecordData[] {
  return [
    ...addresses4.map(address => ({ type: 'A' as const, address })),
    ...addresses6.map(address => ({ type: 'AAAA' as const, address })),
  ]
}

/**
 * Nobody writes mail as the apex or a name below it, so that all that claims to be such is forged (RFC 7489
 * §6.3).
 */
function dmarcText(reportsTo: string | null | undefined): string {
  return `v=DMARC1; p=reject; adkim=s; aspf=s${reportsTo ? `; rua=mailto:${reportsTo}` : ''}`
}

/** Without lookups of its own, so that customers who include it keep theirs (RFC 7208 §4.6.4). */
function spfText(options: ProviderZoneOptions): string {
  const senders4 = options.sendingAddresses4 ?? options.addresses4
  const senders6 = options.sendingAddresses6 ?? options.addresses6
  const terms = [...senders4.map(address => `ip4:${address}`), ...senders6.map(address => `ip6:${address}`)]
  return ['v=spf1', ...terms, '-all'].join(' ')
}
