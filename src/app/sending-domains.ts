/** Sending domains: their routes in the API and their periodic checks. Part of the composition root. */

import type { Config } from '../config/config.ts'
import { domainAutoconfigureRoutes } from '../interfaces/api/domains/autoconfigure-routes.ts'
import { domainClaimRoutes } from '../interfaces/api/domains/claim-routes.ts'
import { domainKeyRoutes } from '../interfaces/api/domains/key-routes.ts'
import {
  createRegistration,
  type DomainRegistration,
  domainRoutes,
} from '../interfaces/api/domains/routes.ts'
import { DEFAULT_REGION } from '../interfaces/api/domains/settings.ts'
import type { Route } from '../interfaces/api/route/route.ts'
import type { Clock } from '../lib/clock.ts'
import { wireId } from '../lib/ids.ts'
import type { Outbound } from '../protocols/http-client/outbound.ts'
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
import { readAuthorities } from './delivery.ts'
import { rotateAfterMs } from './key-rotation.ts'
import { trackingBaseOf } from './tracking.ts'
import { startUserOutbound } from './user-outbound.ts'

export interface SendingDomains {
  routes: Route[]
  domains: Domains
  registration: DomainRegistration
}

/**
 * Builds the routes of domains, and starts their checks if this process sends mail.
 * @param baseUrl URL of the API
 */
export function startDomains(context: AppContext, baseUrl: string): SendingDomains {
  const { config, clock, store, stack } = context
  const { db, run } = store
  const { mailHost } = config
  const linkPlace = trackingBaseOf(config)
  /** Closed before checks in progress are awaited. */
  const asking = new AsyncDisposableStack()
  const inquiries = openInquiries(config, clock)
  asking.defer(inquiries.close)
  const visits = startUserOutbound(
    { config, clock, stack: asking },
    { freshDns: true, authorities: readAuthorities(config.delivery.caFile) },
  )
  const domains = openDomains(context, { inquiries, linkPlace, visits })
  if (config.roles.includes('all')) stack.defer(startDomainChecks(context, domains))
  stack.use(asking)
  const { cloudflareBaseUrl } = config.autoconfigure
  const allowInsecureLoopback = cloudflareBaseUrl.startsWith('http://')
  const outbound = startUserOutbound(context, { allowInsecureLoopback })
  const provider = createCloudflare({ outbound, clock, baseUrl: cloudflareBaseUrl })
  const autoconfigure = createAutoconfigure({ db, provider, inquiries, mailHost, linkPlace })
  const ownNames = { mailHost, simulatorDomain: config.simulator.domain }
  const { pendingMax } = config.domains
  const regions = Object.keys(config.regions)
  const registration = createRegistration({
    domains,
    mailHost,
    simulatorDomain: ownNames.simulatorDomain,
    linkPlace,
    baseUrl,
    pendingMax,
    regions,
  })
  const routes = [
    ...domainAutoconfigureRoutes({ domains, autoconfigure }),
    ...domainRoutes({ domains, registration }),
    ...domainClaimRoutes({
      claims: openClaims(context, { inquiries, domains }),
      ownNames,
      pendingMax,
      regions,
      now: () => clock.now(),
    }),
    ...domainKeyRoutes({ domains, db, run, clock, rotateAfterMs: rotateAfterMs(config) }),
  ]
  return { routes, domains, registration }
}

function openInquiries({ dns, delivery }: Config, clock: Clock): CheckSessions {
  const { authorityPort, verifyResolvers: servers } = dns
  const { allowPrivateAddresses } = delivery
  return createCheckSessions({ servers, clock, authorityPort, allowPrivateAddresses })
}

function openDomains(
  { config, clock, log, store, newId, security: { secrets, generateKey } }: AppContext,
  { inquiries, linkPlace, visits }: Pick<CheckerOptions, 'inquiries' | 'linkPlace'> & { visits: Outbound },
): Domains {
  const { db, run } = store
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
  { clock, log, newId, store: { db, run } }: AppContext,
  { inquiries, domains }: { inquiries: CheckSessions; domains: Domains },
): DomainClaims {
  return createDomainClaims({
    db,
    run,
    clock,
    newId,
    inquiries,
    domains,
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
function startDomainChecks({ clock, log, store }: AppContext, { verify }: Domains): () => Promise<void> {
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
