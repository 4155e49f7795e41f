/**
 * Settings, start command, ports and DNS records of a public installation. The wizard of the dashboard and
 * `mailhorn init` show them.
 */

export interface OwnName {
  /** Value of `mail_host`, in lower case. */
  host: string
  /** Public IPv4 and IPv6 addresses of the server. */
  addresses: readonly string[]
  /** Addresses of its network interfaces behind NAT; empty if they are the public ones. */
  localAddresses: readonly string[]
  /** Addresses from which mail is sent; the operating system chooses if absent. */
  sourceAddresses?: readonly string[]
  /** Contact address for the certificate authority, and of the first user. */
  email: string
  /** `own`: the service serves HTTPS itself. `proxy`: a reverse proxy on the same server does. */
  https: 'own' | 'proxy'
}

/** How the service is run: from a package, in a container, or from a checkout with npm. */
export type RunMode = 'package' | 'docker' | 'checkout'

const NAME_SERVERS = ['ns1', 'ns2']
/** Settings file that the systemd unit reads. */
export const SETTINGS_FILE = '/etc/mailhorn.env'

/**
 * Returns all settings of a public installation, by the names of their environment variables. The image of
 * the container sets the listeners itself.
 */
export function settingsOf(own: OwnName, run: RunMode = 'checkout'): [name: string, value: string][] {
  const { host, addresses, sourceAddresses = [], email, https } = own
  return [
    ['MAILHORN_MAIL_HOST', host],
    ['MAILHORN_HTTP_BASE_URL', `https://${host}`],
    ...(run === 'docker' ? [] : listenersOf(own)),
    ...(https === 'own' ? [] : [['MAILHORN_HTTP_TRUSTED_PROXIES', '127.0.0.1,::1'] as [string, string]]),
    ['MAILHORN_ACME_ENABLED', 'true'],
    ['MAILHORN_ACME_EMAIL', email],
    ['MAILHORN_ADMIN_EMAIL', email],
    ['MAILHORN_DNS_ADDRESSES', addresses.join(',')],
    ...(sourceAddresses.length > 0
      ? [['MAILHORN_DELIVERY_SOURCE_IPS', sourceAddresses.join(',')] as [string, string]]
      : []),
  ]
}

/** Returns the names of settings that other answers would have set. */
export function unusedSettings(own: OwnName, run: RunMode): string[] {
  const used = new Set(settingsOf(own, run).map(([name]) => name))
  const others = (['own', 'proxy'] as const).flatMap(https => settingsOf({ ...own, https }))
  return [...new Set(others.map(([name]) => name))].filter(name => !used.has(name))
}

function listenersOf({ addresses, localAddresses, https }: OwnName): [name: string, value: string][] {
  const everywhere = addresses.some(isIpv6) ? '[::]' : '0.0.0.0'
  const dns = localAddresses.length > 0 ? localAddresses : addresses
  return [
    ['MAILHORN_HTTP_LISTEN', '127.0.0.1:3000'],
    ...(https === 'own'
      ? ([
          ['MAILHORN_HTTP_TLS_LISTEN', `${everywhere}:443`],
          ['MAILHORN_ACME_LISTEN', `${everywhere}:80`],
        ] as [string, string][])
      : []),
    ['MAILHORN_SMTP_INBOUND_LISTEN', `${everywhere}:25`],
    ['MAILHORN_SMTP_SUBMISSION_LISTEN', `${everywhere}:587`],
    ['MAILHORN_SMTP_SUBMISSION_TLS_LISTEN', `${everywhere}:465`],
    ['MAILHORN_DNS_LISTEN', dns.map(address => `${isIpv6(address) ? `[${address}]` : address}:53`).join(',')],
  ]
}

/** systemd unit that starts the service with these settings. */
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

/** Start command without systemd, for a user who may open ports below 1024. */
export const COMMAND = `set -a; . ${SETTINGS_FILE}; set +a; npm start`

/** TCP ports that clients and mail servers connect to. */
export function tcpPorts({ https }: Pick<OwnName, 'https'>): number[] {
  return https === 'own' ? [25, 53, 80, 443, 465, 587] : [25, 53, 465, 587]
}

/** Record of the parent zone, without a TTL. */
export interface ParentRecord {
  name: string
  type: 'NS' | 'A' | 'AAAA'
  value: string
}

/** Returns the records of the parent zone: the two name servers and their addresses. */
export function parentRecords({ host, addresses }: Pick<OwnName, 'host' | 'addresses'>): ParentRecord[] {
  const servers = NAME_SERVERS.map(name => `${name}.${host}.`)
  return [
    ...servers.map(value => ({ name: `${host}.`, type: 'NS' as const, value })),
    ...servers.flatMap(name => addresses.map(value => ({ name, type: typeOf(value), value }))),
  ]
}

/** Returns the records of the parent zone as lines of a zone file. */
export function delegationLines(own: Pick<OwnName, 'host' | 'addresses'>): string {
  return parentRecords(own)
    .map(({ name, type, value }) => `${name}  ${type}  ${value}`)
    .join('\n')
}

function typeOf(address: string): 'A' | 'AAAA' {
  return isIpv6(address) ? 'AAAA' : 'A'
}

function isIpv6(address: string): boolean {
  return address.includes(':')
}
