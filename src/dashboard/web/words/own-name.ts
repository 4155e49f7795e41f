/** What an installation needs to have a name of its own: how it is started, and what is put into DNS above it. */

export interface OwnName {
  host: string
  /** Public addresses of the machine, IPv4 or IPv6. */
  addresses: readonly string[]
}

const NAME_SERVERS = ['ns1', 'ns2']

/** Environment of the next start. */
export function startLines({ host, addresses }: OwnName): string {
  const listen = addresses.map(address => (isIpv6(address) ? `[${address}]:53` : `${address}:53`))
  return [
    `POSTHORN_MAIL_HOST=${host}`,
    `POSTHORN_DNS_LISTEN=${listen.join(',')}`,
    `POSTHORN_DNS_ADDRESSES=${addresses.join(',')}`,
  ].join(' \\\n')
}

/** For the zone in which the name lies: its two name servers, and where they are. */
export function delegationLines({ host, addresses }: OwnName): string {
  const servers = NAME_SERVERS.map(name => `${name}.${host}.`)
  return [
    ...servers.map(server => `${host}.  NS  ${server}`),
    ...servers.flatMap(server => addresses.map(address => `${server}  ${typeOf(address)}  ${address}`)),
  ].join('\n')
}

function typeOf(address: string): 'A' | 'AAAA' {
  return isIpv6(address) ? 'AAAA' : 'A'
}

function isIpv6(address: string): boolean {
  return address.includes(':')
}
