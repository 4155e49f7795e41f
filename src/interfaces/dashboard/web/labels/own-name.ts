/** What a public installation needs: its settings, how it is started, and its DNS records. */

export interface OwnName {
  /** `mail_host`, lower case. */
  host: string
  /** Public addresses of the machine, IPv4 or IPv6. */
  addresses: readonly string[]
  /**
   * Addresses on its network interfaces, where public ones are translated to them (NAT); empty where they are
   * the same.
   */
  localAddresses: readonly string[]
  /** Contact for the certificate authority. */
  email: string
  /**
   * `own`: the service serves HTTPS itself. `proxy`: a proxy on the same machine does, and passes requests
   * on.
   */
  https: 'own' | 'proxy'
}

const NAME_SERVERS = ['ns1', 'ns2']
/** Of the unit below. */
export const SETTINGS_FILE = '/etc/mailhorn.env'

/** All settings that a real installation needs, as lines of an environment file. */
export function settingsOf(own: OwnName): string {
  const { host, addresses, localAddresses, email, https } = own
  const everywhere = addresses.some(isIpv6) ? '[::]' : '0.0.0.0'
  const dnsListen = (localAddresses.length > 0 ? localAddresses : addresses).map(
    address => `${isIpv6(address) ? `[${address}]` : address}:53`,
  )
  const settings = [
    ['MAIL_HOST', host],
    ['HTTP_BASE_URL', `https://${host}`],
    ['HTTP_LISTEN', '127.0.0.1:3000'],
    ...(https === 'own'
      ? [
          ['HTTP_TLS_LISTEN', `${everywhere}:443`],
          ['ACME_LISTEN', `${everywhere}:80`],
        ]
      : [['HTTP_TRUSTED_PROXIES', '127.0.0.1,::1']]),
    ['ACME_ENABLED', 'true'],
    ['ACME_EMAIL', email],
    ['SMTP_INBOUND_LISTEN', `${everywhere}:25`],
    ['SMTP_SUBMISSION_LISTEN', `${everywhere}:587`],
    ['SMTP_SUBMISSION_TLS_LISTEN', `${everywhere}:465`],
    ['DNS_LISTEN', dnsListen.join(',')],
    ['DNS_ADDRESSES', addresses.join(',')],
  ]
  return settings.map(([name, value]) => `MAILHORN_${name}=${value}`).join('\n')
}

/** A unit of systemd that starts the service with these settings. */
export const UNIT = `[Unit]
Description=Mailhorn
Wants=network-online.target
After=network-online.target

[Service]
User=mailhorn
WorkingDirectory=/opt/mailhorn
EnvironmentFile=${SETTINGS_FILE}
ExecStart=/usr/bin/npm start
AmbientCapabilities=CAP_NET_BIND_SERVICE
LimitNOFILE=65536
Restart=always

[Install]
WantedBy=multi-user.target`

/** Without systemd: the same settings for a start by hand, as a user who may open ports below 1024. */
export const COMMAND = `set -a; . ${SETTINGS_FILE}; set +a; npm start`

/** Ports that a firewall has to let in. */
export function openPorts({ https }: OwnName): string {
  return https === 'own'
    ? '25, 80, 443, 465 and 587 (TCP) and 53 (TCP and UDP)'
    : '25, 465 and 587 (TCP) and 53 (TCP and UDP), in addition to the ports of the proxy'
}

/** For the zone in which the name lies: its two name servers, and where they are. */
export function delegationLines({ host, addresses }: Pick<OwnName, 'host' | 'addresses'>): string {
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
