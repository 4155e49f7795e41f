/**
 * TLS certificates of the listeners, and their orders at a certificate authority. Part of the composition
 * root.
 */
import { randomUUID } from 'node:crypto'
import { isIPv4 } from 'node:net'
import { type Config, ConfigError } from '../config/config.ts'
import {
  type Certificates,
  followCertificate,
  heldCertificate,
  ownCertificate,
  withDailyTicketKeys,
} from '../lib/certificates.ts'
import type { SecretKeys } from '../lib/secret-keys.ts'
import { isWithinDomain } from '../protocols/dns/name.ts'
import { feedbackHost } from '../protocols/dns/provider-zone.ts'
import { createResolver } from '../protocols/dns/resolver.ts'
import { createOutbound } from '../protocols/http-client/outbound.ts'
import {
  CERTIFICATE_CHANGED,
  CERTIFICATE_DUE,
  findCertificate,
} from '../resources/certificates/certificate-rows.ts'
import {
  type KeeperOptions,
  type ManagedCertificate,
  startCertificateKeeper,
  unsealed,
} from '../resources/certificates/keeper.ts'
import type { ChallengeType } from '../resources/certificates/order.ts'
import { invalidateOn } from '../store/writer/invalidation.ts'
import type { AppContext } from './context.ts'
import { readAuthorities } from './delivery.ts'
import { smtpAccess } from './smtp-access.ts'

interface CertificateContext extends Pick<AppContext, 'config' | 'clock' | 'log' | 'store'> {
  secrets: SecretKeys
}

/**
 * Opens the certificate of the listeners: from files, from an authority, or self-signed.
 * @throws ConfigError when the files cannot be used
 */
export async function openCertificates(context: CertificateContext): Promise<Certificates> {
  return withDailyTicketKeys(await openSource(context), context.clock)
}

/** @throws ConfigError when the files cannot be used */
async function openSource(context: CertificateContext): Promise<Certificates> {
  const { config, clock, log } = context
  const { certFile, keyFile } = config.smtp.tls
  if (certFile === null || keyFile === null) {
    const own = ownCertificate(config.dataDir, ownNames(config), clock.now())
    return config.acme.enabled ? givenCertificate(context, own) : own
  }
  const onError = (error: unknown) =>
    log.error(
      { event: 'certificate_not_usable', err: error },
      'The new TLS certificate cannot be used; the previous one stays in use',
    )
  try {
    return followCertificate({ certFile, keyFile, clock, onError })
  } catch (error) {
    throw new ConfigError(
      `smtp.tls.cert_file, smtp.tls.key_file: cannot be used (${(error as Error).message})`,
    )
  }
}

/** Certificate of the authority, which any process may have obtained; the self-signed one until then. */
async function givenCertificate(
  { config: { mailHost }, log, store, secrets }: CertificateContext,
  own: Certificates,
): Promise<Certificates> {
  const held = heldCertificate(own.current())
  const refresh = async () => {
    const row = await findCertificate(store.db, mailHost)
    if (row?.chain && row.key) held.use({ cert: row.chain, key: unsealed(secrets, row.key, mailHost) })
  }
  await refresh()
  invalidateOn(CERTIFICATE_CHANGED, store, refresh, error =>
    log.error(
      { event: 'certificate_not_read', err: error },
      'The new TLS certificate cannot be read; the previous one stays in use',
    ),
  )
  return held
}

/** A test installation without a public name is reached by its address. */
function ownNames(config: Pick<Config, 'mailHost' | 'regions' | 'smtp'>): string[] {
  const { host } = smtpAccess(config.mailHost, config.smtp)
  return [...mxNames(config), ...(isIPv4(host) ? [host] : [])]
}

/**
 * Host names of all MX records that lead to this installation, the provider host first. Senders that verify
 * the certificate of port 25 look for them.
 */
function mxNames({ mailHost, regions }: Pick<Config, 'mailHost' | 'regions'>): string[] {
  return [mailHost, ...Object.keys(regions).map(region => feedbackHost(region, mailHost))]
}

/**
 * @returns all names of the certificate, the provider host first. Other names in the zone are included only
 * while the zone is served here, since one name that cannot be proven fails the order.
 */
export function certificateNames(
  config: Pick<Config, 'mailHost' | 'regions' | 'acme' | 'dns' | 'smtp'>,
): string[] {
  const { mailHost, acme, smtp } = config
  const receives = servesZone(config) && smtp.inbound.listen !== null
  const hasPolicy = receives && smtp.inbound.mtaSts !== 'off'
  return [
    ...new Set([
      ...(receives ? mxNames(config) : [mailHost]),
      ...(hasPolicy ? [`mta-sts.${mailHost}`] : []),
      ...acme.names,
    ]),
  ]
}

/** Whether challenges for names in the provider zone can be answered by its records. */
function servesZone({ acme, dns }: Pick<Config, 'acme' | 'dns'>): boolean {
  return acme.challenge !== 'http-01' && dns.listen.length > 0
}

/** Orders the certificate of the listeners, if a certificate authority is configured. */
export function startCertificateOrders(context: AppContext): void {
  const { config, clock, stack, store } = context
  if (!config.acme.enabled) return
  const { keeper, onCertificate, requests } = keeperContext(context)
  const { note, stop } = startCertificateKeeper(keeper, {
    host: config.mailHost,
    names: certificateNames(config),
    typeFor: (name, failures) => challengeFor(config, name, failures),
    onCertificate,
  })
  store.on(CERTIFICATE_DUE, hosts => {
    if (hosts.includes(config.mailHost)) note(clock.now())
  })
  stack.defer(stop)
  stack.use(requests)
}

export interface KeeperContext {
  keeper: KeeperOptions
  /** Logs that a certificate was issued. */
  onCertificate: ManagedCertificate['onCertificate']
  /** Aborts requests in progress. */
  requests: AsyncDisposableStack
}

/** Creates the common parts of all certificate keepers. */
export function keeperContext({ config, clock, log, store, security }: AppContext): KeeperContext {
  const { acme, dns } = config
  const resolver = createResolver({ servers: dns.resolvers, clock })
  const authorities = readAuthorities(acme.caFile)
  const outbound = createOutbound({
    resolver,
    clock,
    allowPrivate: true,
    authorities,
  })
  const requests = new AsyncDisposableStack()
  requests.defer(resolver.close)
  requests.defer(outbound.close)
  const keeper = {
    db: store.db,
    run: store.run,
    secrets: security.secrets,
    outbound,
    clock,
    random: Math.random,
    owner: randomUUID(),
    isAlone: !store.isShared,
    directoryUrl: acme.directoryUrl,
    email: acme.email,
    onFailure: (alert: object, nextAt: number) =>
      log.warn(
        { event: 'certificate_order_failed', alert, retry_at: new Date(nextAt).toISOString() },
        'The certificate authority did not issue a certificate',
      ),
    onError: (error: unknown) =>
      log.error(
        { event: 'certificate_check_failed', err: error },
        'The TLS certificate could not be checked; retrying in 1 min',
      ),
  }
  return {
    keeper,
    onCertificate: got =>
      log.info({ event: 'certificate_issued', ...got }, 'A new TLS certificate was issued'),
    requests,
  }
}

/**
 * Names outside the provider zone can be validated by HTTP alone. Names within it alternate between both
 * types of challenge, unless the configuration chooses one.
 */
function challengeFor(config: Config, name: string, failures: number): ChallengeType {
  if (!isWithinDomain(name, config.mailHost) || !servesZone(config)) return 'http-01'
  return config.acme.challenge === 'auto' && failures % 2 === 1 ? 'http-01' : 'dns-01'
}
