import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { ConfigError, environmentName, loadConfig } from '../../../src/config/config.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('config')

/** A root folder with the given files under `config/`. */
function rootWith(t: TestContext, files: Record<string, unknown> = {}): string {
  const root = mkdtempSync(join(tmpdir(), 'config-'))
  t.after(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'config'))
  for (const [name, content] of Object.entries({ 'default.json': {}, ...files }))
    writeFileSync(join(root, 'config', name), typeof content === 'string' ? content : JSON.stringify(content))
  return root
}

function problemsOf(root: string, env: NodeJS.ProcessEnv = {}): string {
  try {
    loadConfig(root, env)
  } catch (error) {
    assert.instance(error, ConfigError)
    return (error as Error).message
  }
  return assert.unreachable() as never
}

test('config: every setting has its default', t => {
  const root = rootWith(t)
  const { config, warnings } = loadConfig(root, {})
  assert.equal(config.http.listen, { host: '127.0.0.1', port: 3000 })
  assert.is(config.dataDir, join(root, 'data'))
  assert.is(config.mailHost, 'mailhorn.test')
  assert.is(config.simulator.domain, 'simulator.test')
  assert.is(config.admin.email, 'admin@mailhorn.test')
  assert.is(config.delivery.port, 25)
  assert.equal(config.dns.verifyResolvers, ['1.1.1.1', '8.8.8.8', '9.9.9.9'])
  assert.equal(warnings, [])
})

test('config: the data folder does not depend on the working directory', t => {
  const root = rootWith(t)
  for (const [input, folder] of [
    ['mine/data', join(root, 'mine/data')],
    ['/var/lib/mailhorn', '/var/lib/mailhorn'],
  ] as const)
    assert.is(loadConfig(root, { MAILHORN_DATA_DIR: input }).config.dataDir, folder)
})

test('config: relative paths are resolved against the base folder that a launcher names', t => {
  const { config, warnings } = loadConfig(rootWith(t), {
    MAILHORN_BASE_FOLDER: '/srv/mail',
    MAILHORN_BACKUP_FOLDER: 'copies',
  })
  assert.equal([config.dataDir, config.backup.folder], ['/srv/mail/data', '/srv/mail/copies'])
  assert.equal(warnings, [])
})

test('config: the shipped file has the documented plans and regions', () => {
  const { config } = loadConfig(join(import.meta.dirname, '../../..'), {})
  assert.equal({ ...config.plans.free }, { retentionDays: 7, daily: 100, monthly: 3000 })
  assert.equal({ ...config.plans.scale }, { retentionDays: 90, daily: null, monthly: null })
  assert.equal(
    Object.entries(config.regions).map(([name, { feedback }]) => [name, feedback]),
    [
      ['us-west-2', true],
      ['us-east-1', false],
      ['eu-west-1', false],
    ],
  )
})

test('config: retention is at least one day, or unlimited', t => {
  const root = rootWith(t, {
    'default.json': { plans: { a: { retention_days: 7 }, b: { retention_days: null } } },
  })
  const setting = 'MAILHORN_PLANS_A_RETENTION_DAYS'
  const daysOf = (env = {}) => {
    const { plans } = loadConfig(root, env).config
    return [plans.a!.retentionDays, plans.b!.retentionDays]
  }
  assert.equal(daysOf(), [7, null])
  assert.equal(daysOf({ [setting]: 'none' }), [null, null])
  assert.throws(() => daysOf({ [setting]: '0' }), /plans\.a\.retention_days/)
})

test('config: one session, message per session and attempt a second are the least of a provider', t => {
  const root = rootWith(t, {
    'default.json': {
      providers: { google: { connections: 1, messages_per_connection: 1, messages_per_second: 1 } },
    },
  })
  assert.equal(
    { ...loadConfig(root, {}).config.providers.google },
    {
      ...{ connections: 1, messagesPerConnection: 1, messagesPerSecond: 1 },
    },
  )
  for (const name of ['CONNECTIONS', 'MESSAGES_PER_CONNECTION', 'MESSAGES_PER_SECOND'])
    assert.throws(
      () => loadConfig(root, { [`MAILHORN_PROVIDERS_GOOGLE_${name}`]: '0' }),
      new RegExp(`providers\\.google\\.${name.toLowerCase()}`),
    )
})

test('config: the environment overrides the local file, which overrides the shipped one', t => {
  const root = rootWith(t, {
    'default.json': { mail_host: 'a.test', http: { base_url: 'https://a.test' } },
    'local.json': { mail_host: 'b.test', delivery: { port: 2526 } },
  })
  const { config } = loadConfig(root, { MAILHORN_DELIVERY_PORT: '2527' })
  assert.is(config.mailHost, 'b.test')
  assert.is(config.http.baseUrl, 'https://a.test')
  assert.is(config.delivery.port, 2527)
  assert.is(config.simulator.domain, 'simulator.b.test')
  assert.is(config.admin.email, 'admin@b.test')
})

test('config: MAILHORN_CONFIG names the local file, which must exist', t => {
  const root = rootWith(t, { 'local.json': { mail_host: 'b.test' }, 'other.json': { 'log.level': 'debug' } })
  const { config } = loadConfig(root, { MAILHORN_CONFIG: join(root, 'config/other.json') })
  assert.is(config.mailHost, 'mailhorn.test')
  assert.is(config.log.level, 'debug')
  assert.match(
    problemsOf(root, { MAILHORN_CONFIG: '/nowhere.json' }),
    '/nowhere.json: cannot be read (ENOENT)',
  )
})

test('config: a list of choices accepts at least one known value', t => {
  const root = rootWith(t)
  assert.equal(loadConfig(root, {}).config.roles, ['all'])
  assert.equal(loadConfig(root, { MAILHORN_ROLES: 'api' }).config.roles, ['api'])
  assert.is(
    problemsOf(root, { MAILHORN_ROLES: 'api,mat' }),
    'roles (environment): contains "mat", which is not one of all, api',
  )
  assert.is(
    problemsOf(rootWith(t, { 'local.json': { roles: [] } })),
    'roles (config/local.json): must contain at least one of all, api',
  )
})

test('config: an invalid database URL is reported without its password', t => {
  const root = rootWith(t)
  const url = (text: string) => ({ MAILHORN_DATABASE_URL: text })
  for (const good of ['sqlite:mail.db', 'postgres://ann:secret@db.example/mail?sslmode=require'])
    assert.is(loadConfig(root, url(good)).config.database.url, good)
  assert.is(
    problemsOf(root, url('mysql://ann:secret@db/mail')),
    'database.url (environment): must be sqlite:<file> or postgres://user:password@host:port/database',
  )
  assert.is(
    problemsOf(root, url('postgres://ann:secret@db')),
    'database.url (environment): names no database; its form is postgres://user:password@host:port/database',
  )
})

test('config: environment names use underscores, lists use commas', t => {
  const root = rootWith(t, { 'default.json': { regions: { 'us-east-1': { feedback: false } } } })
  const { config } = loadConfig(root, {
    MAILHORN_REGIONS_US_EAST_1_FEEDBACK: 'true',
    MAILHORN_DNS_RESOLVERS: '127.0.0.1:5300, [::1]:53',
    MAILHORN_SMTP_INBOUND_LISTEN: '',
  })
  assert.is(config.regions['us-east-1']?.feedback, true)
  assert.equal(config.dns.resolvers, ['127.0.0.1:5300', '[::1]:53'])
  assert.equal(config.dns.verifyResolvers, config.dns.resolvers)
  assert.is(config.smtp.inbound.listen, null)
  assert.is(environmentName('http.trusted_proxies'), 'MAILHORN_HTTP_TRUSTED_PROXIES')
})

test('config: networks are addresses and ranges; the relay listener requires networks', t => {
  const root = rootWith(t, {})
  assert.is(
    problemsOf(root, { MAILHORN_HTTP_TRUSTED_PROXIES: '10.0.0.0/8,proxy' }),
    'http.trusted_proxies (environment): contains "proxy", which is neither an IP address nor a network',
  )
  assert.is(
    problemsOf(root, { MAILHORN_SMTP_RELAY_LISTEN: '10.0.0.1:25' }),
    'smtp.relay.networks: must not be empty when smtp.relay.listen is set',
  )
})

test('config: the certificate comes from both files or from ACME', t => {
  const root = rootWith(t, {})
  const files = { MAILHORN_SMTP_TLS_CERT_FILE: '/cert.pem', MAILHORN_SMTP_TLS_KEY_FILE: '/key.pem' }
  assert.match(
    problemsOf(root, { ...files, MAILHORN_ACME_ENABLED: 'true' }),
    /^acme\.enabled: cannot be combined/,
  )
  assert.match(problemsOf(root, { ...files, MAILHORN_SMTP_TLS_KEY_FILE: '' }), /must be set together/)
  assert.match(
    problemsOf(root, {
      MAILHORN_ACME_ENABLED: 'true',
      MAILHORN_ACME_CHALLENGE: 'dns-01',
      MAILHORN_DNS_LISTEN: '',
    }),
    /^acme\.challenge: dns-01 requires/,
  )
})

test('config: at most one spam filter, at a valid address', t => {
  const root = rootWith(t, {})
  const rspamd = { MAILHORN_SPAM_RSPAMD_URL: 'http://127.0.0.1:11333' }
  assert.is(
    problemsOf(root, { ...rspamd, MAILHORN_SPAM_SPAMD: '127.0.0.1:783' }),
    'spam.spamd: cannot be combined with spam.rspamd_url',
  )
  assert.is(
    problemsOf(root, { MAILHORN_VIRUS_CLAMD: 'clamd' }),
    'virus.clamd (environment): must be host:port or the absolute path of a socket',
  )
  const { config, warnings } = loadConfig(root, { ...rspamd, MAILHORN_VIRUS_CLAMD: '/run/clamd.ctl' })
  assert.equal(
    [config.spam.rspamdUrl, config.virus.clamd, warnings],
    [rspamd.MAILHORN_SPAM_RSPAMD_URL, { path: '/run/clamd.ctl' }, []],
  )
})

test('config: a variable that ends in _FILE reads the value from a file', t => {
  const root = rootWith(t, { secret: 'a long enough secret\n' })
  const { config } = loadConfig(root, { MAILHORN_SECRET_KEY_FILE: join(root, 'config/secret') })
  assert.is(config.secretKey, 'a long enough secret')
  assert.match(
    problemsOf(root, { MAILHORN_SECRET_KEY_FILE: '/nowhere' }),
    'MAILHORN_SECRET_KEY_FILE: /nowhere',
  )
})

test('config: an unknown key in a file is an error with a suggestion', t => {
  const root = rootWith(t, { 'local.json': { http: { listn: '127.0.0.1:1' }, zebra: 1 } })
  const problems = problemsOf(root)
  assert.match(problems, 'http.listn (config/local.json): is not a setting; did you mean "http.listen"?')
  assert.match(problems, 'zebra (config/local.json): is not a setting')
})

test('config: the suggestion differs by at most four characters', t => {
  const far = rootWith(t, { 'local.json': { http: { listenwxyz: 1, listenvwxyz: 1 } } })
  assert.equal(problemsOf(far).split('\n'), [
    'http.listenwxyz (config/local.json): is not a setting; did you mean "http.listen"?',
    'http.listenvwxyz (config/local.json): is not a setting',
  ])
})

test('config: provider limits are accepted for known providers and smart hosts', t => {
  const limits = (...names: string[]) => ({
    smart_hosts: { eu: { domains: ['example.de'] } },
    providers: Object.fromEntries(names.map(name => [name, { connections: 3 }])),
  })
  const good = rootWith(t, { 'local.json': limits('google', 'smart-host', 'smart-host-eu') })
  assert.is(loadConfig(good, {}).config.providers.google?.connections, 3)
  assert.equal(problemsOf(rootWith(t, { 'local.json': limits('gogle', 'smart-host-us') })).split('\n'), [
    'providers.gogle.connections (config/local.json): is not a setting; did you mean "providers.google.connections"?',
    'providers.smart-host-us.connections (config/local.json): is not a setting; did you mean "providers.smart-host-eu.connections"?',
  ])
})

test('config: a domain has at most one smart host', t => {
  const smartHosts = {
    a: { url: 'smtps://relay.example', domains: ['example.de', '*.example.de'] },
    b: { domains: ['EXAMPLE.de', 'other.example'] },
  }
  assert.is(
    problemsOf(rootWith(t, { 'local.json': { smart_hosts: smartHosts } })),
    'smart_hosts.b.domains: contains example.de, which is also in smart_hosts.a.domains',
  )
})

test('config: a CA file is validated', t => {
  const ca = new URL('../../kit/certs/ca.pem', import.meta.url).pathname
  const root = rootWith(t, {
    'none.pem': 'mailhorn\n',
    'bad.pem': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  })
  assert.is(loadConfig(root, { MAILHORN_DELIVERY_CA_FILE: ca }).config.delivery.caFile, ca)
  for (const [variable, key] of [
    ['MAILHORN_DELIVERY_CA_FILE', 'delivery.ca_file'],
    ['MAILHORN_ACME_CA_FILE', 'acme.ca_file'],
  ] as const) {
    const problemWith = (path: string) => problemsOf(root, { [variable]: path })
    assert.is(
      problemWith('/nonexistent'),
      `${key} (environment): names /nonexistent, which cannot be read (ENOENT)`,
    )
    const none = join(root, 'config/none.pem')
    assert.is(problemWith(none), `${key} (environment): names ${none}, which contains no PEM certificate`)
    assert.match(problemWith(join(root, 'config/bad.pem')), 'bad.pem, which contains an invalid certificate')
  }
})

test('config: the access token of imports is no unknown variable', t => {
  assert.equal(loadConfig(rootWith(t), { MAILHORN_ACCESS_TOKEN: 'mh_x' }).warnings, [])
})

test('config: an unknown variable is a warning', t => {
  const { warnings } = loadConfig(rootWith(t), {
    MAILHORN_PORT: 'tcp://10.0.0.1',
    MAILHORN_MAIL_HOSTS: 'x.test',
  })
  assert.is(warnings.length, 2)
  assert.match(warnings[1]!, 'MAILHORN_MAIL_HOSTS: is not a setting; did you mean "MAILHORN_MAIL_HOST"?')
})

test('config: backups on a schedule have a folder outside of the data, and a time of day', t => {
  const root = rootWith(t)
  const at = (env: NodeJS.ProcessEnv) => loadConfig(root, env).config.backup
  assert.equal([at({}).folder, at({}).at], [null, 3 * 3_600_000])
  assert.is(at({ MAILHORN_BACKUP_FOLDER: 'copies' }).folder, join(root, 'copies'))
  assert.is(at({ MAILHORN_BACKUP_AT: '23:59' }).at, 86_340_000)
  assert.is(
    problemsOf(root, { MAILHORN_BACKUP_AT: '24:00' }),
    'backup.at (environment): must be a time of day, such as 03:00',
  )
  for (const folder of ['data', 'data/backups'])
    assert.match(
      problemsOf(root, { MAILHORN_BACKUP_FOLDER: folder }),
      /^backup\.folder: must not be in data_dir/,
    )
  const onPostgres = at({ MAILHORN_BACKUP_FOLDER: 'copies', MAILHORN_DATABASE_URL: 'postgres://u@h/d' })
  assert.is(onPostgres.folder, join(root, 'copies'))
})

test('config: a listener for metrics that others can reach needs a token', t => {
  const root = rootWith(t)
  for (const listen of ['127.0.0.1:9100', '[::1]:9100', 'localhost:9100'])
    assert.is(loadConfig(root, { MAILHORN_METRICS_LISTEN: listen }).config.metrics.listen?.port, 9100)
  const open = { MAILHORN_METRICS_LISTEN: '0.0.0.0:9100' }
  assert.is(
    problemsOf(root, open),
    'metrics.token: must be set when metrics.listen is not a loopback address',
  )
  assert.is(loadConfig(root, { ...open, MAILHORN_METRICS_TOKEN: 'x' }).config.metrics.token, 'x')
})

test('config: all problems are reported with key and source', t => {
  const root = rootWith(t, { 'local.json': { delivery: { threads: 'many' }, log: { level: 'loud' } } })
  const problems = problemsOf(root, { MAILHORN_HTTP_LISTEN: 'everywhere', MAILHORN_MAIL_HOST: 'x' }).split(
    '\n',
  )
  assert.equal(problems, [
    'mail_host (environment): must be a domain name with at least two labels',
    'http.listen (environment): must be host:port',
    'delivery.threads (config/local.json): must be an integer',
    'log.level (config/local.json): must be one of trace, debug, info, warn, error, fatal, silent',
  ])
})

test('config: an invalid file is named', t => {
  assert.match(problemsOf(rootWith(t, { 'local.json': '{' })), 'config/local.json: is not valid JSON')
  assert.match(problemsOf(rootWith(t, { 'local.json': '[]' })), 'is not an object')
})

test('config: keys such as __proto__ are unknown settings', t => {
  const problems = problemsOf(
    rootWith(t, { 'local.json': '{"__proto__": {"x": 1}, "plans": {"__proto__": {"daily": 1}}}' }),
  )
  assert.match(problems, '__proto__.x (config/local.json): is not a setting')
  assert.match(problems, 'plans.__proto__: is not a valid name')
})

test('config: the result is frozen', t => {
  const { config } = loadConfig(rootWith(t), {})
  assert.throws(() => {
    ;(config.http as { baseUrl: string }).baseUrl = 'x'
  })
})

for (const [prefix, expected] of [
  ['mh_', ''],
  ['re_full_', ''],
  ['token_v2_', ''],
  ['', /^access_tokens\.prefix \(environment\): must consist of/],
  ['mh', /must consist of/],
  ['_', /must consist of/],
  ['1_', /must consist of/],
  ['m h_', /must consist of/],
  [`${'x'.repeat(20)}_`, /must consist of/],
  ['re_', /^access_tokens\.prefix: API keys begin with re_, too/],
  ['phs_', /^access_tokens\.prefix: must not begin with phs_/],
  ['phs_x_', /^access_tokens\.prefix: must not begin with phs_/],
] as const)
  test(`config: the prefix "${prefix}" of access tokens is ${expected ? 'refused' : 'accepted'}`, t => {
    const env = { MAILHORN_ACCESS_TOKENS_PREFIX: prefix }
    if (expected) assert.match(problemsOf(rootWith(t, {}), env), expected)
    else assert.is(loadConfig(rootWith(t, {}), env).config.accessTokens.prefix, prefix)
  })

test('config: API keys may not begin with the prefix of access tokens', t => {
  const env = { MAILHORN_API_KEYS_PREFIX: 'mh_live_' }
  assert.match(problemsOf(rootWith(t, {}), env), /api_keys\.prefix: mh_live_/)
})

test.run()
