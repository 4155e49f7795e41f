/**
 * Builds the static records of the zone `<mail_host>` from the configuration: targets of customers' records,
 * name servers, SPF, DMARC and TLS reporting. Mailhorn serves the zone itself, or the operator copies the
 * records to a DNS host.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { isWithinDomain } from './name.ts'
import { RecordFault } from './record-text.ts'
import type { DnsRecord, RecordData } from './wire.ts'

interface ProviderZoneOptions {
  /** Apex of the zone, in lower case. */
  mailHost: string
  /** At least one name. Names below the apex get the addresses of this installation. */
  nameServers: readonly string[]
  /** Public addresses of this installation. */
  addresses: readonly string[]
  /** Addresses or networks that send mail, for SPF. The default is the public addresses. */
  sendingAddresses?: readonly string[]
  /** EHLO names with their addresses. Names below the apex get address records. */
  greetings?: readonly { name: string; address: string }[]
  /** Each region has a host that receives the bounces of its domains, see `feedbackHost`. */
  regions: readonly string[]
  /** Gets a null MX record if it lies below the apex, since its mail never leaves (RFC 7505). */
  simulatorDomain?: string
  /** Address for DMARC reports about mail from the apex and for TLS reports (RFC 7489, RFC 8460). */
  reportsTo?: string | null
  /** Id of the policy at `mta-sts.<mail_host>` (RFC 8461 §3.1). Without it there is no such record. */
  mtaStsId?: string
  /** Records of the operator. They replace the built-in ones, see `merged`. */
  own?: readonly DnsRecord[]
  /** Increases with every change (RFC 1982). */
  serial: number
}

const TTL_SECONDS = 3_600
const MX_PREFERENCE = 10

/** @throws RecordFault if aliases form a loop, or stand beside other records */
export function providerRecords(options: ProviderZoneOptions): DnsRecord[] {
  const { mailHost, nameServers, regions, simulatorDomain, reportsTo, mtaStsId, greetings = [] } = options
  const records: DnsRecord[] = []
  const add = (name: string, ...data: RecordData[]) => {
    for (const each of data) records.push({ name, ttlSeconds: TTL_SECONDS, ...each })
  }
  const addText = (name: string, text: string) => add(name, { type: 'TXT', text })
  const isOurs = (name: string) => name.endsWith(`.${mailHost}`)
  const addresses = addressData(options.addresses)

  add(mailHost, soaData(options), ...nameServers.map(target => ({ type: 'NS' as const, target })))
  add(mailHost, { type: 'MX', preference: MX_PREFERENCE, exchange: mailHost }, ...addresses)
  addText(mailHost, spfText(options))
  addText(`_dmarc.${mailHost}`, dmarcText(reportsTo))
  if (reportsTo) addText(`_smtp._tls.${mailHost}`, `v=TLSRPTv1; rua=mailto:${reportsTo}`)
  if (mtaStsId !== undefined) addText(`_mta-sts.${mailHost}`, `v=STSv1; id=${mtaStsId}`)
  const hosts = [
    ...nameServers.filter(isOurs),
    ...regions.map(region => feedbackHost(region, mailHost)),
    ...(mtaStsId === undefined ? [] : [`mta-sts.${mailHost}`]),
  ]
  for (const host of hosts) add(host, ...addresses)
  for (const [name, at] of byName(greetings.filter(({ name }) => isOurs(name) && !hosts.includes(name)))) {
    add(name, ...addressData(at))
    addText(name, 'v=spf1 a -all')
  }
  if (simulatorDomain !== undefined && isOurs(simulatorDomain))
    add(simulatorDomain, { type: 'MX', preference: 0, exchange: '' })
  const all = merged(records, options.own ?? [], mailHost)
  refuseLoops(all)
  refuseNeighbours(all)
  return all
}

/** @throws RecordFault if a name has an alias and further records (RFC 1034 §3.6.2) */
function refuseNeighbours(records: readonly DnsRecord[]) {
  const counts = new Map<string, number>()
  for (const { name } of records) counts.set(name, (counts.get(name) ?? 0) + 1)
  const alias = records.find(({ name, type }) => type === 'CNAME' && counts.get(name)! > 1)
  if (alias)
    throw new RecordFault(`has a CNAME record for ${alias.name}, which must not have other records beside it`)
}

/** @throws RecordFault if an alias leads back to itself */
function refuseLoops(records: readonly DnsRecord[]) {
  const targets = targetsByName(records)
  const done = new Set<string>()
  for (const start of targets.keys()) {
    const path: string[] = []
    let at: string | undefined = start
    for (; at !== undefined && !done.has(at) && !path.includes(at); at = targets.get(at)) path.push(at)
    if (at !== undefined && path.includes(at))
      throw new RecordFault(
        `has CNAME records in a loop: ${[...path.slice(path.indexOf(at)), at].join(' → ')}`,
      )
    for (const name of path) done.add(name)
  }
}

/** Lists the aliases whose target would lie in the zone but has no records, also not from the database. */
export function danglingAliases(
  records: readonly DnsRecord[],
  mailHost: string,
): { name: string; target: string }[] {
  const names = new Set(records.map(({ name }) => name))
  const fromDatabase = [`.dkim.${mailHost}`, `mta-sts.${mailHost}`]
  return [...targetsByName(records)]
    .filter(([, target]) => isWithinDomain(target, mailHost) && !names.has(target))
    .filter(([, target]) => !fromDatabase.some(end => target.endsWith(end)))
    .map(([name, target]) => ({ name, target }))
}

/** Aliases with their targets, in lower case. */
function targetsByName(records: readonly DnsRecord[]): Map<string, string> {
  return new Map(
    records.flatMap(record => (record.type === 'CNAME' ? [[record.name, record.target.toLowerCase()]] : [])),
  )
}

/** Returns the MX host of the return paths of a region's domains. */
export function feedbackHost(region: string, mailHost: string): string {
  return `feedback-smtp.${region}.${mailHost}`
}

/**
 * A record of the operator replaces all built-in records of its name and type, and an alias all of its name.
 * TXT records are added, except where only one of a kind may exist; the kind is the version at its beginning
 * (`v=spf1`, `v=DMARC1`). A record that is given twice counts once (RFC 2181 §5).
 */
function merged(ours: readonly DnsRecord[], configured: readonly DnsRecord[], mailHost: string): DnsRecord[] {
  const own = [...new Map(configured.map(record => [JSON.stringify(record), record])).values()]
  const kindOf = (record: DnsRecord) =>
    `${record.name} ${record.type} ${record.type === 'TXT' ? (/^v=\w+/.exec(record.text)?.[0] ?? '') : ''}`
  const taken = new Set(own.map(kindOf))
  const aliases = new Set(own.flatMap(({ name, type }) => (type === 'CNAME' ? [name] : [])))
  const isReplaced = (record: DnsRecord) =>
    taken.has(kindOf(record)) || (aliases.has(record.name) && record.name !== mailHost)
  return [...ours.filter(record => !isReplaced(record)), ...own]
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

function addressData(addresses: readonly string[]): RecordData[] {
  return [
    ...addresses.filter(isIPv4).map(address => ({ type: 'A' as const, address })),
    ...addresses.filter(isIPv6).map(address => ({ type: 'AAAA' as const, address })),
  ]
}

/** Nobody sends mail from the apex or from a name below it, so any such mail is forged (RFC 7489 §6.3). */
function dmarcText(reportsTo: string | null | undefined): string {
  return `v=DMARC1; p=reject; adkim=s; aspf=s${reportsTo ? `; rua=mailto:${reportsTo}` : ''}`
}

/**
 * The record needs no look-up, so customers who include it keep their limit of look-ups (RFC 7208 §4.6.4).
 */
function spfText(options: ProviderZoneOptions): string {
  const senders = options.sendingAddresses ?? options.addresses
  const terms = [
    ...senders.filter(address => !address.includes(':')).map(address => `ip4:${address}`),
    ...senders.filter(address => address.includes(':')).map(address => `ip6:${address}`),
  ]
  return ['v=spf1', ...terms, '-all'].join(' ')
}
