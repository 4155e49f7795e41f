/**
 * Lists every setting with its kind, unit, default and description. `config.ts` reads the settings by this
 * table, and `npm run docs` generates docs/configuration.md from it. The names are stable: scripts and
 * images rely on them.
 */
import {
  alertWebhookUrl,
  authoritiesFile,
  filterAddress,
  filterUrl,
  readZoneRecords,
  signingSecret,
  sourceIps,
} from './checked-settings.ts'
import {
  addresses,
  choice,
  choices,
  domain,
  flag,
  hostNames,
  integer,
  limit,
  list,
  listen,
  listens,
  networks,
  optionalMailbox,
  optionalText,
  servers,
  text,
  tokenPrefix,
} from './setting.ts'
import { smartHost } from './smart-host.ts'
import { backup, database } from './storage-settings.ts'
import { warmupCaps, warmupStarts } from './warmup.ts'

export const DEFAULT_MAIL_HOST = 'mailhorn.test'

/** Keys are the camelCase of the names in files (`data_dir`, `http.base_url`). */
export const schema = {
  dataDir: text(
    'data',
    'Folder of the database, stored files and the secret key. A relative path is resolved against the program’s folder, or, if npm installed it, the current one.',
  ),
  database,
  roles: choices(
    ['all', 'api'],
    ['all'],
    'Roles of the process: `all`, or `api`, which accepts requests and leaves emails in the queue.',
  ),
  mailHost: domain(
    DEFAULT_MAIL_HOST,
    'The provider host: EHLO name, provider zone, and the target of the DNS records of customer domains.',
  ),
  http: {
    listen: listen('127.0.0.1:3000', 'API and dashboard.'),
    tlsListen: listen('', 'API and dashboard over TLS, with the certificate of the mail listeners.'),
    baseUrl: text('', 'Public URL of the API and the dashboard, used in links; derived from `http.listen`.', {
      shown: 'derived',
    }),
    trustedProxies: networks('[Proxies](proxies.md) that may name the client of a request.'),
    connectionsPerClient: integer(
      200,
      'Maximum number of open connections per client address (IPv6: /56) to each HTTP listener. `http.trusted_proxies` are exempt. This machine may use half of all connections if that is more.',
      { min: 1 },
    ),
  },
  smtp: {
    inbound: {
      listen: listen(
        '127.0.0.1:2525',
        'Inbound SMTP (port 25): mail to receiving domains, bounces and complaints. Empty: off.',
      ),
      connectionsPerMinute: integer(
        300,
        'Maximum number of new connections to port 25 per client address (IPv6: /56); 0 means no limit. Connections from this machine are not counted.',
      ),
      mtaSts: choice(
        ['enforce', 'testing', 'off'],
        'enforce',
        'Mode of the MTA-STS policy of `mail_host`. The policy is published only while its host serves it, and enforced only while port 25 shows a certificate that senders can verify.',
      ),
    },
    submission: {
      listen: listen('127.0.0.1:2587', 'SMTP submission with STARTTLS (port 587). Empty: off.'),
      hideOrigin: flag(
        false,
        'Remove header fields of submitted and relayed mail that tell where it comes from inside: `Received`, `X-Mailer`, `X-Originating-IP` and [others](smtp.md#how-the-message-is-changed).',
      ),
    },
    submissionTls: {
      listen: listen('127.0.0.1:2465', 'SMTP submission with implicit TLS (port 465). Empty: off.'),
    },
    relay: {
      listen: listen(
        '',
        'SMTP relay without authentication for trusted networks, for programs that cannot log in.',
      ),
      networks: networks('Networks that may use the relay listener.'),
      account: optionalText(
        'Email address of the user whose account sends the relayed mail. Default: the first account.',
      ),
    },
    trustedProxies: networks('[Proxies](proxies.md) that begin each connection with a PROXY header.'),
    tls: {
      certFile: optionalText('Certificate chain of the mail listeners (PEM file).'),
      keyFile: optionalText('Private key of the certificate (PEM file).'),
    },
  },
  acme: {
    enabled: flag(
      false,
      'Obtain the certificate of all listeners by ACME. By enabling it you agree to the terms of the certificate authority.',
    ),
    directoryUrl: text(
      'https://acme-v02.api.letsencrypt.org/directory',
      'ACME directory URL of the certificate authority. The default is Let’s Encrypt.',
    ),
    email: optionalMailbox('Contact email address for the certificate authority.'),
    challenge: choice(
      ['auto', 'dns-01', 'http-01'],
      'auto',
      'ACME challenge: `dns-01` publishes a record in the provider zone and requires `dns.listen`; `http-01` serves a file under `http://<name>/.well-known/acme-challenge/`; `auto` tries `dns-01`, then `http-01`.',
    ),
    listen: listen(
      '',
      'Plain HTTP listener for `http-01` only. It must be reachable as port 80 of each name. `http.listen` serves challenges, too.',
    ),
    names: hostNames('Further host names for the certificate, such as that of the dashboard.', 'none'),
    caFile: authoritiesFile(
      'Certificate authorities trusted for the ACME directory (PEM file) instead of those of the runtime. For a private ACME server.',
    ),
  },
  dns: {
    listen: listens(
      '127.0.0.1:5300',
      'Addresses of the authoritative DNS server of the provider zone, UDP and TCP: `192.0.2.1:53,[2001:db8::1]:53`. Empty: off.',
    ),
    resolvers: servers(
      [],
      'DNS resolvers for delivery and for the authentication of received mail.',
      "the system's",
    ),
    verifyResolvers: servers(
      [],
      'Public DNS resolvers for domain checks. Default: `dns.resolvers` if set.',
      '1.1.1.1,8.8.8.8,9.9.9.9',
    ),
    validatingResolver: servers(
      [],
      'Address of a DNSSEC-validating resolver on this host. DANE is enforced only when it is set.',
      'off',
    ),
    trustAd: flag(false, 'Trust the AD bit of `dns.validating_resolver` although it is not on this host.'),
    signedName: text(
      '.',
      'DNSSEC-signed name that is used to test whether `dns.validating_resolver` validates.',
    ),
    authorityPort: integer(
      53,
      'Port of the authoritative name servers that domain checks query. Change it only in test setups.',
      { min: 1, max: 65_535 },
    ),
    addresses: addresses(
      'Public IP addresses of this host, for the A and AAAA records of the provider zone.',
      "the public addresses of this host's interfaces",
    ),
    nameServers: hostNames(
      'Names in the NS records of the provider zone.',
      '`ns1.<mail_host>,ns2.<mail_host>`',
    ),
    records: readZoneRecords(
      'Additional records of the provider zone in zone file syntax, separated by `;` in the environment: `@ CAA 0 issue "ca.example"; www A 192.0.2.1`.',
    ),
    reportsTo: optionalMailbox('Email address for DMARC and TLS reports about `mail_host`.'),
    responsesPerSecond: integer(
      20,
      'Response rate limit: identical UDP responses per second to one network (/24, /56); 0 means no limit.',
      { max: 1_000_000 },
    ),
  },
  domains: {
    pendingMax: integer(100, 'Maximum number of unverified domains per account.', { min: 1 }),
  },
  dkim: {
    rotateAfterDays: integer(180, 'Interval of automatic DKIM key rotation; 0 means manual rotation only.', {
      max: 3_650,
      unit: 'days',
    }),
  },
  delivery: {
    port: integer(25, 'Port of MX hosts. Change it only in test setups.', { min: 1, max: 65_535 }),
    allowPrivateAddresses: flag(false, 'Deliver to private and loopback addresses. For test setups only.'),
    sourceIps: sourceIps(
      'Source IP addresses of outbound connections, each with its EHLO name unless that is `mail_host`: `192.0.2.1=mail1.example.com,192.0.2.2=mail2.example.com`.',
    ),
    warmup: warmupStarts(
      'Source IP addresses in warm-up, each with its first day of sending (UTC): `192.0.2.2=2026-11-20`.',
    ),
    warmupCaps: warmupCaps(
      'Daily limits of an address in warm-up: messages to one mailbox provider on the first, second, … day. After the last day there is no limit.',
    ),
    threads: integer(
      0,
      'Delivery threads; 0 means one per core, and a single one with less than 768 MB of memory.',
      { max: 64 },
    ),
    mtaSts: flag(true, 'Enforce the MTA-STS policies of receiving domains.'),
    tlsReportsFrom: optionalText(
      'Sender address of daily TLS reports to receiving domains that request them. It must be at a verified domain of an account.',
    ),
    policyPort: integer(443, 'Port of MTA-STS policy hosts. Change it only in test setups.', {
      min: 1,
      max: 65_535,
    }),
    caFile: authoritiesFile(
      'Certificate authorities trusted for MX hosts and policy hosts (PEM file) instead of those of the runtime. For test setups.',
    ),
    connections: integer(1_000, 'Maximum number of concurrent deliveries to all destinations.', {
      min: 1,
      max: 100_000,
    }),
    accountConnections: limit(null, 'Maximum number of concurrent deliveries per account.', {
      min: 1,
      shown: 'any number',
    }),
    smartHost: smartHost(
      'Smart host that relays all outbound mail: `smtps://user:password@relay.example:465`, or `smtp://…:587` for STARTTLS. `?tls=opportunistic` is allowed only without authentication.',
    ),
    unknownOutcome: choice(
      ['retry', 'hold'],
      'retry',
      'Deliveries that were in progress when the service was killed may have arrived. `retry` sends them again; `hold` holds them until the operator releases or cancels them.',
    ),
    expireAfterHours: integer(48, 'Maximum lifetime of a delivery in the queue; afterwards it expires.', {
      min: 1,
      max: 24 * 14,
      unit: 'hours',
    }),
  },
  feedback: {
    alertBounces: limit(
      500,
      'Alert the operator when the hard bounces of an account reach this number per 10,000 deliveries in 24 hours.',
      { min: 1 },
    ),
    alertComplaints: limit(
      10,
      'Alert the operator when the complaints about an account reach this number per 10,000 deliveries in 24 hours.',
      { min: 1 },
    ),
    pauseBounces: limit(
      1_000,
      'Hold the mail of an account when its hard bounces reach this number per 10,000 deliveries in 24 hours.',
      { min: 1 },
    ),
    pauseComplaints: limit(
      30,
      'Hold the mail of an account when the complaints reach this number per 10,000 deliveries in 24 hours.',
      { min: 1 },
    ),
  },
  spam: {
    rspamdUrl: filterUrl('URL of rspamd for the spam verdict of received mail: `http://127.0.0.1:11333`.'),
    spamd: filterAddress(
      'Address of spamd for the spam verdict (`host:port`, or the path of its socket). It cannot be combined with `spam.rspamd_url`.',
    ),
  },
  virus: {
    clamd: filterAddress(
      'Address of clamd for the virus verdict of received mail (`host:port`, or the path of its socket).',
    ),
  },
  autoconfigure: {
    cloudflareBaseUrl: text(
      'https://api.cloudflare.com/client/v4',
      'Base URL of the Cloudflare API, which automatic DNS setup uses. `http://` is allowed only for loopback.',
    ),
  },
  doctor: {
    probes: list(
      ['gmail.com', 'outlook.com', 'yahoo.com'],
      'Domains whose mail servers `mailhorn doctor` connects to in order to check outbound port 25.',
    ),
    blocklists: list(
      ['zen.spamhaus.org', 'bl.spamcop.net', 'b.barracudacentral.org'],
      'DNS blocklists that `mailhorn doctor` queries for the source IP addresses, through `dns.resolvers`.',
    ),
    clockUrl: text(
      'https://www.cloudflare.com/',
      'URL whose `Date` response header `mailhorn doctor` compares with the system clock. Empty: not checked.',
    ),
    backupDays: integer(
      7,
      'Age of the last backup from which `mailhorn doctor` fails; 0 means that it is not checked, for installations that are backed up by other means.',
      { max: 3_650, unit: 'days' },
    ),
  },
  alerts: {
    webhookUrl: alertWebhookUrl(
      'URL to which [alerts](monitoring.md#send-alerts-to-a-webhook) are sent, `https://` or, on this host, `http://127.0.0.1:port`. It may be at a private address.',
    ),
    webhookFormat: choice(
      ['generic', 'slack'],
      'generic',
      'Format of the requests to `alerts.webhook_url`: JSON with all facts, or that of incoming webhooks of Slack, which Mattermost and Discord (`…/slack`) take, too.',
    ),
    webhookSecret: signingSecret(
      'Secret that signs the requests to `alerts.webhook_url` like those of [webhooks](webhooks.md): `whsec_` and the base64 of at least 24 bytes.',
    ),
    smartHost: smartHost(
      'Smart host for [alerts by email](monitoring.md#send-alert-emails-through-a-smart-host) that this service does not deliver, a URL like `delivery.smart_host`.',
    ),
    smartHostFrom: text('', 'Sender of alerts through `alerts.smart_host`.', { shown: '`notices.from`' }),
    smartHostAfterMinutes: integer(
      15,
      'Time that the queue has to deliver an alert before it is sent through `alerts.smart_host`.',
      { min: 1, max: 1_440, unit: 'minutes' },
    ),
    repeatHours: integer(24, 'Interval of notices of a lasting alert.', { min: 1, max: 720, unit: 'hours' }),
  },
  tracking: {
    baseUrl: text('', 'Base URL of tracking, share and unsubscribe links.', { shown: '`http.base_url`' }),
  },
  fetch: {
    attachments: flag(false, 'Download attachments that are given as `path`, an https URL.'),
    allowLoopback: flag(false, 'Allow downloads from loopback addresses. For tests only.'),
  },
  webhooks: {
    standard: flag(
      false,
      'Sign events also by Standard Webhooks, unless `standard_webhooks` of a new webhook says otherwise. Webhooks that an SDK creates have it anyway.',
    ),
    allowInsecureLoopback: flag(false, 'Allow `http://` webhooks to loopback addresses. For tests only.'),
  },
  notices: {
    from: text(
      '',
      'Sender address of notification emails to accounts. It must be at a verified domain of an account.',
      { shown: '`mailhorn@<mail_host>`' },
    ),
  },
  rateLimit: {
    requestsPerSecond: integer(100, 'API requests per second and account; 0 means no limit.'),
  },
  logs: {
    retentionDays: integer(
      30,
      'Retention of the request log, `GET /logs`; at most that of the plan. 0 means that requests are not logged.',
      { max: 3_650, unit: 'days' },
    ),
    bodies: flag(true, 'Whether the request log stores bodies of requests and replies, without secrets.'),
  },
  metrics: {
    listen: listen(
      '',
      'Separate plain HTTP listener for Prometheus metrics: `GET /metrics` and `GET /healthz` alone. An address other than loopback requires `metrics.token`.',
    ),
    token: optionalText(
      'Bearer token of `/metrics`. Without it, only a `metrics.listen` on loopback serves metrics.',
      { secret: true },
    ),
  },
  simulator: {
    domain: domain('', 'Domain of the simulator addresses.', {
      shown: '`simulator.test` while `mail_host` is the default, else `simulator.<mail_host>`',
    }),
  },
  admin: {
    email: text('', 'Email address of the first user. Read at the first start only.', {
      shown: '`admin@<mail_host>`',
    }),
    password: optionalText('Password of the first user. Read at the first start only.', {
      shown: 'generated',
      secret: true,
    }),
    credentialsFile: optionalText(
      'File to which the first start writes the first password and API key (mode 0600) instead of printing them. A relative path is resolved against `data_dir`.',
    ),
  },
  apiKeys: { prefix: text('re_', 'Prefix of API keys.') },
  accessTokens: { prefix: tokenPrefix('mh_', 'Prefix of access tokens. It ends with `_`.') },
  secretKey: optionalText(
    'Key that encrypts secrets in the database; at least 16 characters, or the text of `secret.key`.',
    { shown: 'a generated file in `data_dir`', secret: true },
  ),
  backup,
  log: {
    level: choice(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'info',
      'Minimum level of log lines.',
    ),
  },
}
