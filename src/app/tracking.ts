/**
 * Tracking and unsubscribe links: their routes, hosts and settings, and the recording of opens and clicks.
 * Part of the composition root.
 */
import { isIP } from 'node:net'
import type { Config } from '../config/config.ts'
import { broadcastLinkRoutes } from '../interfaces/api/broadcasts/link-routes.ts'
import { logoRoutes } from '../interfaces/api/recipients/logo-routes.ts'
import type { Route } from '../interfaces/api/route/route.ts'
import { trackingRoutes } from '../interfaces/api/tracking/routes.ts'
import { unsubscribeRoutes } from '../interfaces/api/unsubscribe/routes.ts'
import { VisitBatcher } from '../pipeline/tracking/visit-batcher.ts'
import type { LinkPlace } from '../resources/domains/checks/tracking-host.ts'
import { LINK_HOST_CHANGED } from '../resources/domains/commands.ts'
import { listTrackingHosts } from '../resources/domains/known-tracking-hosts.ts'
import type { LinkTermsIds } from '../resources/emails/link-terms.ts'
import { invalidateOn } from '../store/writer/invalidation.ts'
import type { AppContext } from './context.ts'

interface TrackingLinks {
  routes: Route[]
  /**
   * Whether the host serves tracking links only.
   * @param host value of the `Host` header in lower case
   */
  isHost(host: string): boolean
  /** Settings of new links. */
  terms: LinkTermsIds
}

/** @param baseUrl URL of the API */
export async function startTracking(
  { config, clock, log, store, stack, serviceMode, security: { secrets } }: AppContext,
  baseUrl: string,
): Promise<TrackingLinks> {
  const common = linkHostOf(config)
  const own = await followTrackingHosts({ config, log, store })
  const visits = new VisitBatcher({
    run: store.run,
    clock,
    onError: error =>
      log.warn(
        { event: 'tracking_not_recorded', err: error },
        'Opens and clicks could not be recorded; retrying',
      ),
    onDropped: count =>
      log.warn(
        { event: 'tracking_events_dropped', count },
        'More opens and clicks arrived than can be recorded; some were dropped',
      ),
  })
  stack.defer(() => visits.close())
  return {
    routes: [
      ...trackingRoutes({
        secrets,
        visits,
        clock,
        isRecorded: () => serviceMode.current.mode !== 'read-only',
      }),
      ...unsubscribeRoutes({ secrets, store, clock }),
      ...logoRoutes(store),
      ...broadcastLinkRoutes(store),
    ],
    isHost: host => host === common || own.has(host),
    terms: await store.run('linkTerms', { baseUrl: config.tracking.baseUrl || baseUrl }),
  }
}

function linkHostOf({ tracking, http }: Config): string | undefined {
  const host = URL.parse(tracking.baseUrl)?.host
  return host === URL.parse(http.baseUrl)?.host ? undefined : host
}

/** @returns the target that CNAME records of tracking hosts need, and the port of their links */
export function trackingBaseOf({ tracking, http, mailHost }: Config): LinkPlace {
  const base = URL.parse(tracking.baseUrl || http.baseUrl)
  const isNamed = base && base.hostname !== 'localhost' && isIP(base.hostname.replace(/[[\]]/g, '')) === 0
  const isSecure = base?.protocol === 'https:'
  return {
    target: isNamed ? base.hostname : mailHost,
    port: isSecure && base.port !== '' ? Number(base.port) : null,
  }
}

/** Follows the tracking hosts that are known to lead to this service. */
async function followTrackingHosts({
  config,
  log,
  store,
}: Pick<AppContext, 'config' | 'log' | 'store'>): Promise<{ has(host: string): boolean }> {
  const place = trackingBaseOf(config)
  let hosts: ReadonlySet<string> = new Set()
  const refresh = async () => {
    const known = await listTrackingHosts(store.db, place)
    hosts = new Set(known.filter(({ isServed }) => isServed).map(({ baseUrl }) => new URL(baseUrl).host))
  }
  invalidateOn(LINK_HOST_CHANGED, store, refresh, error =>
    log.error(
      { event: 'link_hosts_not_read', err: error },
      'Tracking hosts could not be read from the database; the previous ones stay in use',
    ),
  )
  await refresh()
  return { has: host => hosts.has(host) }
}
