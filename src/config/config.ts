/**
 * Loads the configuration. In: `config/default.json`, the operator's file and the environment; later
 * sources override earlier ones. Out: a frozen, typed `Config` and warnings, or a `ConfigError` that lists
 * every problem. Called once by each program (`main.ts`, `cli.ts`) at its start.
 */
import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { editDistance } from '../lib/edit-distance.ts'
import { PROVIDERS } from '../pipeline/delivery/destinations/providers.ts'
import { GENERAL_SMART_HOST } from '../pipeline/delivery/destinations/smart-host.ts'
import { LABORATORY_SIMULATOR, simulatorOf } from '../pipeline/simulator/simulate.ts'
import { SESSION_TOKEN_PREFIX } from '../resources/accounts/sessions.ts'
import { faultInS3Address, isS3Address, missingS3Settings } from '../store/backup/s3-address.ts'
import { FAMILY_NAME, families } from './families.ts'
import { isLoopback, ownListener, thisMachine } from './own-listeners.ts'
import { DEFAULT_MAIL_HOST, schema } from './schema.ts'
import { type Setting, SettingFault } from './setting.ts'
import { fileSources, type Source, secretFile } from './sources.ts'

type Values<T> = T extends Setting<infer V> ? V : { readonly [K in keyof T]: Values<T[K]> }
type Family<T> = Readonly<Record<string, Values<T>>>

export type Config = Values<typeof schema> & {
  readonly [F in keyof typeof families]: Family<(typeof families)[F]>
}

/** Lists all problems of the configuration, one per line, each with its key and source. */
export class ConfigError extends Error {}

interface LoadedConfig {
  config: Config
  warnings: string[]
  /** All settings by their dotted keys. */
  settings: ReadonlyMap<string, LoadedSetting>
}

/** A setting, and what a file or the environment says about it. */
export interface LoadedSetting {
  setting: Setting<unknown>
  /** Undefined for a setting that has its default. */
  written: { source: 'file' | 'environment' /** Path or variable. */; name: string; raw: unknown } | undefined
}

const ENVIRONMENT = 'environment'
const ENVIRONMENT_PREFIX = 'MAILHORN_'
/** Environment variables with our prefix that are not settings. */
const OTHER_VARIABLES = new Set(['MAILHORN_CONFIG', 'MAILHORN_ACCESS_TOKEN', 'MAILHORN_BASE_FOLDER'])

/**
 * Reads `config/default.json`, then `config/local.json` or the file named by `MAILHORN_CONFIG`, then the
 * environment. Relative paths are resolved against `MAILHORN_BASE_FOLDER`, or else `root`: the single
 * executable sets it to its own folder, and a program that npm installed to the current one.
 * @param root folder that holds `config/`
 * @throws ConfigError
 */
export function loadConfig(root: string, env: NodeJS.ProcessEnv): LoadedConfig {
  const problems: string[] = []
  const warnings: string[] = []
  const files = fileSources(root, env.MAILHORN_CONFIG, problems)
  const settings = settingsFor(files, problems)
  const environment = environmentSource(settings, env, problems, warnings)
  const sources = [...files, environment]
  const values = readAll(settings, sources, problems)
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  const config = derive(nest(values) as Config, env.MAILHORN_BASE_FOLDER || root)
  const contradictions = contradictionsIn(config)
  if (contradictions.length > 0) throw new ConfigError(contradictions.join('\n'))
  const loaded = new Map(
    [...settings].map(([key, setting]) => [key, { setting, written: writtenFor(key, sources, env) }]),
  )
  return { config: deepFreeze(config), warnings, settings: loaded }
}

function writtenFor(
  key: string,
  sources: readonly Source[],
  env: NodeJS.ProcessEnv,
): LoadedSetting['written'] {
  const found = sources.findLast(({ values }) => values.has(key))
  if (!found) return undefined
  const raw = found.values.get(key)
  if (found.name !== ENVIRONMENT) return { source: 'file', name: found.name, raw }
  const variable = environmentName(key)
  return { source: 'environment', name: env[variable] === undefined ? `${variable}_FILE` : variable, raw }
}

/**
 * Returns the configuration with other values of some settings, and which of these differ from it.
 *
 * @param values by the names of environment variables
 * @returns `changed` has the names of the variables
 * @throws ConfigError
 */
export function changedConfig(
  config: Config,
  values: Readonly<Record<string, string>>,
): { config: Config; changed: string[] } {
  const changed: string[] = []
  let next: Config = config
  for (const [key, setting] of flatten(schema)) {
    const name = environmentName(key)
    const value = values[name]
    if (value === undefined) continue
    const path = pathOf(key)
    const wanted = readOne(name, setting, value)
    if (isDeepStrictEqual(valueAt(config, path), wanted)) continue
    changed.push(name)
    next = withValue(next as unknown as Tree, path, wanted) as unknown as Config
  }
  return { config: next, changed }
}

type Tree = Readonly<Record<string, unknown>>

/** @throws ConfigError */
function readOne(name: string, setting: Setting<unknown>, value: string): unknown {
  try {
    return setting.read(value)
  } catch (error) {
    if (!(error instanceof SettingFault)) throw error
    throw new ConfigError(`${name}: ${error.message}`)
  }
}

/** @returns undefined for a setting of a family without members */
export function valueAt(config: Config, path: readonly string[]): unknown {
  return path.reduce<unknown>((node, part) => (node as Tree | undefined)?.[part], config)
}

function withValue(tree: Tree, [first, ...rest]: readonly string[], value: unknown): Tree {
  return { ...tree, [first!]: rest.length === 0 ? value : withValue(tree[first!] as Tree, rest, value) }
}

/** Returns the schema as a map of dotted snake_case keys. Families are expanded by the names in the files. */
export function settingsFor(files: readonly Source[], problems: string[]): Map<string, Setting<unknown>> {
  const settings = flatten(schema)
  const limited = limitedDestinations(files)
  for (const [familyKey, members] of Object.entries(families)) {
    const family = snakeCase(familyKey)
    for (const name of familyNames(family, files)) {
      if (!FAMILY_NAME.test(name)) problems.push(`${family}.${name}: is not a valid name`)
      else if (family !== 'providers' || limited.includes(name))
        for (const [key, setting] of flatten(members)) settings.set(`${family}.${name}.${key}`, setting)
    }
  }
  const limits = limited.flatMap(name => [...flatten(families.providers, `providers.${name}.`).keys()])
  for (const { name, values } of files)
    for (const key of values.keys())
      if (!settings.has(key))
        problems.push(`${key} (${name}): is not a setting${nearest(key, [...settings.keys(), ...limits])}`)
  return settings
}

/**
 * Lists the names that `providers.<name>` accepts: the known providers and the destinations of smart hosts.
 */
function limitedDestinations(files: readonly Source[]): string[] {
  return [
    ...PROVIDERS.map(({ name }) => name),
    ...[...familyNames('smart_hosts', files)].map(name => `${GENERAL_SMART_HOST}-${name}`),
    GENERAL_SMART_HOST,
  ]
}

/** Converts `section.key-name` to `MAILHORN_SECTION_KEY_NAME`. */
export function environmentName(key: string): string {
  return ENVIRONMENT_PREFIX + key.toUpperCase().replace(/[.-]/g, '_')
}

function environmentSource(
  settings: ReadonlyMap<string, Setting<unknown>>,
  env: NodeJS.ProcessEnv,
  problems: string[],
  warnings: string[],
): Source {
  const values = new Map<string, unknown>()
  const known = new Map([...settings.keys()].map(key => [environmentName(key), key]))
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith(ENVIRONMENT_PREFIX) || OTHER_VARIABLES.has(variable) || value === undefined)
      continue
    const key = known.get(variable)
    const fileKey = variable.endsWith('_FILE') ? known.get(variable.slice(0, -'_FILE'.length)) : undefined
    if (key !== undefined) values.set(key, value)
    else if (fileKey !== undefined) values.set(fileKey, secretFile(variable, value, problems))
    else warnings.push(`${variable}: is not a setting${nearest(variable, known.keys())}`)
  }
  return { name: ENVIRONMENT, values }
}

/** The last source that names a key wins. */
function readAll(
  settings: ReadonlyMap<string, Setting<unknown>>,
  sources: readonly Source[],
  problems: string[],
): Map<string, unknown> {
  const values = new Map<string, unknown>()
  for (const [key, setting] of settings) {
    const source = sources.findLast(candidate => candidate.values.has(key))
    try {
      values.set(key, source ? setting.read(source.values.get(key)) : setting.fallback)
    } catch (error) {
      if (!(error instanceof SettingFault)) throw error
      problems.push(`${key} (${source?.name}): ${error.message}`)
    }
  }
  return values
}

/** Fills in defaults that depend on other settings, and resolves relative paths. */
function derive(config: Config, base: string): Config {
  const { mailHost, http, simulator, admin, dns, tracking, autoconfigure, backup } = config
  const laboratory = mailHost === DEFAULT_MAIL_HOST
  const dataDir = resolve(base, config.dataDir)
  return {
    ...config,
    dataDir,
    http: { ...http, baseUrl: withoutSlash(http.baseUrl) },
    tracking: { baseUrl: withoutSlash(tracking.baseUrl) },
    autoconfigure: { cloudflareBaseUrl: withoutSlash(autoconfigure.cloudflareBaseUrl) },
    simulator: { domain: simulator.domain || (laboratory ? LABORATORY_SIMULATOR : simulatorOf(mailHost)) },
    admin: {
      ...admin,
      email: admin.email || `admin@${mailHost}`,
      credentialsFile: admin.credentialsFile && resolve(dataDir, admin.credentialsFile),
    },
    backup: { ...backup, folder: backup.folder && backupFolder(base, backup.folder) },
    dns: { ...dns, verifyResolvers: verifyResolvers(dns) },
    providers: config.providers ?? {},
    smartHosts: config.smartHosts ?? {},
  }
}

/** Lists combinations of valid settings that contradict each other. */
function contradictionsIn(config: Config): string[] {
  const { delivery, acme, dns, spam, smartHosts, metrics } = config
  const { relay, tls } = config.smtp
  const { warmup, sourceIps } = delivery
  return [
    ...ambiguousPrefixes(config),
    ...warmup
      .filter(({ address }) => !sourceIps.some(source => source.address === address))
      .map(({ address }) => `delivery.warmup: contains ${address}, which is not in delivery.source_ips`),
    ...(relay.listen !== null && relay.networks.length === 0
      ? ['smtp.relay.networks: must not be empty when smtp.relay.listen is set']
      : []),
    ...((tls.certFile === null) === (tls.keyFile === null)
      ? []
      : ['smtp.tls.cert_file, smtp.tls.key_file: must be set together']),
    ...(acme.enabled && tls.certFile !== null
      ? ['acme.enabled: cannot be combined with smtp.tls.cert_file']
      : []),
    ...(acme.enabled && acme.challenge === 'dns-01' && dns.listen.length === 0
      ? ['acme.challenge: dns-01 requires dns.listen']
      : []),
    ...(spam.rspamdUrl !== null && spam.spamd !== null
      ? ['spam.spamd: cannot be combined with spam.rspamd_url']
      : []),
    ...(metrics.listen !== null && metrics.token === null && !isLoopback(metrics.listen.host)
      ? ['metrics.token: must be set when metrics.listen is not a loopback address']
      : []),
    ...impossibleBackups(config),
    ...repeatedDomains(smartHosts),
    ...returningSmartHosts(config),
  ]
}

/** Reports a prefix of access tokens that other credentials may have, too, or that marks a session. */
function ambiguousPrefixes({ apiKeys, accessTokens: { prefix } }: Config): string[] {
  if (apiKeys.prefix.startsWith(prefix))
    return [`access_tokens.prefix: API keys begin with ${prefix}, too (api_keys.prefix: ${apiKeys.prefix})`]
  return prefix.startsWith(SESSION_TOKEN_PREFIX)
    ? [`access_tokens.prefix: must not begin with ${SESSION_TOKEN_PREFIX}, the prefix of sessions`]
    : []
}

function backupFolder(root: string, folder: string): string {
  return isS3Address(folder) ? withoutSlash(folder) : resolve(root, folder)
}

/** Reports a place of backups that the service cannot or must not write to. */
function impossibleBackups({ backup: { folder, s3 }, dataDir }: Config): string[] {
  if (folder === null) return []
  if (isS3Address(folder)) {
    const fault = faultInS3Address(folder)
    if (fault !== undefined) return [`backup.folder: ${fault}`]
    return missingS3Settings(s3).map(name => `${name}: must be set for ${folder}`)
  }
  return `${folder}/`.startsWith(`${dataDir}/`)
    ? ['backup.folder: must not be in data_dir: what destroys the data would destroy its backups']
    : []
}

/** Reports domains that are listed for more than one smart host. */
function repeatedDomains(smartHosts: Config['smartHosts']): string[] {
  const owners = new Map<string, string>()
  const problems: string[] = []
  for (const [name, { domains }] of Object.entries(smartHosts))
    for (const domain of domains) {
      const owner = owners.get(domain) ?? name
      if (owner !== name)
        problems.push(
          `smart_hosts.${name}.domains: contains ${domain}, which is also in smart_hosts.${owner}.domains`,
        )
      owners.set(domain, owner)
    }
  return problems
}

/** Reports smart hosts that are one of the own listeners. */
function returningSmartHosts({ delivery, alerts, smartHosts, smtp, mailHost }: Config): string[] {
  const machine = thisMachine(mailHost)
  const hosts = [
    ['delivery.smart_host', delivery.smartHost] as const,
    ['alerts.smart_host', alerts.smartHost] as const,
    ...Object.entries(smartHosts).map(([name, { url }]) => [`smart_hosts.${name}.url`, url] as const),
  ]
  return hosts.flatMap(([key, host]) => {
    const listener = host && ownListener(host, smtp, machine)
    if (!listener) return []
    return [`${key}: leads back to this installation (${listener}); mail would be sent in a loop`]
  })
}

function withoutSlash(address: string): string {
  return address.replace(/\/+$/, '')
}

const PUBLIC_RESOLVERS = ['1.1.1.1', '8.8.8.8', '9.9.9.9']

function verifyResolvers({ verifyResolvers, resolvers }: Config['dns']): readonly string[] {
  if (verifyResolvers.length > 0) return verifyResolvers
  return resolvers.length > 0 ? resolvers : PUBLIC_RESOLVERS
}

function familyNames(family: string, files: readonly Source[]): Set<string> {
  const keys = files.flatMap(({ values }) => [...values.keys()])
  const members = keys.filter(key => key.startsWith(`${family}.`)).map(key => key.split('.')[1]!)
  return new Set(members)
}

function flatten(tree: object, prefix = ''): Map<string, Setting<unknown>> {
  const settings = new Map<string, Setting<unknown>>()
  for (const [name, node] of Object.entries(tree)) {
    const key = prefix + snakeCase(name)
    if ('read' in node) settings.set(key, node)
    else for (const [inner, setting] of flatten(node, `${key}.`)) settings.set(inner, setting)
  }
  return settings
}

/** Turns dotted snake_case keys into nested camelCase objects. Names inside families are not converted. */
function nest(values: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const root: Record<string, unknown> = {}
  for (const [key, value] of values) {
    const path = pathOf(key)
    let node = root
    for (const part of path.slice(0, -1)) {
      node[part] ??= Object.create(null)
      node = node[part] as typeof node
    }
    node[path.at(-1)!] = value
  }
  return root
}

/** Returns where the configuration has a setting. */
export function pathOf(key: string): string[] {
  const parts = key.split('.')
  const isOfFamily = camelCase(parts[0]!) in families
  return parts.map((part, i) => (i === 1 && isOfFamily ? part : camelCase(part)))
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) deepFreeze(inner)
  return Object.freeze(value)
}

const EDIT_DISTANCE_MAX = 4

/** Returns `; did you mean "…"?`, or an empty string if no known name is close. */
function nearest(name: string, known: Iterable<string>): string {
  let best = ''
  let distance = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const found = editDistance(name, candidate, { max: EDIT_DISTANCE_MAX })
    if (found < distance) [best, distance] = [candidate, found]
  }
  return best === '' ? '' : `; did you mean "${best}"?`
}
