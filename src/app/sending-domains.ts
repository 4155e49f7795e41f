/** Sending domains: their routes in the API and their periodic checks. Part of the composition root. */

import { domainAutoconfigureRoutes } from '../interfaces/api/domains/autoconfigure-routes.ts'
import { domainClaimRoutes } from '../interfaces/api/domains/claim-routes.ts'
import { domainKeyRoutes } from '../interfaces/api/domains/key-routes.ts'
import { domainRoutes } from '../interfaces/api/domains/routes.ts'
import { DEFAULT_REGION } from '../interfaces/api/domains/settings.ts'
import type { Route } from '../interfaces/api/route/route.ts'
import { type IdSource, wireId } from '../lib/ids.ts'
import { createAutoconfigure } from '../resources/domains/autoconfigure/autoconfigure.ts'
import { createCloudflare } from '../resources/domains/autoconfigure/cloudflare.ts'
import { type CheckSessions, createCheckSessions } from '../resources/domains/check-session.ts'
import type { CheckerOptions } from '../resources/domains/checker.ts'
import { createVisitHost } from '../resources/domains/checks/tracking.ts'
import { createDomainClaims, type DomainClaims } from '../resources/domains/claims.ts'
import { DOMAIN_CHECK } from '../resources/domains/commands.ts'
import { createDomains, type Domains } from '../resources/domains/domains.ts'
import { startRechecks } from '../resources/domains/rechecks.ts'
import type { AppContext } from './context.ts'
import { readAuthorities } from './delivery-settings.ts'
import { rotateAfterMs } from './key-rotation.ts'
import { trackingBaseOf } from './tracking.ts'
import { startUserOutbound } from './user-outbound.ts'

type Started = (() => unknown)[]

/** @param started receives functions that close the parts, in the order of their starts */
export function domainParts(parts: AppContext, newId: IdSource, started: Started): Route[] {
  const { config, clock, store } = parts
  const { db, run } = store
  const { mailHost } = config
  const linkPlace = trackingBaseOf(config)
  /** Parts that are closed before checks in progress are awaited. */
  const asking: Started = []
  const inquiries = openInquiries(parts, asking)
  const domains = openDomains(parts, newId, { inquiries, linkPlace }, asking)
  if (config.roles.includes('all')) started.push(recheck(parts, domains))
  started.push(...asking)
  const { cloudflareBaseUrl: baseUrl } = config.autoconfigure
  const allowInsecureLoopback = baseUrl.startsWith('http://')
  const outbound = startUserOutbound(parts, started, { allowInsecureLoopback })
  const provider = createCloudflare({ outbound, clock, baseUrl })
  const autoconfigure = createAutoconfigure({ db, provider, inquiries, mailHost, linkPlace })
  const ownNames = { mailHost, simulatorDomain: config.simulator.domain }
  const { pendingMax } = config.domains
  const regions = Object.keys(config.regions)
  return [
    ...domainAutoconfigureRoutes({ domains, autoconfigure }),
    ...domainRoutes({
      domains,
      ...ownNames,
      linkPlace,
      pendingMax,
      regions,
    }),
    ...domainClaimRoutes({
      claims: openClaims(parts, newId, { inquiries, domains }),
      ownNames,
      pendingMax,
      regions,
      now: () => clock.now(),
    }),
    ...domainKeyRoutes({ domains, db, run, clock, rotateAfterMs: rotateAfterMs(config) }),
  ]
}

function openInquiries({ config, clock }: AppContext, asking: Started): CheckSessions {
  const { authorityPort, verifyResolvers: servers } = config.dns
  const { allowPrivateAddresses } = config.delivery
  const inquiries = createCheckSessions({ servers, clock, authorityPort, allowPrivateAddresses })
  asking.push(inquiries.close)
  return inquiries
}

function openDomains(
  parts: AppContext,
  newId: IdSource,
  { inquiries, linkPlace }: Pick<CheckerOptions, 'inquiries' | 'linkPlace'>,
  asking: Started,
): Domains {
  const { config, clock, log, store, secrets, generateKey } = parts
  const { db, run } = store
  const authorities = readAuthorities(config.delivery.caFile)
  const visits = startUserOutbound(parts, asking, { freshDns: true, ...(authorities && { authorities }) })
  return createDomains({
    db,
    run,
    clock,
    newId,
    secrets,
    generateKey,
    inquiries,
    linkPlace,
    mailHost: config.mailHost,
    pendingMax: config.domains.pendingMax,
    visitHost: createVisitHost(visits, secrets),
    onStatus: ({ name, status }, former) =>
      log.info(
        { event: 'domain_status_changed', domain: name, from: former, to: status },
        `Domain ${name} changed from ${former} to ${status}`,
      ),
  })
}

function openClaims(
  { clock, log, store: { db, run } }: AppContext,
  newId: IdSource,
  { inquiries, domains }: { inquiries: CheckSessions; domains: Domains },
): DomainClaims {
  return createDomainClaims({
    ...{ db, run, clock, newId, inquiries, domains },
    defaultRegion: DEFAULT_REGION,
    onMoved: ({ name, accountId }) =>
      log.info(
        { event: 'domain_claimed', domain: name, account: wireId('acc', accountId) },
        `The name ${name} was claimed by another account`,
      ),
  })
}

/**
 * Starts the periodic checks of domains.
 * @returns a function that stops them
 */
function recheck({ clock, log, store }: AppContext, { verify }: Domains): () => Promise<void> {
  const rechecks = startRechecks({
    run: store.run,
    clock,
    check: verify,
    onError: error =>
      log.error(
        { event: 'domain_check_failed', err: error },
        'The DNS records of a domain could not be checked',
      ),
  })
  store.on(DOMAIN_CHECK, times => {
    for (const at of times as number[]) rechecks.note(at)
  })
  return rechecks.stop
}
