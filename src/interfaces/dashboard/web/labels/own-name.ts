/** Settings, start command and DNS records of a public installation, for the setup guide. */

export interface OwnName {
  /** Value of `mail_host`, in lower case. */
  host: string
  /** Public IPv4 and IPv6 addresses of the server. */
  addresses: readonly string[]
  /** Addresses of its network interfaces behind NAT; empty if they are the public ones. */
  localAddresses: readonly string[]
  /** Contact address for the certificate authority. */
  email: string
  /** `own`: the service serves HTTPS itself. `proxy`: a reverse proxy on the same server does. */
  https: 'own' | 'proxy'
}

const NAME_SERVERS = ['ns1', 'ns2']
/** Settings file that the systemd unit reads. */
export const SETTINGS_FILE = '/etc/mailhorn.env'

/** Returns all settings of a public installation as lines of an environment file. */
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

/** Lists the ports that a firewall must allow. */
export function openPorts({ https }: OwnName): string {
  return https === 'own'
    ? '25, 80, 443, 465 and 587 (TCP) and 53 (TCP and UDP)'
    : '25, 465 and 587 (TCP) and 53 (TCP and UDP), in addition to the ports of the proxy'
}

/** Returns the records of the parent zone: the two name servers and their addresses. */
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
