/**
 * Certificates of tracking hosts below customers' domains, if this service terminates TLS. Each host has a
 * separate certificate, so that a failing challenge delays no other host. Part of the composition root.
 */
import { createSecureContext, type SecureContext } from 'node:tls'
import { type ContextFor, STRICT_TLS } from '../lib/certificates.ts'
import { every } from '../lib/clock.ts'
import type { DueTimer } from '../lib/due-timer.ts'
import {
  CERTIFICATE_CHANGED,
  CERTIFICATE_DUE,
  listCertificates,
} from '../resources/certificates/certificate-rows.ts'
import { startCertificateKeeper, unsealed } from '../resources/certificates/keeper.ts'
import { LINK_HOST_CHANGED } from '../resources/domains/commands.ts'
import { type KnownTrackingHost, listTrackingHosts } from '../resources/domains/known-tracking-hosts.ts'
import { MISSED } from '../store/model/command.ts'
import { invalidateOn } from '../store/writer/invalidation.ts'
import { type KeeperContext, keeperContext } from './certificates.ts'
import type { AppContext } from './context.ts'
import { trackingBaseOf } from './tracking.ts'

/**
 * Limit of first orders at once. An authority accepts some hundred orders of an account in three hours, and
 * the installation's certificate must be among them.
 */
const ORDERS_AT_ONCE_MAX = 20
const ORDER_INTERVAL_MS = 60_000

/** Time after which every process has read a new certificate. */
const RECHECK_DELAY_MS = 2_000

/**
 * @returns a function that finds the certificate for the host name that a client requests; undefined when the
 * installation's certificate is to be used
 */
export async function openLinkCertificates({
  config,
  log,
  store,
  security,
}: AppContext): Promise<ContextFor> {
  let contexts: ReadonlyMap<string, SecureContext> = new Map()
  const refresh = async () => {
    const rows = await listCertificates(store.db)
    contexts = new Map(
      rows
        .filter(({ host }) => host !== config.mailHost)
        .map(({ host, chain, key }) => [
          host,
          createSecureContext({ ...STRICT_TLS, cert: chain, key: unsealed(security.secrets, key, host) }),
        ]),
    )
  }
  if (!config.acme.enabled) return () => undefined
  await refresh()
  invalidateOn(CERTIFICATE_CHANGED, store, refresh, error =>
    log.error(
      { event: 'link_certificates_not_read', err: error },
      'Certificates of tracking hosts cannot be read; the previous ones stay in use',
    ),
  )
  return name => contexts.get(name.toLowerCase())
}

/** Orders certificates for tracking hosts whose records lead to this service. */
export function startLinkCertificateOrders(context: AppContext): void {
  const { config, clock, log, store, stack } = context
  if (!config.acme.enabled || config.http.tlsListen === null) return
  const place = trackingBaseOf(config)
  const keeping = keeperContext(context)
  const keepers = new Map<string, DueTimer>()
  let isOver = false
  let mayBegin = ORDERS_AT_ONCE_MAX
  const follow = async () => {
    const known = (await listTrackingHosts(store.db, place)).filter(({ leadsHere }) => leadsHere)
    if (isOver) return
    for (const [host, { stop }] of keepers) {
      if (known.some(other => other.host === host)) continue
      keepers.delete(host)
      await stop()
    }
    const fresh = known.filter(({ host }) => !keepers.has(host)).slice(0, mayBegin)
    mayBegin -= fresh.length
    for (const tracking of fresh) keepers.set(tracking.host, keep(context, keeping, tracking))
  }
  let following = Promise.resolve()
  const followAgain = () => {
    following = following
      .then(follow)
      .catch(error =>
        log.error(
          { event: 'link_hosts_not_read', err: error },
          'Tracking hosts could not be read from the database; the previous ones stay in use',
        ),
      )
  }
  store.on(LINK_HOST_CHANGED, followAgain)
  store.on(MISSED, followAgain)
  store.on(CERTIFICATE_DUE, hosts => {
    for (const host of hosts) keepers.get(host as string)?.note(clock.now())
  })
  followAgain()
  const pace = every(clock, ORDER_INTERVAL_MS, () => {
    const wasSpent = mayBegin === 0
    mayBegin = Math.min(mayBegin + 1, ORDERS_AT_ONCE_MAX)
    if (wasSpent) followAgain()
  })
  stack.defer(async () => {
    await following
    await Promise.all([...keepers.values()].map(({ stop }) => stop()))
  })
  stack.use(keeping.requests)
  stack.defer(() => {
    isOver = true
    pace.cancel()
  })
}

/**
 * Tracking hosts lie in zones of customers, so challenges use HTTP. Once a host has a certificate, its domain
 * is checked again, after which links can use the host.
 */
function keep(
  { clock, store }: AppContext,
  { keeper, onCertificate }: KeeperContext,
  { host, domainId: id, isServed }: KnownTrackingHost,
): DueTimer {
  return startCertificateKeeper(keeper, {
    host,
    names: [host],
    typeFor: () => 'http-01',
    onCertificate(got) {
      onCertificate(got)
      if (!isServed)
        store.run('checkDomainAt', { id, at: clock.now() + RECHECK_DELAY_MS }).catch(keeper.onError)
    },
  })
}
