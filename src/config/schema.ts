/**
 * Every setting there is, with its kind, unit and default. The names are stable: scripts and images rely on
 * them.
 */
import { authoritiesFile } from './authorities-file.ts'
import { databaseUrl } from './database-url.ts'
import { filterAddress, filterUrl } from './filter-address.ts'
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
  planned,
  servers,
  text,
} from './setting.ts'
import { smartHost, smartHostDomains } from './smart-host.ts'
import { sourceIps } from './source-ips.ts'
import { warmupCaps, warmupStarts } from './warmup.ts'
import { readZoneRecords } from './zone-records.ts'

export const DEFAULT_MAIL_HOST = 'mailhorn.test'

/** Keys are the camelCase of the names in files (`data_dir`, `http.base_url`). */
export const schema = {
  dataDir: text(
    'data',
    'Folder of the database, stored files and the secret key; from the program’s folder where it is no full path.',
  ),
  database: {
    url: databaseUrl(
      'sqlite:mailhorn.db',
      'Where everything is stored: `sqlite:` and a file, which lies in `data_dir`, or `postgres://user:password@host:port/database`.',
    ),
    startNew: flag(
      false,
      'Begin with an empty database beside the secret key or files of an earlier installation, which a start otherwise refuses. For one start.',
    ),
  },
  roles: choices(
    ['all', 'api'],
    ['all'],
    'What the process does: `all`, or only `api`, which takes requests and leaves what it takes in the queue.',
  ),
  mailHost: domain(
    DEFAULT_MAIL_HOST,
    'The provider host: EHLO name, provider zone, and the target of the DNS records of customer domains.',
  ),
  http: {
    listen: listen('127.0.0.1:3000', 'API and dashboard.'),
    tlsListen: listen('', 'The same over TLS, with the certificate of the mail listeners.'),
    baseUrl: text('', 'The address clients use, for links; derived from `http.listen`.', {
      shown: 'derived',
    }),
    trustedProxies: networks('Proxies whose `X-Forwarded-*` headers are believed.'),
    connectionsPerClient: integer(
      200,
      'Connections to each HTTP listener that one client address (IPv6: /56) may have open. It does not apply to `http.trusted_proxies`; this machine may have half of all that there may be, if that is more.',
      { least: 1 },
    ),
  },
  smtp: {
    inbound: {
      listen: listen(
        '127.0.0.1:2525',
        'Mail from the world: for domains that receive, bounces and complaints. Empty: off.',
      ),
      connectionsPerMinute: integer(
        300,
        'New connections to port 25 that one address (IPv6: /56) may open; 0 means any number. Those from this machine are not counted.',
      ),
      mtaSts: choice(
        ['enforce', 'testing', 'off'],
        'enforce',
        'Mode of the MTA-STS policy of `mail_host`, published while it is served.',
      ),
    },
    submission: { listen: listen('127.0.0.1:2587', 'Mail from users, STARTTLS. Empty: off.') },
    submissionTls: { listen: listen('127.0.0.1:2465', 'Mail from users, TLS. Empty: off.') },
    relay: {
      listen: listen('', 'Mail from trusted networks without a login, for programs that cannot sign in.'),
      networks: networks('Networks the relay listener trusts.'),
      account: optionalText(
        'E-mail address of the user whose account the relay’s mail is of; else the first account.',
      ),
    },
    tls: {
      certFile: optionalText('Certificate chain of the mail listeners, PEM.'),
      keyFile: optionalText('Its private key, PEM.'),
    },
  },
  acme: {
    enabled: flag(
      false,
      'Get the certificate of all listeners from an authority by ACME. Whoever switches it on agrees to the terms of the authority.',
    ),
    directoryUrl: text(
      'https://acme-v02.api.letsencrypt.org/directory',
      'Directory of the authority; the default is Let’s Encrypt.',
    ),
    email: optionalMailbox('Contact address given to the authority.'),
    challenge: choice(
      ['auto', 'dns-01', 'http-01'],
      'auto',
      'How names are proven: by a record of the provider zone, where we serve it, or by a file under `http://<name>/.well-known/acme-challenge/`. `auto` tries both, the record first.',
    ),
    listen: listen(
      '',
      'Plain HTTP for `http-01` alone, which the world must reach as port 80 of each name; `http.listen` answers, too.',
    ),
    names: hostNames('Further host names for the certificate, such as that of the dashboard.', 'none'),
    caFile: authoritiesFile(
      'Authorities that the directory must be certified by, PEM, for one of your own; in place of the runtime’s.',
    ),
  },
  dns: {
    listen: listens(
      '127.0.0.1:5300',
      'Authoritative server of the provider zone, UDP and TCP, at one or several addresses: `192.0.2.1:53,[2001:db8::1]:53`. Empty: off.',
    ),
    resolvers: servers([], 'Resolvers for delivery, and for verdicts on received mail.', "the system's"),
    verifyResolvers: servers(
      [],
      'Public resolvers asked by domain checks; `dns.resolvers` when only that is set.',
      '1.1.1.1,8.8.8.8,9.9.9.9',
    ),
    validatingResolver: servers(
      [],
      'Resolver that validates DNSSEC, on this host: with it, DANE is honoured. One address.',
      'off',
    ),
    trustAd: flag(false, 'Believe `dns.validating_resolver` also where it is not on this host.'),
    signedName: text('.', 'A signed name, by which `dns.validating_resolver` must show that it validates.'),
    authorityPort: integer(
      53,
      'Port of the name servers of customers’ zones, which domain checks ask; another one is for laboratories.',
      { least: 1, most: 65_535 },
    ),
    addresses: addresses(
      'Public addresses of this host, for the A and AAAA records of the provider zone.',
      "those of this host's interfaces that are public",
    ),
    nameServers: hostNames(
      'Name servers of the provider zone, as its NS records name them.',
      '`ns1.<mail_host>,ns2.<mail_host>`',
    ),
    records: readZoneRecords(
      'Further records of the provider zone, as in a zone file; in the environment with `;` between them: `@ CAA 0 issue "ca.example"; www A 192.0.2.1`.',
    ),
    reportsTo: optionalMailbox(
      'Address for reports about `mail_host` itself, by DMARC and by TLS reporting.',
    ),
    responsesPerSecond: integer(
      20,
      'Answers that say the same to one network (/24, /56) over UDP; 0 means any number.',
      { most: 1_000_000 },
    ),
  },
  domains: {
    pendingMax: integer(
      100,
      'Domains of an account that may wait for their verification; further ones are refused.',
      {
        least: 1,
      },
    ),
  },
  dkim: {
    rotateAfterDays: integer(
      180,
      'A DKIM key signs for so long before the next takes its turn; 0 means until the operator or the account asks.',
      { most: 3_650, unit: 'days' },
    ),
  },
  delivery: {
    port: integer(25, 'Port of MX hosts; another one is for laboratories.', { least: 1, most: 65_535 }),
    allowPrivateAddresses: flag(false, 'Deliver to private and loopback addresses, for laboratories.'),
    sourceIps: sourceIps(
      'Local addresses to connect from, each with its name for EHLO where that is not `mail_host`: `192.0.2.1=mail1.example.com,192.0.2.2=mail2.example.com`.',
    ),
    warmup: warmupStarts(
      'Of `delivery.source_ips`, those that are new to receivers, each with the first day (UTC) on which it sends: `192.0.2.2=2026-11-20`.',
    ),
    warmupCaps: warmupCaps(
      'Messages that such an address sends to one mailbox provider on its first, second, … day; afterwards any number.',
    ),
    threads: integer(0, 'Delivery threads; 0 means one per core.', { most: 64 }),
    mtaSts: flag(true, 'Honour the MTA-STS policies of receiving domains.'),
    tlsReportsFrom: optionalText(
      'Address of daily TLS reports to receiving domains that want them; at a verified domain of an account.',
    ),
    policyPort: integer(443, 'Port of MTA-STS policy hosts; another one is for laboratories.', {
      least: 1,
      most: 65_535,
    }),
    caFile: authoritiesFile(
      "Authorities that MX hosts and policy hosts must be certified by, PEM; in place of the runtime's, for laboratories.",
    ),
    connections: integer(1_000, 'Deliveries under way at once, to all sites together.', {
      least: 1,
      most: 100_000,
    }),
    accountConnections: limit(null, 'Of them, those of one account.', { least: 1, shown: 'any number' }),
    smartHost: smartHost(
      'Relay that takes all outbound mail: `smtps://user:password@relay.example:465` or, with STARTTLS, `smtp://…:587` (`?tls=opportunistic`: for one without a login).',
    ),
    unknownOutcome: choice(
      ['retry', 'hold'],
      'retry',
      'What becomes of mail that was under way when the service was killed, and may have arrived: sent again, or held until the operator releases or cancels it.',
    ),
    expireAfterHours: integer(48, 'Give a delivery up after this time.', {
      least: 1,
      most: 24 * 14,
      unit: 'hours',
    }),
  },
  feedback: {
    alertBounces: limit(
      500,
      'Tell the operator when so many of 10,000 deliveries of an account in 24 hours bounce for good.',
      {
        least: 1,
      },
    ),
    alertComplaints: limit(10, 'Likewise, when so many are complained about.', { least: 1 }),
    pauseBounces: limit(
      1_000,
      'Hold the mail of an account when so many of 10,000 deliveries in 24 hours bounce for good.',
      {
        least: 1,
      },
    ),
    pauseComplaints: limit(30, 'Likewise, when so many are complained about.', { least: 1 }),
  },
  spam: {
    rspamdUrl: filterUrl('rspamd, asked for a spam verdict of received mail: `http://127.0.0.1:11333`.'),
    spamd: filterAddress('spamd (`host:port`, or the path of its socket), likewise; one of both at most.'),
  },
  virus: {
    clamd: filterAddress(
      'clamd (`host:port`, or the path of its socket), asked for a virus verdict of received mail.',
    ),
  },
  autoconfigure: {
    cloudflareBaseUrl: text(
      'https://api.cloudflare.com/client/v4',
      'Base address of the DNS provider that domains can be set up at; with `http://`, on loopback alone.',
    ),
  },
  doctor: {
    probes: list(
      ['gmail.com', 'outlook.com', 'yahoo.com'],
      'Domains by whose mail servers `mailhorn doctor` tries whether port 25 is open.',
    ),
    blocklists: list(
      ['zen.spamhaus.org', 'bl.spamcop.net', 'b.barracudacentral.org'],
      'DNS lists that it looks our addresses up in, through `dns.resolvers`.',
    ),
    clockUrl: text(
      'https://www.cloudflare.com/',
      'Web address by the date of whose answer it checks the clock. Empty: not checked.',
    ),
  },
  tracking: {
    baseUrl: text('', 'Base address of tracking, share and unsubscribe links, where it is another one.', {
      shown: '`http.base_url`',
    }),
  },
  fetch: {
    attachments: flag(false, 'Fetch attachments that are named by `path`, an https URL.'),
    allowLoopback: flag(false, 'Let outbound fetches reach loopback, for tests.'),
  },
  webhooks: {
    allowInsecureLoopback: flag(false, 'Allow `http://` webhooks to loopback, for tests.'),
  },
  notices: {
    from: text(
      '',
      'Address from which accounts are told by mail, at a domain that an account has verified.',
      {
        shown: '`mailhorn@<mail_host>`',
      },
    ),
  },
  rateLimit: {
    requestsPerSecond: integer(100, 'API requests an account may make; 0 means any number.'),
  },
  metrics: {
    listen: planned(listen('', 'Prometheus metrics on a listener of their own.')),
    token: optionalText('Bearer token that opens `/metrics` on the API listener.', { secret: true }),
  },
  simulator: {
    domain: domain('', 'Domain of the simulator addresses.', {
      shown: '`simulator.test` while `mail_host` is the default, else `simulator.<mail_host>`',
    }),
  },
  admin: {
    email: text('', 'Address of the first user.', { shown: '`admin@<mail_host>`' }),
    password: optionalText('Password of the first user.', { shown: 'generated', secret: true }),
    credentialsFile: optionalText(
      'File that the first start makes, with mode 0600, for the first password and API key, which are then not printed; from `data_dir` where it is no full path.',
    ),
  },
  apiKeys: { prefix: text('re_', 'What every API key begins with.') },
  secretKey: optionalText('Encrypts secrets at rest; at least 16 characters.', {
    shown: 'a generated file in `data_dir`',
    secret: true,
  }),
  log: {
    level: choice(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'info',
      'Log lines from this level up.',
    ),
  },
}

/** Settings that exist once per name the operator chooses, as in `regions.<name>.feedback`. */
export const families = {
  regions: {
    feedback: flag(false, 'Whether domains of the region get delivery and bounce events.'),
  },
  plans: {
    retentionDays: limit(
      90,
      'How long emails of an account on the plan are kept; `none` keeps them for ever.',
      {
        least: 1,
        unit: 'days',
      },
    ),
    daily: limit(null, 'Recipients a UTC day.', { shown: 'none' }),
    monthly: limit(null, 'Recipients a UTC month.', { shown: 'none' }),
  },
  providers: {
    connections: limit(null, 'Sessions at once to the mailbox provider, such as `google`.', {
      least: 1,
      shown: 'by a table',
    }),
    messagesPerConnection: limit(null, 'Messages that one session to it carries.', {
      least: 1,
      shown: 'by a table',
    }),
    messagesPerSecond: limit(null, 'Attempts begun a second there.', { least: 1, shown: 'any number' }),
  },
  smartHosts: {
    url: smartHost(
      'Relay for the domains, in place of `delivery.smart_host`; without it: to their MX hosts.',
    ),
    domains: smartHostDomains('Recipient domains, `*.example.com` for all below one.'),
  },
}

export const FAMILY_NAME = /^[a-z0-9][a-z0-9-]*$/
