/** Sending domains: what is asked and told of them, and their checks. Part of the composition root. */
import { readAuthorities } from './delivery-settings.ts'
import { createResolver } from './dns/resolver.ts'
import { createAutoconfigure } from './domains/autoconfigure/autoconfigure.ts'
import { createCloudflare } from './domains/autoconfigure/cloudflare.ts'
import { createVisitHost } from './domains/checks/tracking.ts'
import { DOMAIN_CHECK } from './domains/commands.ts'
import { createDomains, type Domains } from './domains/domains.ts'
import { createInquiries, type Inquiries } from './domains/inquiries.ts'
import { startRechecks } from './domains/rechecks.ts'
import type { Route } from './http/route.ts'
import { domainAutoconfigureRoutes } from './http/routes/domain-autoconfigure.ts'
import { domainKeyRoutes } from './http/routes/domain-keys.ts'
import { domainRoutes } from './http/routes/domains.ts'
import { rotateAfterMs } from './key-rotation.ts'
import type { IdSource } from './lib/ids.ts'
import { linkPlaceOf } from './links.ts'
import { createOutbound, type Outbound } from './outbound/outbound.ts'
import type { Parts } from './parts.ts'

type Started = (() => unknown)[]

/** @param started gets what is to be closed, in the order of the starts */
export function domainParts(parts: Parts, newId: IdSource, started: Started): Route[] {
  const { config, clock, store } = parts
  const { db, run } = store
  const { mailHost } = config
  const linkPlace = linkPlaceOf(config)
  const inquiries = openInquiries(parts)
  const asking: Started = [inquiries.close]
  const domains = startDomains(parts, newId, inquiries, { started, asking })
  started.push(...asking)
  const { cloudflareBaseUrl: baseUrl } = config.autoconfigure
  const outbound = startOutbound(parts, started, baseUrl.startsWith('http://'))
  const provider = createCloudflare({ outbound, clock, baseUrl })
  const autoconfigure = createAutoconfigure({ db, provider, inquiries, mailHost, linkPlace })
  return [
    ...domainAutoconfigureRoutes({ domains, autoconfigure }),
    ...domainRoutes({ domains, mailHost, linkPlace, regions: Object.keys(config.regions) }),
    ...domainKeyRoutes({ domains, db, run, clock, rotateAfterMs: rotateAfterMs(config) }),
  ]
}

function openInquiries({ config, clock }: Parts): Inquiries {
  const { authorityPort, verifyResolvers: servers } = config.dns
  const { allowPrivateAddresses } = config.delivery
  return createInquiries({ servers, clock, authorityPort, allowPrivateAddresses })
}

/** They are also checked by themselves. @param asking gets what is to be closed before checks are waited for */
function startDomains(
  parts: Parts,
  newId: IdSource,
  inquiries: Inquiries,
  { started, asking }: { started: Started; asking: Started },
): Domains {
  const { config, clock, log, store, secrets, generateKey } = parts
  const { db, run } = store
  const visits = openVisits(parts, asking)
  const domains = createDomains({
    ...{ db, run, clock, newId, secrets, generateKey, inquiries },
    mailHost: config.mailHost,
    linkPlace: linkPlaceOf(config),
    visitHost: createVisitHost(visits, secrets),
    onStatus: ({ name, status }, former) =>
      log.info({ domain: name, status, former }, 'a domain has changed'),
  })
  if (config.roles.includes('all')) {
    const rechecks = startRechecks({
      ...{ run, clock },
      check: domains.verify,
      onError: error => log.error({ err: error }, 'a domain could not be checked'),
    })
    store.on(DOMAIN_CHECK, times => {
      for (const at of times as number[]) rechecks.note(at)
    })
    started.push(rechecks.stop)
  }
  return domains
}

/** For looks at hosts of links: by their addresses of now, since it was perhaps a moment ago that a customer has set them. */
function openVisits({ config, clock }: Parts, started: Started): Outbound {
  const { addresses4, addresses6, close } = createResolver({ servers: config.dns.resolvers, clock })
  const authorities = readAuthorities(config.delivery.caFile)
  const outbound = createOutbound({
    resolver: {
      addresses4: name => addresses4(name, { fresh: true }),
      addresses6: name => addresses6(name, { fresh: true }),
    },
    clock,
    allowLoopback: config.fetch.allowLoopback,
    ...(authorities && { authorities }),
  })
  started.push(close, outbound.close)
  return outbound
}

/** For calls of DNS providers. */
function startOutbound({ config, clock }: Parts, started: Started, allowInsecureLoopback: boolean): Outbound {
  const resolver = createResolver({ servers: config.dns.resolvers, clock })
  const { allowLoopback } = config.fetch
  const outbound = createOutbound({ resolver, clock, allowLoopback, allowInsecureLoopback })
  started.push(resolver.close, outbound.close)
  return outbound
}
